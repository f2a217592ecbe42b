"""What a server tells operators' tools: counted by route, never by path; and traces that are none are ignored."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.surfaces.http.in_process_server import served
from tests.surfaces.http.test_server_sent_events import STREAM, following
from tests.telemetry.test_metrics import Scraped

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
REQUESTS = "perdure_http_requests_total"


async def scraped(place: Any) -> Scraped:
    return Scraped(await place.perdure.runtime.scrape())


@pytest.mark.req("X21", "P2")
async def test_answers_are_counted_by_the_pattern_of_their_route_and_never_by_their_path() -> None:
    async with served(authentication=()) as place, place.client() as client:
        place.perdure.runtime.measure()
        made = (await client.post("/api/verbs/desk.note/calls", json={"args": {"text": "x"}})).json()
        for path in (f"/api/calls/{made['id']}", f"/api/calls/{'0' * 26}", "/nowhere/secret-name.php", "/health"):
            await client.get(path)
        await client.get("/api/calls", headers={"Host": "store_changed"})
        found = await scraped(place)
        assert found(REQUESTS, method="POST", route="/api/verbs/{name}/calls", status="201") == 1
        assert found(REQUESTS, method="GET", route="/api/calls/{id}", status="200") == 1
        assert found(REQUESTS, method="GET", route="/api/calls/{id}", status="404") == 1
        assert found(REQUESTS, method="GET", route="/health", status="200") == 1
        assert found(REQUESTS, method="GET", route="other", status="400") == 1
        assert found("perdure_http_request_seconds_count", method="GET", route="/api/calls/{id}") == 2
        routes = found.labels(REQUESTS, "route")
        assert not any("secret-name" in each or made["id"] in each for each in routes)


@pytest.mark.req("P3")
async def test_by_a_key_metrics_are_for_operators_and_administrators() -> None:
    async with served() as place:
        for role, status in (("viewer", 403), ("author", 403), ("reviewer", 403), ("operator", 200), ("admin", 200)):
            async with place.client(await place.key(role)) as client:
                assert (await client.get("/metrics")).status_code == status, role


@pytest.mark.req("X21", "P2")
async def test_open_streams_are_counted_until_they_end() -> None:
    async with served(authentication=(), on_socket=True) as place, place.client() as client:
        place.perdure.runtime.measure()
        async with following(client, "/api/events"), client.stream("GET", "/api/events", headers=STREAM) as second:
            assert second.status_code == 200
            assert (await scraped(place))("perdure_sse_streams") == 2
        place.edge.drain()
        while len(place.state.streams):
            await asyncio.sleep(0)
        assert (await scraped(place))("perdure_sse_streams") == 0


@pytest.mark.req("X21")
async def test_nothing_is_counted_where_nobody_measures() -> None:
    async with served(authentication=()) as place, place.client() as client:
        await client.get("/health")
        assert place.perdure.runtime.metrics is None


@pytest.mark.req("P2")
@pytest.mark.parametrize(
    "given, kept",
    [
        (TRACE, TRACE),
        (f" {TRACE.upper()} ", TRACE),
        ("anything at all", ""),
        (f"ff{TRACE[2:]}", ""),
        ("00-" + "0" * 32 + TRACE[35:], ""),
        ("x" * 5000, ""),
        ("", ""),
    ],
)
async def test_a_trace_that_is_none_never_comes_into_the_journal(given: str, kept: str) -> None:
    async with served(authentication=()) as place, place.client() as client:
        headers = {"traceparent": given} if given else {}
        made = await client.post("/api/verbs/desk.note/calls", json={"args": {"text": "x"}}, headers=headers)
        assert made.status_code == 201
        (first, *_) = [event async for event in place.perdure.events(made.json()["id"])]
        assert first.trace == kept
