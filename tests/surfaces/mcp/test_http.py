"""`/mcp` on loopback: the official client over streamable HTTP, the same access rules as the API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.mcp.loopback_server import served
from tests.surfaces.mcp.protocol_agent import Refused
from tests.surfaces.mcp.tool_office import READING

pytestmark = [pytest.mark.req("P5")]
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "call_verb", "arguments": {"verb": "vault.open"}},
}  # fmt: skip
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    },
}  # fmt: skip


@pytest.mark.both_stores
@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.deep)])
async def test_an_agent_with_a_key_works_over_http(store_url: str, mode: str) -> None:
    async with served(store_url) as server, server.agent(await server.key("robot"), mode) as agent:
        run = await agent("run_runbook", program='(desk.find :name "A" :as @c)\n(desk.letter :client @c.id)')
        assert run["outcome"] == "waiting"
        assert run["runbook"]["principal"] == "agent:robot"
        added = await agent("extend_runbook", id=run["id"], program='(desk.find :name "B")')
        [wait] = (await agent("pending_work"))["waits"]
        await agent("complete_wait", key=wait["key"], result={"accepted": True})
        seen = added["runbook"]["sequence"]
        told = await agent("runbook_status", id=run["id"], seen=seen, wait_seconds=30)
        assert told["state"] == "completed"


async def test_a_viewers_key_shows_only_reading_tools(sqlite_url: str) -> None:
    async with served(sqlite_url) as server:
        key = await server.key("eye", roles=("viewer",))
        async with server.agent(key) as agent:
            assert await agent.tools() == READING
            with pytest.raises(Refused) as refused:
                await agent("run_runbook", program="(vault.open)")
            assert refused.value.code == "command.forbidden"


@pytest.mark.parametrize("kind", ["agent", "service", "person"])
async def test_whose_key_it_may_be_what_is_grave_does_not_run_over_http(sqlite_url: str, kind: str) -> None:
    async with served(sqlite_url) as server, server.agent(await server.key("ana", kind=kind)) as agent:
        told = await agent("call_verb", verb="desk.pay", args={"amount": 1})
        found = told["confirmation"]
        again = await agent("run_runbook", draft=found["draft"], confirm=found["plan_hash"])
        assert (told["outcome"], again["outcome"]) == ("needs_confirmation", "needs_confirmation")


async def test_on_an_open_server_the_local_person_lends_agents_no_confirmation(sqlite_url: str) -> None:
    async with served(sqlite_url, is_open=True) as server, server.agent("") as agent:
        assert (await agent("call_verb", verb="vault.open"))["outcome"] == "completed"
        assert (await agent("call_verb", verb="desk.pay", args={"amount": 1}))["outcome"] == "needs_confirmation"


@pytest.mark.parametrize("key", ["", "perdure_ZGVmYXVsdA_x_y", "nonsense"])
async def test_nobody_comes_in_without_a_good_key(sqlite_url: str, key: str) -> None:
    async with served(sqlite_url) as server:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        for body in (CALL, INITIALIZE, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}):
            answer = await server.post(body, **headers)
            assert answer.status_code == 401
            assert "www-authenticate" in answer.headers


async def test_a_revoked_key_opens_nothing_more(sqlite_url: str) -> None:
    async with served(sqlite_url) as server:
        key = await server.key("robot")
        async with server.agent(key) as agent:
            await agent("list_verbs")
        [view] = await server.perdure.access.keys()
        await server.perdure.access.revoke_key(view.id)
        answer = await server.post(CALL, Authorization=f"Bearer {key}")
        assert answer.status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, (400, 421)),
        ({"Origin": "https://evil.example"}, (403,)),
        ({"Origin": "null"}, (403,)),
    ],
)
async def test_a_page_elsewhere_cannot_reach_an_open_server(
    sqlite_url: str, headers: dict[str, str], status: tuple[int, ...]
) -> None:
    async with served(sqlite_url, is_open=True) as server:
        answer = await server.post(CALL, **headers)
        assert answer.status_code in status
        assert await server.perdure.runbooks.list() == []


async def test_a_page_elsewhere_cannot_use_a_key_either(sqlite_url: str) -> None:
    async with served(sqlite_url) as server:
        key = await server.key("robot")
        answer = await server.post(CALL, Authorization=f"Bearer {key}", Origin="https://evil.example")
        assert answer.status_code == 403


async def test_there_are_no_sessions_to_take_over(sqlite_url: str) -> None:
    async with served(sqlite_url) as server:
        key = await server.key("robot")
        begun = await server.post(INITIALIZE, Authorization=f"Bearer {key}")
        assert begun.status_code == 200
        assert "mcp-session-id" not in begun.headers
        assert begun.headers["cache-control"] == "no-store"
        for id in ("1", "0" * 32):
            answer = await server.post(CALL, Authorization=f"Bearer {key}", **{"Mcp-Session-Id": id})
            assert answer.status_code == 404


MALFORMED: list[Any] = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'{"jsonrpc":"2.0"}',
    b"\xff\xfe",
    [CALL, CALL],
    {"id": 1},
    7,
    b"[" * 5000,
]


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28", "1999-01-01"])
async def test_what_is_no_request_is_refused_and_breaks_nothing(sqlite_url: str, version: str) -> None:
    async with served(sqlite_url) as server:
        key = await server.key("robot")
        for body in MALFORMED:
            answer = await server.post(
                body, Authorization=f"Bearer {key}", **{"Mcp-Protocol-Version": version}
            )  # fmt: skip
            assert 400 <= answer.status_code < 500, (body, answer.text)
            assert "Traceback" not in answer.text
        async with server.agent(key) as agent:
            assert (await agent("call_verb", verb="vault.open"))["outcome"] == "completed"


async def test_a_body_that_is_too_large_is_refused(sqlite_url: str) -> None:
    async with served(sqlite_url) as server:
        key = await server.key("robot")
        answer = await server.post(b'{"x":"' + b"x" * 2_000_000 + b'"}', Authorization=f"Bearer {key}")
        assert answer.status_code == 413
