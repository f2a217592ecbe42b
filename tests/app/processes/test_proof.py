"""Proof before deployment and on the command line: what blocks, what warns, what is written."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from perdure.app.processes.contracts import contract_of
from perdure.app.processes.proof import UNDECIDED, prove_for_deployment, prove_model
from perdure.bpmn import model as m
from perdure.bpmn.machine.deployed_process import Profile
from perdure.bpmn.proof import Bounds
from perdure.bpmn.xml import read_model, write_model
from perdure.surfaces.cli.application import run
from perdure.testing.scenarios import load_scenario, run_scenario
from perdure.verbs import load_catalogue
from tests.bpmn.proof.cases import CASES
from tests.bpmn.proof.large import interleaved
from tests.bpmn.proof.models import boundary, definitions, scope

WRONG = CASES["a parallel join after a choice"].wrong
RIGHT = CASES["a parallel join after a choice"].right
VERBS = """
- name: demo.carry
  execution:
    kind: durable
    process: p
    sub_verbs: [verb.a, verb.b, verb.c]
    flags:
      orch_x: {type: boolean, initial: false}
- name: verb.a
  execution: {kind: sync, handler: "demo::a"}
  contract: {writes_flags: WRITES, may_raise: RAISES}
- name: verb.b
  execution: {kind: sync, handler: "demo::b"}
  contract: {writes_flags: [], may_raise: []}
- name: verb.c
  execution: {kind: sync, handler: "demo::c"}
  contract: {writes_flags: [], may_raise: []}
"""


def project(folder: Path, model: m.Definitions, writes: str = "[orch_x]", raises: str = "[]") -> Path:
    """A model with its verbs beside it."""
    (folder / "verbs.yaml").write_text(VERBS.replace("WRITES", writes).replace("RAISES", raises), encoding="utf-8")
    file = folder / "p.bpmn"
    file.write_text(write_model(m.Model(definitions=model)), encoding="utf-8")
    return file


@pytest.mark.parametrize(("profile", "severity"), [("hollow", "error"), ("contract", "error"), ("open", "warning")])
def test_a_refuted_process_is_refused_except_in_the_open_profile(profile: Profile, severity: str) -> None:
    found = prove_for_deployment(m.Model(definitions=WRONG), "p", None, profile)
    assert [(problem.code, problem.severity) for problem in found] == [("SND001", severity)]
    assert "It happens so:" in found[0].hint


@pytest.mark.parametrize(("condition", "severity"), [("orch_n > 5 and orch_n < 3", "error"), ("default", "warning")])
def test_without_a_contract_a_condition_that_never_holds_refuses_and_a_default_too_many_warns(
    condition: str, severity: str
) -> None:
    rest = ("xor1 -> c [orch_x = true]", "xor1 -> d [orch_x = false]") if condition == "default" else (
        "xor1 -> c [default]",)  # fmt: skip
    ends = [f"{line.split()[2]} -> end" for line in rest]
    model = m.Model(definitions=definitions("start -> a -> xor1", f"xor1 -> b [{condition}]", *rest, "b -> end", *ends))
    found = prove_for_deployment(model, "p", None, "hollow")
    assert [(problem.code, problem.field, problem.severity) for problem in found] == [("SND003", "b", severity)]


def test_without_a_contract_a_way_that_an_event_cuts_off_warns() -> None:
    thrown = m.Event(id="thrown", position="throw", triggers=(m.EscalationTrigger("e"),))
    inner = m.SubProcess(id="sub", body=scope("start2 -> thrown -> b -> end2", nodes=(thrown,)))
    caught = boundary("caught", "sub", m.EscalationTrigger("e"))
    drawn = definitions("start -> sub -> end", "caught -> end", nodes=(inner, caught),
                        escalations=(m.Escalation(id="e", code="E"),))  # fmt: skip
    found = prove_for_deployment(m.Model(definitions=drawn), "p", None, "hollow")
    assert {(problem.code, problem.severity) for problem in found} == {("SND003", "warning")}


def test_nothing_is_held_against_a_proved_process() -> None:
    assert prove_for_deployment(m.Model(definitions=RIGHT), "p", None, "hollow") == []


def test_an_undecided_process_is_deployed_with_a_warning() -> None:
    found = prove_for_deployment(m.Model(definitions=interleaved(4)), "p", None, "hollow", Bounds(states=5))
    assert [(problem.code, problem.severity) for problem in found] == [(UNDECIDED, "warning")]
    assert "states" in found[0].reason


@pytest.mark.parametrize(
    ("writes", "raises", "codes"),
    [("[orch_x]", "[]", []), ("[]", "[]", ["SND003"]), ("[orch_x]", "[NO_STOCK]", ["SND007"])],
)
def test_what_verbs_declare_decides(writes: str, raises: str, codes: list[str], tmp_path: Path) -> None:
    file = project(tmp_path, RIGHT, writes, raises)
    contract = contract_of(load_catalogue([tmp_path / "verbs.yaml"]), "p")
    verdict = prove_model(read_model(file.read_bytes(), str(file)), "p", contract)
    assert [finding.code for finding in verdict.findings] == codes


def test_the_command_shows_how_it_goes_wrong(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = project(tmp_path, WRONG)
    (tmp_path / "out").mkdir()
    shown, drawn = tmp_path / "out" / "shown.yaml", tmp_path / "out" / "shown.svg"
    code = run(["prove", str(file), "--json", "--scenario", str(shown), "--svg", str(drawn)])
    told = json.loads(capfd.readouterr().out)
    assert code == 1
    assert (told["verdict"], [finding["code"] for finding in told["findings"]]) == ("refuted", ["SND001"])
    assert told["processes"][0]["verb"] == "demo.carry"
    assert told["findings"][0]["steps"][0]["sentence"]
    assert drawn.read_text(encoding="utf-8").startswith("<svg")
    outcome = asyncio.run(run_scenario(load_scenario(shown)))
    assert outcome.passed, outcome.failures


def test_the_command_says_that_a_process_is_proved(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["prove", str(project(tmp_path, RIGHT))])
    assert ended.value.code == 0
    assert "p is proved" in capfd.readouterr().out


def test_the_command_takes_other_bounds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.bpmn"
    file.write_text(write_model(m.Model(definitions=interleaved(4))), encoding="utf-8")
    for option, value, bound in (("--states", "5", "states"), ("--seconds", "60", "")):
        run(["prove", str(file), "--json", option, value])
        assert json.loads(capfd.readouterr().out)["bound"] == bound
    hint = prove_for_deployment(m.Model(definitions=interleaved(4)), "p", None, "hollow", Bounds(states=5))[0].hint
    assert "--states" in hint


def test_a_process_that_is_not_there_is_not_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["prove", str(project(tmp_path, RIGHT)), "--process", "q", "--json"]) == 3
    assert json.loads(capfd.readouterr().err)["error"]["hint"] == "Executable here: p."
