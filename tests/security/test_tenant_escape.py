"""Tenant escape: by the id of a call, a runbook or a draft, by events, by keys for repeating, by a trace."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from perdure.surfaces.http.routes import ENDPOINTS
from tests.surfaces.http.in_process_server import Served, served

pytestmark = pytest.mark.req("P3")
BODIES: dict[str, Any] = {
    "resolve_call": {"result": {}}, "amend_call": {"data": {}, "reason": "x"}, "approve_amendment": {"amendment": 1},
    "erase_call": {"reason": "x"}, "extend_runbook": {"calls": [{"verb": "desk.note", "args": {"text": "x"}}]},
    "skip_step": {"reason": "x"}, "answer_gate": {"agree": True}, "replace_draft": {"calls": []},
}  # fmt: skip
UNKNOWN = "01m7hk5wprf2yvfhhcs4kqadfv"
KINDS = [["api", kind] for kind in ("calls", "runbooks", "drafts")]
CALLS = [{"verb": "desk.wait", "name": "first"}]


async def ours(client: httpx.AsyncClient) -> dict[str, str]:
    """A call, a runbook and a draft of our own."""
    call = await client.post("/api/verbs/desk.wait/calls", json={"args": {"who": "Ana"}})
    runbook = await client.post("/api/runbooks", json={"calls": CALLS, "sealed": False})
    draft = await client.post("/api/drafts", json={"calls": CALLS})
    return {"calls": call.json()["id"], "runbooks": runbook.json()["id"], "drafts": draft.json()["id"]}


def plain(answer: httpx.Response, id: str) -> tuple[int, str]:
    """What somebody learns from an answer, apart from what they sent themselves."""
    told = answer.json()
    told.pop("request_id", None)
    return answer.status_code, json.dumps(told).replace(id, "ID")


async def test_what_is_another_tenants_is_as_unknown_as_what_never_was() -> None:
    routes = [each for each in ENDPOINTS if each.paths[0].split("/")[1:3] in KINDS]
    async with served() as found:
        mine, eve = await found.key("admin"), await found.key("admin", tenant="other", name="eve")
        async with found.client(mine) as client, found.client(eve) as other:
            ids = await ours(client)
            for route in routes:
                (path,) = route.paths
                if "{id" not in path:
                    continue
                kind, method = path.split("/")[2], route.method
                path = path.replace("{step}", "first")
                more = {} if method == "GET" else {"json": BODIES.get(route.id, {})}
                foreign = await other.request(method, path.replace("{id}", ids[kind]), **more)
                absent = await other.request(method, path.replace("{id}", UNKNOWN), **more)
                assert plain(foreign, ids[kind]) == plain(absent, UNKNOWN), route.id
                assert foreign.status_code == 404, (route.id, foreign.text)
            for kind in ("calls", "runbooks"):
                assert (await client.get(f"/api/{kind}/{ids[kind]}")).json()["state"] in ("parked", "executing")


async def test_lists_pages_and_cursors_of_one_tenant_tell_nothing_of_another() -> None:
    async with served() as found:
        mine, eve = await found.key("admin"), await found.key("admin", tenant="other", name="eve")
        async with found.client(mine) as client, found.client(eve) as other:
            await ours(client)
            await ours(client)
            page = (await client.get("/api/runbooks?kind=all&limit=1")).json()
            assert page["next"]
            assert (await other.get("/api/runbooks?kind=all")).json()["items"] == []
            assert (await other.get("/api/runbooks", params={"kind": "all", "after": page["next"]})).status_code == 422
            cursor = (await client.get("/api/events?limit=1")).json()["next"]
            stolen = await other.get("/api/events", params={"after": cursor})
            assert stolen.status_code == 422 or all(item["kind"] == "access" for item in stolen.json()["items"])


async def test_a_key_for_repeating_means_nothing_to_another_tenant_or_principal() -> None:
    async with served() as found:
        keys = [await found.key("admin", tenant=tenant, name=name) for tenant, name in
                (("default", "ana"), ("default", "ben"), ("other", "ana"))]  # fmt: skip
        seen = set()
        for key in keys:
            async with found.client(key, **{"Idempotency-Key": "same"}) as client:
                call = await client.post("/api/verbs/desk.note/calls", json={"args": {"text": key.id}})
                draft = await client.post("/api/drafts", json={"calls": CALLS}, headers={"Idempotency-Key": "other"})
                assert (call.status_code, draft.status_code) == (201, 201), (call.text, draft.text)
                seen |= {call.json()["id"], draft.json()["id"]}
        assert len(seen) == 2 * len(keys)


async def lines(found: Served, key: Any, told: asyncio.Queue[str], is_open: asyncio.Event) -> None:
    async with found.client(key, Accept="text/event-stream") as client, client.stream("GET", "/api/events") as stream:
        is_open.set()
        async for line in stream.aiter_lines():
            told.put_nowait(line)


async def test_a_stream_tells_of_its_own_tenant_alone() -> None:
    async with served(on_socket=True) as found:
        mine, eve = await found.key("admin"), await found.key("admin", tenant="other", name="eve")
        told: asyncio.Queue[str] = asyncio.Queue()
        is_open = asyncio.Event()
        listening = asyncio.ensure_future(lines(found, eve, told, is_open))
        await is_open.wait()
        async with found.client(mine) as client, found.client(eve) as other:
            foreign = (await client.post("/api/verbs/desk.note/calls", json={"args": {"text": "x"}})).json()["id"]
            own = (await other.post("/api/verbs/desk.note/calls", json={"args": {"text": "y"}})).json()["id"]
        while own not in (line := await told.get()):
            assert foreign not in line
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
