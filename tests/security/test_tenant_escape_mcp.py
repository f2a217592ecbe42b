"""Tenant escape by MCP: whatever an agent of one tenant names, it sees and moves nothing of another's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.mcp.loopback_server import served
from tests.surfaces.mcp.protocol_agent import Agent, Refused

pytestmark = [pytest.mark.req("P3", "P5")]


async def _refused(agent: Agent, tool: str, **asked: Any) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        await agent(tool, **asked)
    return refused.value.code, refused.value.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tenant_escape_by_mcp_finds_nothing_and_moves_nothing(store_url: str, mode: str) -> None:
    async with served(store_url) as server:
        ours, theirs = await server.key("ana", tenant="ours"), await server.key("bo", tenant="theirs")
        async with server.agent(ours, mode) as agent:
            run = await agent("run_runbook", program='(desk.letter :client "secret")', case="C-1")
            call = await agent("call_verb", verb="desk.review", args={"what": "secret"}, idempotency_key="k")
            stuck = await agent("call_verb", verb="desk.break")
            draft = await agent("draft_runbook", program='(desk.find :name "secret")', case="C-1")
            before = await agent("runbook_status", id=run["id"], detail="detailed")
            cursor = (await agent("list_runbooks", limit=1))["next"]
        async with server.agent(theirs, mode) as other:
            await _try_everything(other, run["id"], call["id"], stuck["id"], draft["draft"], cursor)
        async with server.agent(ours, mode) as agent:
            assert await agent("runbook_status", id=run["id"], detail="detailed") == before
            assert (await agent("runbook_status", id=draft["draft"]))["state"] == "draft"
            assert (await agent("workflow_status", id=call["id"]))["state"] == "parked"
            assert len((await agent("list_incidents"))["items"]) == 1
            assert (await agent("complete_wait", key="secret/letter", result={"accepted": True}))[
                "outcome"
            ] == "applied"


async def _try_everything(other: Agent, run: str, call: str, stuck: str, draft: str, cursor: str) -> None:
    unknown = "0" * len(run)
    for tool, asked in _reaching(run, call, stuck, draft):
        code, text = await _refused(other, tool, **asked)
        assert (tool, code) == (tool, "command.not_found")
        assert "secret" not in text
        # A foreign id and one that nobody has are told in the same words.
        twin = {name: value.replace(run, unknown) if isinstance(value, str) else value for name, value in asked.items()}
        if twin != asked:
            assert (await _refused(other, tool, **twin))[1].replace(unknown, run) == text
    assert (await other("list_runbooks"))["items"] == []
    assert (await other("list_runbooks", case="C-1"))["items"] == []
    assert (await _refused(other, "list_runbooks", after=cursor))[0] == "command.invalid"
    assert (await other("list_incidents"))["items"] == []
    assert await other("pending_work") == {"tasks": [], "waits": []}
    told = await other("complete_wait", key="secret/letter", result={"accepted": False})
    assert (told["outcome"], told.get("id", "")) == ("dead_letter", "")
    told = await other("complete_wait", key=run, result={"accepted": False})
    assert (told["outcome"], told.get("id", "")) == ("dead_letter", "")
    again = await other("call_verb", verb="desk.review", args={"what": "other"}, idempotency_key="k")
    assert again["id"] != call
    for each in ("runbook_status", "workflow_status"):
        code, _ = await _refused(other, each, id=run)
        assert code == "command.not_found"


def _reaching(run: str, call: str, stuck: str, draft: str) -> list[tuple[str, dict[str, Any]]]:
    """Every tool that takes an id or a key, with one of the other tenant's."""
    return [
        ("runbook_status", {"id": run}),
        ("runbook_status", {"id": run, "seen": 1, "wait_seconds": 1}),
        ("workflow_status", {"id": run}),
        ("workflow_status", {"id": call}),
        ("runbook_events", {"id": run}),
        ("outcome_events", {"id": run}),
        ("outcome_events", {"id": call, "wait_seconds": 1}),
        ("runbook_events", {"id": call, "wait_seconds": 1}),
        ("read_value", {"id": run, "of": "args", "step": "1"}),
        ("read_value", {"id": call, "of": "args"}),
        ("read_value", {"id": call, "of": "data"}),
        ("extend_runbook", {"id": run, "program": "(vault.open)"}),
        ("cancel_runbook", {"id": run, "reason": "mine now"}),
        ("plan_runbook", {"draft": draft}),
        ("run_runbook", {"draft": draft}),
        ("draft_runbook", {"draft": draft, "program": "(vault.open)"}),
        ("claim_task", {"key": f"{call}:1"}),
        ("complete_task", {"key": f"{call}:1", "data": {"verdict": "bad"}}),
        ("complete_task", {"key": f"{call}:1", "data": {"verdict": "bad"}, "message_id": "m"}),
        ("answer_decision", {"key": f"{run}:1", "agree": True}),
        ("retry_incident", {"id": stuck}),
    ]


async def test_another_tenants_session_id_is_refused(sqlite_url: str) -> None:
    async with served(sqlite_url) as server:
        theirs = await server.key("bo", tenant="theirs")
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_runbooks", "arguments": {}}}
        answer = await server.post(body, Authorization=f"Bearer {theirs}", **{"Mcp-Session-Id": "ours"})
        assert answer.status_code == 404


async def test_a_tenant_named_in_a_request_is_not_believed(sqlite_url: str) -> None:
    async with served(sqlite_url) as server:
        ours, theirs = await server.key("ana", tenant="ours"), await server.key("bo", tenant="theirs")
        async with server.agent(ours) as agent:
            await agent("run_runbook", program='(desk.letter :client "A")')
        async with server.agent(theirs) as other:
            code, _ = await _refused(other, "list_runbooks", tenant="ours")
            assert code == "request.invalid"
            meta: Any = {"tenant": "ours", "principal": "ana"}
            answer = await other.client.call_tool("list_runbooks", {}, meta=meta)
            assert answer.structured_content == {"items": []}
