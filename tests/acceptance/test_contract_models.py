"""Contract models from the outside: linted, deployed with their policies, looked at, and told what happened."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from perdure import Call
from perdure.app.configuration.server import ServerConfig
from perdure.surfaces.http.application import make_app
from perdure.testing.sandbox import Sandbox
from tests.acceptance.commands import Shell
from tests.contract.contract_world import MODELS, begun, carrying, settled
from tests.surfaces.http.in_process_server import SECRET, Served

VERBS = """
- name: claim.assess
  description: Assess a claim
  execution: {kind: sync, handler: "desk.assess"}
- name: claim.pay
  description: Pay a claim
  execution: {kind: sync, handler: "desk.pay"}
- name: claim.decline
  description: Decline a claim
  execution: {kind: sync, handler: "desk.decline"}
"""

ORDER = ("stock.reserve", "stock.pack", "customer.notify")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    (made.folder / "verbs").mkdir()
    (made.folder / "verbs" / "claim.yaml").write_text(VERBS)
    (made.folder / "contract").mkdir()
    for name in ("gate.bpmn", "policies.yaml"):
        shutil.copy(MODELS / name, made.folder / "contract" / name)
    return made


@pytest.mark.req("B2")
@pytest.mark.req("P6")
def test_lint_tells_what_breaks_the_contract_with_its_code_place_and_fix(shell: Shell) -> None:
    assert "nothing to say" in shell.run("lint", "contract", "--profile", "contract").out
    file = shell.folder / "contract" / "gate.bpmn"
    file.write_text(file.read_text().replace('policyRef="patient"', 'policyRef="patent" implementation="x"', 1))
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "patent" in text)
    shown = " ".join(shell.run("lint", "contract", "--profile", "contract", code=1).out.split())
    assert f"gate.bpmn:{line}:9 AME013: 'pay': the catalogue has no policy 'patent'." in shown
    assert "Did you mean 'patient'?" in shown
    assert "AME014" in shown
    assert "AME092" in shell.run("lint", "contract", "--profile", "contract", "--strict", code=1).out


@pytest.mark.req("B4")
@pytest.mark.req("P6")
def test_policies_are_resolved_when_a_model_is_deployed_and_shown_with_its_contract(shell: Shell) -> None:
    common = ("--store", "sqlite:///c.db", "--definitions", "verbs")
    deploy = ("deploy", "contract/gate.bpmn", "--profile", "contract")
    assert shell.run(*common, *deploy).out
    shown = shell.json(*common, "processes", "contract", "approve_claim")
    work = {each["element"]: each for each in shown["work"]}
    assert (work["pay"]["policy"], work["pay"]["attempts"], work["assess"]["attempts"]) == ("patient", 10, 3)
    assert (work["pay"]["start_to_close_seconds"], work["pay"]["schedule_to_close_seconds"]) == (300, 86_400)
    assert shown["gates"][0]["update"] == "DecideClaim"
    assert shown["ways"][0]["condition"] == '=state.approval.decision = "approved"'
    assert "DecideClaim" in shell.run(*common, "processes", "contract", "approve_claim").out
    policies = shell.folder / "contract" / "policies.yaml"
    policies.write_text(policies.read_text().replace("  patient:", "  other:"))
    assert "AME013" in shell.run("lint", "contract", "--profile", "contract", code=1).out
    assert "AME013" in shell.run(*common, *deploy, code=2).error


@pytest.mark.req("B8")
@pytest.mark.both_stores
async def test_a_folder_of_models_brings_contract_models_as_contracts(store_url: str, tmp_path: Path) -> None:
    (tmp_path / "verbs").mkdir()
    written = "".join(f"- {{name: {each}, description: Do it, execution: {{kind: sync}}}}\n" for each in ORDER)
    (tmp_path / "verbs" / "order.yaml").write_text(written)
    (tmp_path / "models").mkdir()
    for name in ("linear.bpmn", "policies.yaml"):
        shutil.copy(MODELS / name, tmp_path / "models" / name)
    asked: list[dict[str, Any]] = []

    def reserve(call: Call) -> dict[str, Any]:
        asked.append(dict(call.args))
        return {"reservation": "r-1", "other": 5}

    handlers = {"stock.reserve": reserve, "stock.pack": lambda call: {}, "customer.notify": lambda call: {}}
    async with Sandbox.open(store_url, definitions=str(tmp_path / "verbs"), handlers=handlers) as sandbox:
        told = await sandbox.processes.contract("ship_order")
        assert (told.profile, [each.attempts for each in told.work]) == ("contract", [3, 3, 2])
        done = await begun(sandbox, "ship_order", order={"id": "o-1", "quantity": 2})
    assert asked == [{"order": "o-1", "quantity": 2}]
    assert done.data["reservation"] == {"id": "r-1"}, "mappings count, and nothing else reaches the data"


@pytest.mark.req("B8")
@pytest.mark.req("P6")
def test_commands_take_the_profile_from_the_model(shell: Shell) -> None:
    common = ("--store", "sqlite:///c.db", "--definitions", "verbs")
    assert "nothing to say" in shell.run("lint", "contract").out
    assert "is proved" in shell.run("prove", "contract/gate.bpmn").out
    assert "is for Camunda" in shell.run("export", "contract/gate.bpmn", "--target", "camunda").out
    shell.run(*common, "deploy", "contract")
    shown = shell.json(*common, "processes", "contract", "approve_claim")
    assert (shown["profile"], {each["element"]: each["attempts"] for each in shown["work"]}["pay"]) == ("contract", 10)
    file = shell.folder / "contract" / "gate.bpmn"
    file.write_text(file.read_text().replace('policyRef="patient"', 'policyRef="patent"', 1))
    assert "AME013" in shell.run("lint", "contract", code=1).out
    assert "AME013" in shell.run(*common, "deploy", "contract", code=2).error


@pytest.mark.req("B8")
async def test_python_and_http_take_the_profile_from_the_model(sqlite_url: str, tmp_path: Path) -> None:
    written = "".join(f"- {{name: {each}, description: Do it, execution: {{kind: sync}}}}\n" for each in ORDER)
    (tmp_path / "order.yaml").write_text(written)
    handlers = dict.fromkeys(ORDER, lambda call: {})
    async with Sandbox.open(sqlite_url, definitions=tmp_path / "order.yaml", handlers=handlers) as sandbox:
        await sandbox.processes.deploy(MODELS / "linear.bpmn")
        assert [each.attempts for each in (await sandbox.processes.contract("ship_order")).work] == [3, 3, 2]
        settings = ServerConfig(authentication=())
        async with Served(sandbox, make_app(sandbox, settings, SECRET), settings).client() as client:
            xml = (MODELS / "linear.bpmn").read_text().replace('id="ship_order"', 'id="send_order"', 1)
            xml = xml.replace('bpmnElement="ship_order"', 'bpmnElement="send_order"')
            answer = await client.post("/api/processes", json={"xml": xml})
            assert answer.status_code == 201, answer.text
        assert (await sandbox.processes.contract("send_order")).profile == "contract"


@pytest.mark.req("B9")
async def test_an_envelope_ends_the_wait_of_its_key_once(sqlite_url: str) -> None:
    results = {"render.request.start": {"job": "j-1"}, "film.publish": {"url": "u"}}
    async with carrying(sqlite_url, results, "request-and-wait.bpmn") as sandbox:
        settings = ServerConfig(authentication=())
        server = Served(sandbox, make_app(sandbox, settings, SECRET), settings)
        waiting = await begun(sandbox, "render_film", film="f")
        async with server.client() as client:

            async def post(**changes: Any) -> tuple[int, str]:
                envelope = {
                    "message_name": "RenderingCompleted", "correlation_key": "j-1", "message_id": "m-1",
                    "payload": {"frames": 1, "location": "l"}, "subject_id": "f", **changes,
                }  # fmt: skip
                answer = await client.post("/api/messages/envelope", json=envelope)
                return answer.status_code, answer.json().get("outcome", answer.json().get("code"))

            assert (await post(message_id=""))[0] == 422
            assert (await post(tenant_id="another"))[0] == 403
            assert await post(correlation_key="j-2", message_id="m-0") == (202, "buffered")
            assert await post() == (200, "correlated")
            assert await post() == (200, "duplicate")
        done = await settled(sandbox, waiting.id)
        assert (done.state, done.data["frames"]) == ("completed", 1)
        shown = await sandbox.processes.contract("render_film")
        assert [(each.message, each.correlation_key) for each in shown.waits] == [
            ("RenderingCompleted", "${state.job.id}")
        ]
        early = {"message_name": "RenderingCompleted", "correlation_key": "j-3", "message_id": "m-3"}
        sent = await sandbox.receive(early)
        assert sent.outcome == "buffered"
