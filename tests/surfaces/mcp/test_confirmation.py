"""Nothing grave starts by an agent, whatever way it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from perdure.access.principal import Kind, Principal
from perdure.surfaces.mcp.server import Protocol
from tests.surfaces.mcp.protocol_agent import Agent, Refused
from tests.surfaces.mcp.tool_office import office, principal
from tests.work.agents.agent_verbs import opened
from tests.work.agents.test_runbooks import deciding, settled, started

pytestmark = [pytest.mark.req("P5")]


GRAVE: list[tuple[str, dict[str, Any]]] = [
    ("call_verb", {"verb": "desk.pay", "args": {"amount": 5}}),
    ("call_verb", {"verb": "desk.close"}),
    ("run_runbook", {"program": "(desk.pay :amount 5)"}),
    ("run_runbook", {"calls": [{"verb": "desk.find", "args": {"name": "A"}}, {"verb": "desk.close"}]}),
    (
        "run_runbook",
        {"calls": [{"verb": "desk.find", "args": {"name": "A"}, "on_failure": "decide", "alternative": "desk.judge"}]},
    ),
]


@pytest.mark.parametrize(("tool", "asked"), GRAVE)
@pytest.mark.parametrize("kind", ["agent", "service"])
async def test_what_is_grave_never_starts_by_an_agent(
    tmp_path: Path, tool: str, asked: dict[str, Any], kind: Kind
) -> None:
    async with office(tmp_path) as place, place.agent(principal(kind=kind)) as agent:
        told = await agent(tool, **asked)
        assert told["outcome"] == "needs_confirmation"
        confirmation = told["confirmation"]
        assert confirmation["sentences"]
        again = await agent(
            tool, **asked, confirm=confirmation["plan_hash"], phrase=confirmation.get("phrase", "")
        )  # fmt: skip
        assert again["outcome"] == "needs_confirmation"
        draft = confirmation["draft"]
        by_draft = await agent("run_runbook", draft=draft, confirm=confirmation["plan_hash"])
        assert by_draft["outcome"] == "needs_confirmation"
        assert by_draft["confirmation"]["plan_hash"] == confirmation["plan_hash"]
        assert (await agent("runbook_status", id=draft))["state"] == "draft"
        assert place.done == []


async def test_a_person_starts_what_an_agent_drafted_by_its_hash(tmp_path: Path) -> None:
    async with office(tmp_path) as place:
        async with place.agent() as agent:
            asked = await agent("call_verb", verb="desk.close")
        found = asked["confirmation"]
        async with place.agent(principal("ana", "person")) as person:
            with pytest.raises(Refused) as wrong:
                await person("run_runbook", draft=found["draft"], confirm="sha256:00", phrase=found["phrase"])
            assert wrong.value.code == "confirmation.required"
            with pytest.raises(Refused):
                await person("run_runbook", draft=found["draft"], confirm=found["plan_hash"], phrase="yes")
            assert (await person("run_runbook", draft=found["draft"]))["outcome"] == "needs_confirmation"
            assert place.done == []
            run = await person(
                "run_runbook", draft=found["draft"], confirm=found["plan_hash"], phrase=found["phrase"]
            )  # fmt: skip
        assert run["outcome"] == "completed"
        assert place.done == ["close"]


@pytest.mark.parametrize(
    ("tool", "asked"), [("call_verb", {"verb": "desk.close"}), ("run_runbook", {"program": "(desk.close)"})]
)
async def test_under_one_key_there_is_one_draft_and_then_its_runbook(
    tmp_path: Path, tool: str, asked: dict[str, Any]
) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        first, second = [await agent(tool, **asked, idempotency_key="fjord") for _ in range(2)]
        found = first["confirmation"]
        assert second["confirmation"] == found
        assert (await agent(tool, **asked, idempotency_key="other"))["confirmation"]["draft"] != found["draft"]
        async with place.agent(principal("ana", "person")) as person:
            await person("run_runbook", draft=found["draft"], confirm=found["plan_hash"], phrase=found["phrase"])
        again = await agent(tool, **asked, idempotency_key="fjord")
        assert again["outcome"] == "completed"
        assert place.done == ["close"]


async def test_a_person_confirms_a_call_by_the_hash_they_were_told(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal("ana", "person")) as person:
        asked: dict[str, Any] = {"verb": "desk.pay", "args": {"amount": 5}}
        told = await person("call_verb", **asked)
        hash = told["confirmation"]["plan_hash"]
        with pytest.raises(Refused):
            await person("call_verb", verb="desk.pay", args={"amount": 6}, confirm=hash)
        assert place.done == []
        assert (await person("call_verb", **asked, confirm=hash))["outcome"] == "completed"
        assert place.done == ["pay"]


async def test_grave_steps_are_not_added_by_an_agent(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        run = await agent("run_runbook", program='(desk.letter :client "A")')
        told = await agent("extend_runbook", id=run["id"], program="(desk.pay :amount 1)")
        assert told["outcome"] == "needs_confirmation"
        again = await agent(
            "extend_runbook", id=run["id"], program="(desk.pay :amount 1)", confirm=told["confirmation"]["plan_hash"]
        )  # fmt: skip
        assert again["outcome"] == "needs_confirmation"
        assert (await agent("runbook_status", id=run["id"]))["step_count"] == 1
        await agent("complete_wait", key="A/letter", result={"accepted": True})
        assert place.done == ["letter"]


async def test_a_person_adds_grave_steps_by_the_hash_of_the_longer_plan(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal("ana", "person")) as person:
        run = await person("run_runbook", program='(desk.letter :client "A")')
        asked = {"id": run["id"], "program": "(desk.pay :amount 1)"}
        told = await person("extend_runbook", **asked)
        done = await person("extend_runbook", **asked, confirm=told["confirmation"]["plan_hash"])
        assert done["runbook"]["step_count"] == 2


GRAVE_ADDED: list[Any] = [
    [{"verb": "desk.pay", "args": {"amount": 1}}],
    [{"verb": "pay", "args": {"amount": 1}}],
    [{"verb": "desk.find", "args": {"name": "A"}, "on_failure": "decide", "alternative": "desk.judge"}],
    "(desk.pay :amount 1)",
]


@pytest.mark.parametrize("added", GRAVE_ADDED)
async def test_an_agent_that_decides_adds_nothing_grave(tmp_path: Path, added: Any) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        run = await agent("run_runbook", program="(desk.weigh :as @w)")
        for named in ({}, {"verb": "desk.weigh"}):
            with pytest.raises(Refused) as refused:
                await agent("complete_wait", key=f"{run['id']}:1", result={"add": added}, **named)
            assert refused.value.code in ("command.blocked", "command.not_found")
        early = await agent("complete_wait", key="A/letter", result={"accepted": True})
        assert early["outcome"] == "dead_letter"
        assert (await agent("runbook_status", id=run["id"]))["step_count"] == 1
        added_well = [{"verb": "desk.find", "args": {"name": "A"}, "name": "found"}]
        done = await agent("complete_wait", key=f"{run['id']}:1", result={"add": added_well})
        assert done["outcome"] == "applied"
        told = await agent("runbook_status", id=run["id"])
        assert told["step_count"] == 2
        assert "pay" not in place.done


async def test_who_decides_adds_only_verbs_their_key_reaches(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal(verbs=("desk.*",))) as agent:
        run = await agent("run_runbook", program="(desk.weigh :as @w)")
        with pytest.raises(Refused) as refused:
            await agent(
                "complete_wait", key=f"{run['id']}:1", verb="desk.weigh", result={"add": [{"verb": "vault.open"}]}
            )  # fmt: skip
        assert refused.value.code == "command.forbidden"
        assert place.done == []


async def test_what_an_agent_proposes_no_agent_decides_upon(tmp_path: Path) -> None:
    inner, _ = deciding(confidence=0.4)
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with opened(url, "{confidence: 0.8, ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox)
        key = f"{view.id}:2"

        def server(who: Principal) -> Any:
            return Protocol(sandbox, lambda context: who).server()

        async with Client(server(principal("helper", groups=("compliance",)))) as client:
            agent = Agent(client)
            for tool, asked in (
                ("answer_decision", {"agree": True}),
                ("claim_task", {}),
                ("complete_task", {"data": {"verdict": "go on"}}),
                ("complete_wait", {"result": {"verdict": "go on"}}),
            ):
                with pytest.raises(Refused):
                    await agent(tool, key=key, **asked)
            with pytest.raises(Refused):
                await agent("complete_wait", key=view.id, result={"verdict": "go on"})
        async with Client(server(principal("rita", "person", groups=("compliance",)))) as client:
            person = Agent(client)
            [task] = (await person("pending_work"))["tasks"]
            assert (task["kind"], task["proposal"]["data"]) == ("proposal", {"verdict": "go on"})
            assert (await person("answer_decision", key=key, agree=True))["id"] == view.id
        assert (await settled(sandbox, view.id)).state == "completed"


async def test_a_draft_is_begun_once_under_one_key(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        asked = {"program": '(desk.letter :client "A")', "idempotency_key": "mine"}
        first, second = [await agent("draft_runbook", **asked) for _ in range(2)]
        assert first["draft"] == second["draft"] != ""
        other = await agent("draft_runbook", **{**asked, "idempotency_key": "another"})
        assert other["draft"] != first["draft"]
