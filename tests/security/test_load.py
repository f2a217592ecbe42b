"""Load from one side: whatever one tenant, one key or one address asks for, the others are answered meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from perdure.app import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.surfaces.http import connection_limits, journal_streams
from perdure.surfaces.http.application import make_app
from perdure.verbs import load_text
from tests.surfaces.http.in_process_server import DEFINITIONS, HANDLERS, SECRET, Served, served

pytestmark = pytest.mark.req("P3")

JSON = {"Content-Type": "application/json"}
STREAM = {"Accept": "text/event-stream"}
SLOW = """
- name: slow.wait
  description: Wait in a thread until somebody says go
  consequence: benign
  execution: {kind: sync, effects: none}
"""
BRACKETS = 1_000_000


class Blocking:
    """A handler that stays in its thread until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.running = 0
        self._lock = threading.Lock()

    def __call__(self, call: Any) -> dict[str, Any]:
        with self._lock:
            self.running += 1
        self.go.wait(120)
        return {}


@asynccontextmanager
async def serving(url: str, slow: Blocking) -> AsyncIterator[Served]:
    """A server with a handler that does not end."""
    settings = ServerConfig(authentication=("keys",))
    definitions, handlers = load_text(DEFINITIONS + SLOW), {**HANDLERS, "slow.wait": slow}
    async with Perdure.open(url, definitions=definitions, handlers=handlers) as perdure:
        yield Served(perdure, make_app(perdure, settings, SECRET), settings)


async def until(condition: Any) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.001)


# --- parsers ---------------------------------------------------------------------------------------------------------

PROGRAMS = {
    "brackets": "(" * BRACKETS,
    "pairs": "()" * (BRACKETS // 2),
    "lists": "EXEC desk.note(text: " + "[" * BRACKETS,
    "conditions": "IF " + "(" * BRACKETS,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("path", ["/api/runbooks/plan", "/api/runbooks", "/api/drafts"])
async def test_a_million_brackets_are_refused_by_a_bound_that_is_named(path: str, program: str) -> None:
    async with served(authentication=(), max_body_bytes=2_000_000) as found, found.client() as client:
        answer = await client.post(path, json={"program": program})
        assert answer.status_code == 422
        problem = answer.json()["problems"][0]
        assert (problem["code"], problem["line"]) == ("DSL025", 1)
        assert "more than 300,000 words and signs" in problem["reason"]


@pytest.mark.parametrize("body", [b"[[]," + b"[]," * 200_000 + b"[]]", b'{"a":[' + b"{}," * 200_000 + b"{}]}"])
async def test_a_body_of_too_many_objects_is_refused_unread(body: bytes) -> None:
    async with served(authentication=()) as found, found.client() as client:
        answer = await client.post("/api/runbooks/plan", content=body, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (413, "request.too_large")
        assert "more than 100,000 objects and lists" in answer.json()["detail"]


async def test_more_calls_than_a_runbook_has_steps_are_refused_with_the_bound() -> None:
    async with served(authentication=()) as found, found.client() as client:
        answer = await client.post("/api/runbooks/plan", json={"calls": [{"verb": "desk.wait"}] * 10_001})
        assert answer.json()["problems"][0]["code"] == "DSL116"


# --- beside the loop -------------------------------------------------------------------------------------------------

LARGE = "EXEC desk.note(text: 1)\n" * 9_000
"""A program within its bounds, with a fault in every step: it takes a while."""


async def test_others_are_answered_while_a_large_plan_is_compiled() -> None:
    async with served(rate_per_second=10_000.0) as found:
        mine, others = await found.key("operator", tenant="north"), await found.key("operator", tenant="south")
        async with found.client(mine) as client, found.client(others) as other:
            await other.get("/api/runbooks")
            planning = asyncio.create_task(client.post("/api/runbooks/plan", json={"program": LARGE}))
            await asyncio.sleep(0)
            for _ in range(3):
                noted = await other.post("/api/verbs/desk.note/calls", json={"args": {"text": "x"}})
                assert noted.status_code == 201
            assert not planning.done()
            assert (await planning).status_code == 422


GUARD = "{type: field_present, record: nobody, field: f%d}"
REQUIRED = ", ".join(GUARD % each for each in range(40))
STATES = "".join(f"  S{state}:\n    requirements: [{REQUIRED}]\n" for state in range(199))
LIFECYCLE = f"lifecycle: large\nstates:\n{STATES}  DONE: {{terminal: true}}\ntransitions: [{{from: S0, to: DONE}}]\n"
"""A lifecycle within its bounds, with a fault in every requirement: it takes a while."""


async def test_others_are_answered_while_a_large_lifecycle_is_read_and_checked() -> None:
    async with served(rate_per_second=10_000.0) as found:
        mine, others = await found.key("author", tenant="north"), await found.key("operator", tenant="south")
        async with found.client(mine) as client, found.client(others) as other:
            await other.get("/api/runbooks")
            deploying = asyncio.create_task(client.post("/api/lifecycle-definitions", json={"yaml": LIFECYCLE}))
            await asyncio.sleep(0)
            for _ in range(3):
                noted = await other.post("/api/verbs/desk.note/calls", json={"args": {"text": "x"}})
                assert noted.status_code == 201
            assert not deploying.done()
            refused = await deploying
            assert refused.status_code == 422 and len(refused.json()["problems"]) == 100


async def test_a_result_of_too_many_pieces_is_refused_before_they_are_read() -> None:
    async with served(authentication=()) as found, found.client() as client:
        body = {"correlation_id": "a:b", "status": "completed", "items": [{"cargo_ref": "x"}] * 15_000}
        answer = await client.post("/api/workflow/task-complete", json=body)
        assert answer.status_code in (400, 422) and "more than 1000 pieces of cargo" in answer.json()["detail"]


async def test_a_plan_is_abandoned_when_its_client_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, begun = threading.Event(), threading.Event()

    def endless(*given: Any, **named: Any) -> Any:
        from perdure.work.computations import check_effort  # noqa: PLC0415  the code before it had none

        begun.set()
        try:
            while True:
                check_effort()
        finally:
            ended.set()

    monkeypatch.setattr("perdure.runbooks.language.compiler.compile_program", endless)
    async with served(authentication=(), on_socket=True) as found:
        place = urlsplit(found.base)
        body = b'{"program": "%s"}' % (b" " * 5000 + b"(desk.wait)")
        head = f"POST /api/runbooks/plan HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
        _, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await until(begun.is_set)
        writer.close()
        await until(ended.is_set)


# --- tenants share ---------------------------------------------------------------------------------------------------


async def test_forty_slow_handlers_of_a_tenant_do_not_delay_a_call_of_another(store_url: str) -> None:
    slow = Blocking()
    async with serving(store_url, slow) as found:
        mine, others = await found.key("operator", tenant="north"), await found.key("operator", tenant="south")
        async with found.client(mine) as client, found.client(others) as other:
            asked = [asyncio.create_task(client.post("/api/verbs/slow.wait/calls", json={})) for _ in range(40)]
            try:
                await until(lambda: slow.running >= 32)
                async with asyncio.timeout(120):
                    noted = await other.post("/api/verbs/desk.note/calls", json={"args": {"text": "x"}})
                assert noted.json()["state"] == "completed"
                assert not slow.go.is_set() and slow.running == 32
            finally:
                slow.go.set()
            assert {(await each).json()["state"] for each in asked} <= {"completed", "running"}


async def test_two_keys_of_a_tenant_do_not_take_the_streams_of_others() -> None:
    async with served(on_socket=True) as found:
        streams = found.state.streams
        one, two = [await found.key("viewer", tenant="north", name=name) for name in ("ann", "ben")]
        more = [await found.key("viewer", tenant="north", name=f"more-{number}") for number in range(6)]
        taken = {}
        for key in (one, two, *more):
            principal = await found.perdure.acting(tenant="north").access.authenticate_key(key.text)
            assert principal is not None
            taken[principal.name] = 0
            with pytest.raises(Exception, match="as many as"):
                while True:
                    streams.check(principal)
                    streams.begin(principal)
                    taken[principal.name] += 1
        assert taken["ann"] == taken["ben"] == 512
        assert sum(taken.values()) == 2048
        async with found.client(one) as client:
            answer = await client.get("/api/events", headers=STREAM)
            assert (answer.status_code, answer.json()["code"]) == (429, "request.too_many_streams")
            assert answer.headers["retry-after"] == "5"
        south = await found.key("viewer", tenant="south")
        async with found.client(south) as client, client.stream("GET", "/api/events", headers=STREAM) as answer:
            assert answer.status_code == 200


async def test_a_stream_of_a_thing_that_loops_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_streams, "MOST_EVENTS", 10, raising=False)
    async with served(authentication=(), on_socket=True) as found, found.client() as client:
        for number in range(20):
            await client.post("/api/verbs/desk.note/calls", json={"args": {"text": str(number)}})
        first = (await client.get("/api/events", params={"limit": 1})).json()["items"][0]["cursor"]
        names, ids = await _events(client, "/api/events", first)
        assert len(names) >= 11 and names[-1] == "stream.bounded" and "stream.bounded" not in names[:-1]
        for number in range(20):
            await client.post("/api/verbs/desk.note/calls", json={"args": {"text": str(number)}})
        again, more = await _events(client, "/api/events", ids[-1])
        assert again[-1] == "stream.bounded" and not set(ids) & set(more)
        parked = (await client.post("/api/verbs/desk.wait/calls", json={})).json()["id"]
        monkeypatch.setattr(journal_streams, "MOST_EVENTS", 1, raising=False)
        names, ids = await _events(client, f"/api/calls/{parked}/events", "0")
        assert len(names) == 2 and names[-1] == "stream.bounded" and ids == ["1.1"]


async def _events(client: httpx.AsyncClient, path: str, after: str) -> tuple[list[str], list[str]]:
    """The names and ids of a stream that ends by itself."""
    names, ids = [], []
    async with (
        asyncio.timeout(120),
        client.stream("GET", path, headers={**STREAM, "Last-Event-ID": after}) as answer,
    ):
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                names.append(value)
            elif name == "id":
                ids.append(value)
    return names, ids


async def test_dead_letters_of_a_tenant_have_a_bound_and_others_keep_theirs(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perdure.work.dead_letter_limit.MOST_LETTERS", 3, raising=False)
    async with served(store_url) as found:
        mine, others = await found.key("operator", tenant="north"), await found.key("operator", tenant="south")
        async with found.client(mine) as client, found.client(others) as other:
            for number in range(2):
                assert (await _letter(client, f"c{number}")).status_code == 404
            published = await client.post("/api/messages", json={"name": "nobody", "message_id": "m"})
            assert published.status_code == 202
            refused = await _letter(client, "c3")
            assert (refused.status_code, refused.json()["code"]) == (429, "tenant.busy")
            assert "3 dead letters wait already" in refused.json()["detail"]
            refused = await client.post("/api/messages", json={"name": "nobody", "message_id": "m2"})
            assert (refused.status_code, refused.json()["code"]) == (429, "tenant.busy")
            assert (await _letter(client, "c1")).json()["answer"] == "duplicate", "a letter that is known costs no room"
            assert (await _letter(other, "c3")).status_code == 404
            assert len((await client.get("/api/dead-letters")).json()["items"]) == 3


async def _letter(client: httpx.AsyncClient, id: str) -> httpx.Response:
    return await client.post("/api/completions", json={"key": "nowhere", "message_id": id, "result": {}})


# --- strangers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/openapi.json", "/api/runbooks", "/nowhere"])
async def test_strangers_of_one_address_have_a_rate(path: str) -> None:
    async with served(rate_per_second=1.0, rate_burst=5.0) as found, found.client() as client:
        answers = [await client.get(path) for _ in range(6)]
        assert 429 not in {each.status_code for each in answers[:5]}
        assert (answers[5].status_code, answers[5].json()["code"]) == (429, "request.too_many")
        assert (await client.get("/health")).status_code == 200


async def test_connections_of_one_address_leave_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "MOST_CONNECTIONS", 4, raising=False)
    async with served(authentication=(), on_socket=True) as found, asyncio.timeout(120):
        kept = [await _connected(found.base) for _ in range(2)]
        for each in kept:
            assert b" 200 " in await _probed(found.base, *each)
        refused = await _asked_once(found.base)
        assert b" 429 " in refused and b"request.too_many_connections" in refused
        await _closed(kept.pop()[1])
        while b" 200 " not in await _asked_once(found.base):
            await asyncio.sleep(0)
        await _closed(kept.pop()[1])


async def _asked_once(base: str) -> bytes:
    reader, writer = await _connected(base)
    try:
        return await _probed(base, reader, writer)
    finally:
        await _closed(writer)


async def _closed(writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        writer.close()
        await writer.wait_closed()


async def _connected(base: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    place = urlsplit(base)
    return await asyncio.open_connection(place.hostname, place.port)


async def _probed(base: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """The first bytes that a connection is answered with; a connection that was refused may be closed already."""
    with suppress(ConnectionError):
        writer.write(f"GET /health HTTP/1.1\r\nHost: {urlsplit(base).netloc}\r\n\r\n".encode())
        await writer.drain()
    return await reader.read(4096)
