"""`perdure mcp` as a client starts it: a process of its own, spoken to over its stdin and stdout, on both stores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.app import Perdure
from tests.acceptance.commands import PERDURE
from tests.surfaces.mcp.protocol_agent import Agent, Refused, agent_of, make_office, verbs

pytestmark = [pytest.mark.req("P5")]
HIDDEN = """
import sys
sys.modules["mcp"] = None
sys.argv = ["perdure", "mcp"]
from perdure.surfaces.cli import main
main()
"""
PROGRAM = '(desk.find :name "Bo" :as @client)\n(desk.letter :client @client.id :as @letter)'


@pytest.mark.req("V1")
async def test_an_agent_finds_plans_runs_extends_watches_and_answers(store_url: str, tmp_path: Path) -> None:
    async with agent_of(make_office(tmp_path), store_url) as agent:
        await _whole_life(agent)
    assert "printed while working" in (tmp_path / "stderr.txt").read_text(encoding="utf-8")


@pytest.mark.deep
async def test_clients_that_begin_with_a_handshake_are_served_as_well(sqlite_url: str, tmp_path: Path) -> None:
    async with agent_of(make_office(tmp_path), sqlite_url, mode="legacy") as agent:
        assert agent.client.instructions
        await _whole_life(agent)


async def _whole_life(agent: Agent) -> None:
    found = await agent("list_verbs", words="look up a customer")
    assert found["items"][0]["name"] == "desk.find"
    assert (await agent("describe_verb", verb="desk.letter"))["is_durable"]
    draft = await agent("draft_runbook", program=PROGRAM, case="C-1")
    plan = await agent("plan_runbook", draft=draft["draft"])
    assert plan["plan_hash"] == draft["plan_hash"]
    run = await agent("run_runbook", draft=draft["draft"])
    assert (run["outcome"], run["id"]) == ("waiting", draft["draft"])
    added = await agent("extend_runbook", id=run["id"], calls=[{"verb": "desk.find", "args": {"name": "Ana"}}])
    assert added["runbook"]["step_count"] == 3
    [wait] = (await agent("pending_work"))["waits"]
    await agent("complete_wait", key=wait["key"], verb=wait["verb"], result={"accepted": True})
    seen = added["runbook"]["sequence"]
    told = await agent("runbook_status", id=run["id"], seen=seen, wait_seconds=50, detail="detailed")
    assert (told["state"], [step["state"] for step in told["steps"]]) == ("completed", ["completed"] * 3)
    events = await agent("runbook_events", id=run["id"], limit=100)
    assert events["items"][0]["entry"] == "DraftOpened"
    assert events["items"][0]["principal"] == "agent:ana"
    assert (await agent("workflow_status", id=run["id"]))["kind"] == "runbook"


async def test_what_is_grave_does_not_run(store_url: str, tmp_path: Path) -> None:
    folder = make_office(tmp_path)
    async with agent_of(folder, store_url) as agent:
        told = await agent("call_verb", verb="desk.pay", args={"amount": 7})
        assert told["outcome"] == "needs_confirmation"
        found = told["confirmation"]
        again = await agent("run_runbook", draft=found["draft"], confirm=found["plan_hash"])
        assert again["outcome"] == "needs_confirmation"
    assert not (folder / "paid").exists()
    async with agent_of(folder, store_url, "--kind", "person", "--as", "ana") as person:
        await person("run_runbook", draft=found["draft"], confirm=found["plan_hash"])
    assert (folder / "paid").read_text() == "7"


async def test_a_viewer_sees_only_reading_tools(sqlite_url: str, tmp_path: Path) -> None:
    async with agent_of(make_office(tmp_path), sqlite_url, "--role", "viewer") as agent:
        assert {"list_verbs", "runbook_status"} <= await agent.tools()
        assert not {"call_verb", "run_runbook", "complete_task", "plan_runbook"} & await agent.tools()
        with pytest.raises(Refused) as refused:
            await agent("call_verb", verb="vault.open")
        assert refused.value.code == "command.forbidden"


async def test_an_agent_may_be_held_to_some_verbs(sqlite_url: str, tmp_path: Path) -> None:
    async with agent_of(make_office(tmp_path), sqlite_url, "--verbs", "desk.*") as agent:
        assert (await agent("call_verb", verb="desk.find", args={"name": "A"}))["outcome"] == "completed"
        with pytest.raises(Refused, match=r"vault\.open"):
            await agent("call_verb", verb="vault.open")


async def test_a_server_that_is_killed_loses_nothing(store_url: str, tmp_path: Path) -> None:
    folder = make_office(tmp_path)
    try:
        async with agent_of(folder, store_url) as agent:
            run = await agent("run_runbook", program=PROGRAM, idempotency_key="once")
            assert run["outcome"] == "waiting"
            os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
    except* Exception:
        pass
    async with agent_of(folder, store_url) as agent:
        again = await agent("run_runbook", program=PROGRAM, idempotency_key="once")
        assert again["id"] == run["id"]
        assert again["outcome"] == "waiting"
        await agent("complete_wait", key="id of Bo/letter", result={"accepted": True})
        told = await agent("runbook_status", id=run["id"], seen=1, wait_seconds=50)
        assert told["state"] == "completed"
    async with Perdure.open(store_url, definitions=verbs(), role="reader") as perdure:
        assert [each.id for each in await perdure.runbooks.list()] == [run["id"]]


def test_stdout_holds_the_protocol_alone(sqlite_url: str, tmp_path: Path) -> None:
    make_office(tmp_path)
    done = subprocess.run(
        [PERDURE, "mcp", "--store", sqlite_url], cwd=tmp_path, input="no json\n", capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert "printed while loading" in done.stderr
    assert all(line.startswith('{"jsonrpc"') for line in done.stdout.splitlines())


def test_a_project_that_does_not_load_is_told_on_stderr(tmp_path: Path) -> None:
    (tmp_path / "perdure.yaml").write_text("definitons: []\n", encoding="utf-8")
    done = subprocess.run(
        [PERDURE, "mcp"], cwd=tmp_path, input="", capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "definitions" in done.stderr


@pytest.mark.parametrize("words", [("--role", "king"), ("--verbs", "k*c")])
def test_a_wrong_option_is_told(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [PERDURE, "mcp", *words], cwd=tmp_path, input="", capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN], cwd=tmp_path, input="", capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'perdure[mcp]'" in done.stderr
