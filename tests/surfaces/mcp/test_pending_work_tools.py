"""What waits, over tools: tasks, gates, waits, what is stuck."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import CallToolRequestParams

from perdure.app import Perdure
from perdure.surfaces.mcp.server import Protocol
from tests.surfaces.mcp.loopback_server import HANDLERS
from tests.surfaces.mcp.protocol_agent import Refused, verbs
from tests.surfaces.mcp.tool_office import office, principal

pytestmark = [pytest.mark.req("P5")]


async def test_a_task_is_claimed_and_completed_by_its_form(tmp_path: Path) -> None:
    async with office(tmp_path) as place:
        async with place.agent() as asker:
            run = await asker("run_runbook", program='(desk.review :what "a file")')
            assert (await asker("pending_work"))["tasks"] == []
        async with place.agent(principal("helper", groups=("reviewers",))) as agent:
            [task] = (await agent("pending_work", kind="tasks"))["tasks"]
            assert (task["kind"], task["title"]) == ("task", "Look at a file")
            await agent("claim_task", key=task["key"])
            with pytest.raises(Refused) as refused:
                await agent("complete_task", key=task["key"], data={"verdict": "perhaps"})
            assert refused.value.error["errors"][0]["path"] == "$.verdict"
            done = await agent("complete_task", key=task["key"], data={"verdict": "good"}, message_id="m1")
            assert (done["id"], done["state"]) == (run["id"], "completed")
            again = await agent("complete_task", key=task["key"], data={"verdict": "good"}, message_id="m1")
            assert again["state"] == "completed"
            with pytest.raises(Refused) as over:
                await agent("complete_task", key=task["key"], data={"verdict": "bad"})
            assert over.value.code == "command.not_found"


async def test_a_gate_is_answered_by_its_group_and_never_by_who_asked(tmp_path: Path) -> None:
    async with office(tmp_path) as place:
        async with place.agent(principal(groups=("chiefs",))) as asker:
            run = await asker("run_runbook", calls=[{"verb": "desk.find", "args": {"name": "A"}, "gate": "chiefs"}])
            assert run["outcome"] == "waiting"
            key = f"{run['id']}:1"
            for tool, asked in (
                ("answer_decision", {"agree": True}),
                ("complete_task", {"data": {"agree": True}}),
                ("complete_wait", {"result": {"agree": True}}),
            ):
                with pytest.raises(Refused):
                    await asker(tool, key=key, **asked)
        async with place.agent(principal("clerk", roles=frozenset({"operator"}), groups=("chiefs",))) as clerk:
            with pytest.raises(Refused) as refused:
                await clerk("complete_task", key=key, data={"agree": True})
            assert "runbook.answer" in refused.value.text
        assert place.done == []
        async with place.agent(principal("chief", groups=("chiefs",))) as chief:
            [task] = (await chief("pending_work"))["tasks"]
            assert (task["kind"], task["key"]) == ("decision", key)
            done = await chief("answer_decision", key=key, agree=True, reason="fine")
            assert done["id"] == run["id"]
            assert (await chief("runbook_status", id=run["id"], seen=1, wait_seconds=30))["id"] == run["id"]


async def test_a_wait_ends_once_and_a_key_nobody_waits_under_is_a_dead_letter(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        call = await agent("call_verb", verb="desk.letter", args={"client": "A"})
        assert call["outcome"] == "waiting"
        [wait] = (await agent("pending_work", kind="waits"))["waits"]
        assert (wait["key"], wait["verb"]) == ("A/letter", "desk.letter")
        with pytest.raises(Refused) as refused:
            await agent("complete_wait", key="A/letter", result={"accepted": "perhaps"})
        assert refused.value.code == "payload.schema"
        first = await agent("complete_wait", key="A/letter", result={"accepted": True}, message_id="m1")
        second = await agent("complete_wait", key="A/letter", result={"accepted": True}, message_id="m1")
        assert (first["outcome"], second["outcome"]) == ("applied", "duplicate")
        assert (await agent("complete_wait", key="B/letter", result={}))["outcome"] == "dead_letter"
        assert (await agent("workflow_status", id=call["id"]))["result"] == {"accepted": True}


async def test_a_key_for_some_verbs_ends_no_wait_of_others(tmp_path: Path) -> None:
    async with office(tmp_path) as place:
        async with place.agent() as agent:
            await agent("call_verb", verb="desk.letter", args={"client": "A"})
        async with place.agent(principal(verbs=("vault.*",))) as other:
            assert (await other("pending_work"))["waits"] == []
            for named in ({}, {"verb": "desk.letter"}, {"verb": "desk_letter"}):
                with pytest.raises(Refused):
                    await other("complete_wait", key="A/letter", result={"accepted": True}, **named)
            told = await other("complete_wait", key="A/letter", result={}, verb="vault.open")
            assert told["outcome"] == "dead_letter"
        async with place.agent() as agent:
            [wait] = (await agent("pending_work"))["waits"]
            assert wait["key"] == "A/letter"


async def test_what_is_stuck_is_listed_and_tried_again(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        await agent("call_verb", verb="desk.break")
        await agent("call_verb", verb="desk.break")
        page = await agent("list_incidents", limit=1)
        rest = await agent("list_incidents", limit=1, after=page["next"])
        assert "next" not in rest
        ids = {page["items"][0]["id"], rest["items"][0]["id"]}
        assert len(ids) == 2
        place.mended.append(True)
        for id in ids:
            assert (await agent("retry_incident", id=id))["state"] == "completed"
        assert (await agent("list_incidents"))["items"] == []


async def test_a_message_nobody_wants_says_so(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        assert (await agent("publish_message", name="hello", key="1"))["outcome"] == "no_subscription"
        assert (await agent("publish_message", name="hello", key="1", ttl_seconds=60))["outcome"] == "buffered"


async def test_what_was_begun_goes_on_when_whoever_asked_goes_away(tmp_path: Path) -> None:
    begun, going = asyncio.Event(), asyncio.Event()

    async def slow(call: Any) -> dict[str, Any]:
        begun.set()
        await going.wait()
        return {"open": True}

    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with Perdure.open(url, definitions=verbs(), handlers={**HANDLERS, "vault.open": slow}) as perdure:
        protocol = Protocol(perdure, lambda context: principal())
        params = CallToolRequestParams(name="call_verb", arguments={"verb": "vault.open", "idempotency_key": "k"})
        context: Any = SimpleNamespace(meta=None)
        asking = asyncio.ensure_future(protocol.call_tool(context, params))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        going.set()
        await protocol.finish()
        told = (await protocol.call_tool(context, params)).structured_content
        assert (told["outcome"], told["result"]) == ("completed", {"open": True})
