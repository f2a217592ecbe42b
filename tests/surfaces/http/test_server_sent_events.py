"""Streams of events: no gap, no duplicate, and an end when the reader, the server or the credential ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from perdure.surfaces.http import server_sent_events as streams
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P2")
Events = AsyncIterator[dict[str, str]]
STREAM = {"Accept": "text/event-stream"}


@asynccontextmanager
async def following(
    client: httpx.AsyncClient, path: str, **headers: str
) -> AsyncIterator[AsyncIterator[dict[str, str]]]:
    """The events of a stream as they come; comments and the rest are left out."""
    async with client.stream("GET", path, headers={**STREAM, **headers}) as answer:
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.aiter_lines()
        yield _events(lines)


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[dict[str, str]]:
    event: dict[str, str] = {}
    async for line in lines:
        name, _, value = line.partition(": ")
        if line and name in ("id", "event", "data"):
            event[name] = value
        elif not line and "data" in event:
            yield event
            event = {}


async def note(client: httpx.AsyncClient, text: str = "x") -> str:
    answer = await client.post("/api/verbs/desk.note/calls", json={"args": {"text": text}})
    return str(answer.json()["id"])


async def journal(client: httpx.AsyncClient) -> list[str]:
    """The cursors of everything that has happened, page after page."""
    found: list[str] = []
    after = None
    while True:
        page = (await client.get("/api/events", params={"limit": 7, **({"after": after} if after else {})})).json()
        found += [item["cursor"] for item in page["items"]]
        if not page["next"] or not page["items"]:
            return found
        after = page["next"]


async def test_what_happens_comes_once_and_in_order_across_connections(store_url: str) -> None:
    async with served(store_url, authentication=(), on_socket=True) as found, found.client() as client:
        await note(client)
        seen: list[str] = []
        last = ""
        for round in range(4):
            path = "/api/events" if last else f"/api/events?after={(await journal(client))[0]}"
            async with following(client, path, **({"Last-Event-ID": last} if last else {})) as events:
                wanted = await note(client, str(round))
                async for event in events:
                    seen.append(event["id"])
                    last = event["id"]
                    if wanted in event["data"]:
                        break
        whole = await journal(client)
        first = whole.index(seen[0])
        assert first == 1 and seen == whole[first : first + len(seen)]


async def test_the_journal_of_one_call_is_a_page_or_a_stream() -> None:
    async with served(authentication=(), on_socket=True) as found, found.client() as client:
        call = (await client.post("/api/verbs/desk.wait/calls", json={})).json()
        path = f"/api/calls/{call['id']}/events"
        page = (await client.get(path)).json()
        assert page["items"] and page["next"] is None
        async with following(client, path) as events:
            got = [await anext(events) for _ in page["items"]]
            await client.post(f"/api/calls/{call['id']}/cancel")
            got.append(await anext(events))
        whole = (await client.get(path)).json()["items"]
        assert [each["event"] for each in got] == [each["entry"] for each in whole][: len(got)]
        async with following(client, path, **{"Last-Event-ID": got[0]["id"]}) as events:
            assert (await anext(events))["id"] == got[1]["id"]
        assert (await client.get(path, params={"after": "x"})).status_code == 422
        absent = await client.get("/api/calls/01m7hk5wprf2yvfhhcs4kqadfv/events", headers=STREAM)
        assert absent.status_code == 404


async def test_a_cursor_that_leads_nowhere_is_refused_before_the_stream_begins() -> None:
    async with served(authentication=()) as found, found.client() as client:
        for after in ("x", "1", "ÿ", "a" * 500):
            answer = await client.get("/api/events", params={"after": after}, headers=STREAM)
            assert answer.status_code == 422, after


async def test_streams_end_when_the_server_stops() -> None:
    async with served(authentication=(), on_socket=True) as found, found.client() as client:
        async with following(client, "/api/events") as events:
            found.edge.drain()
            assert [event async for event in events] == []
        refused = await client.get("/api/verbs")
        assert (refused.status_code, refused.json()["code"]) == (503, "server.draining")
        assert (await client.get("/ready")).status_code == 503
        assert (await client.get("/health")).status_code == 200
        assert len(found.state.streams) == 0


async def test_a_stream_ends_when_its_key_is_revoked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PULSE_SECONDS", 0.0)
    async with served(on_socket=True) as found:
        key, other = await found.key("viewer"), await found.key("operator")
        async with (
            found.client(key) as client,
            found.client(other) as acting,
            following(client, "/api/events") as events,
        ):
            await note(acting)
            assert await anext(events)
            await found.perdure.access.revoke_key(key.id)
            assert len([event async for event in events]) < 10


async def test_a_reader_that_leaves_frees_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(authentication=(), on_socket=True) as found, found.client() as client:
        streams, is_empty = found.state.streams, asyncio.Event()
        end, streams._most_each = streams.end, 2

        def ended(*given: Any) -> None:
            end(*given)
            if not len(streams):
                is_empty.set()

        monkeypatch.setattr(streams, "end", ended)
        async with following(client, "/api/events"), following(client, "/api/events"):
            full = await client.get("/api/events", headers=STREAM)
            assert (full.status_code, full.json()["code"]) == (429, "request.too_many_streams")
        await is_empty.wait()
        async with following(client, "/api/events"):
            assert len(found.state.streams) == 1


async def test_a_silent_stream_says_that_it_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.surfaces.http.journal_streams.PULSE_SECONDS", 0.02)
    async with (
        served(authentication=(), on_socket=True) as found,
        found.client() as client,
        client.stream("GET", "/api/events", headers=STREAM) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith(":"):
                break
