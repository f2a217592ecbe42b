"""SQL through filters, keys and cursors: values are bound, whatever they hold, and change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.http.sandbox_server import Server, served
from tests.surfaces.http.test_lists import filled

EVIL = [
    "' OR '1'='1",
    "'; DROP TABLE journal; --",
    '" OR ""="',
    "x') UNION SELECT tenant, body FROM payload --",
    "%",
    "_",
    "\\",
    "1; UPDATE aggregate SET tenant = 'other'",
    "a\x00b",
    "\u2019 OR 1=1",
    ":tenant",
    "$1",
    "{0}",
    "x" * 400,
]
FILTERS = [
    ("/api/instances", "process"), ("/api/instances", "state"), ("/api/instances", "business_key"),
    ("/api/instances", "after"), ("/api/instances", "limit"), ("/api/tasks", "assignee"), ("/api/tasks", "group"),
    ("/api/tasks", "state"), ("/api/tasks", "mine"), ("/api/tasks", "after"), ("/api/parked", "after"),
    ("/api/incidents", "after"), ("/api/dead-letters", "after"), ("/api/runbooks", "state"), ("/api/runbooks", "case"),
    ("/api/runbooks", "q"), ("/api/runbooks", "kind"), ("/api/runbooks", "after"), ("/api/calls", "verb"),
    ("/api/calls", "where"), ("/api/calls", "q"), ("/api/verbs", "q"), ("/api/instances", "sort"),
    ("/api/instances", "order_by"),
]  # fmt: skip
UNBOUND = {"sort", "order_by"}
"""There is no such parameter: it changes nothing."""


async def counts(server: Server) -> dict[str, int]:
    found = {}
    for who in ("ada", "eve"):
        for path in ("/api/instances", "/api/tasks", "/api/parked", "/api/incidents", "/api/dead-letters"):
            found[f"{who} {path}"] = len((await server.of(who).get(path, limit=200))["items"])
    return found


@pytest.mark.req("P2", "P3")
async def test_nothing_in_a_filter_or_sort_key_reaches_the_database_but_as_a_value(store_url: str) -> None:
    async with served(store_url) as server:
        await filled(server, "ada", 2)
        await filled(server, "eve", 1)
        before = await counts(server)
        everything = {path: (await server.of("ada").get(path))["items"] for path, _ in FILTERS}
        for path, name in FILTERS:
            for evil in EVIL:
                answer = await server.of("ada").ask("GET", path, params={name: evil})
                assert answer.status_code in (200, 404, 422), f"{path}?{name}={evil!r}: {answer.text[:300]}"
                if answer.status_code == 200 and name not in UNBOUND and (path, name) != ("/api/verbs", "q"):
                    assert answer.json()["items"] == [], f"{path}?{name}={evil!r} found something"
                if answer.status_code == 200 and name in UNBOUND:
                    assert answer.json()["items"] == everything[path]
        assert await counts(server) == before


@pytest.mark.req("P2", "P3")
async def test_nothing_in_a_path_or_body_reaches_the_database_but_as_a_value(store_url: str) -> None:
    async with served(store_url) as server:
        await filled(server, "ada", 1)
        await filled(server, "eve", 1)
        before = await counts(server)
        ada = server.of("ada")
        for evil in EVIL:
            asked: list[tuple[str, str, Any]] = [
                ("POST", "/api/messages/correlate", {"name": evil, "key": evil}),
                ("POST", "/api/progress", {"key": evil, "text": evil}),
                ("POST", "/api/instances", {"process": evil}),
                ("POST", "/api/dead-letters/replay", {"message_id": evil, "key": evil}),
                ("POST", "/api/dead-letters/discard", {"message_id": evil, "reason": evil}),
                ("POST", "/api/incidents/retry", {"ids": [evil]}),
                ("POST", "/api/parked/token", {"key": evil}),
                ("POST", "/api/signals", {"name": evil}),
                ("POST", "/api/processes/check", {"xml": evil, "process": evil}),
            ]
            for method, path, body in asked:
                answer = await ada.ask(method, path, json=body)
                assert answer.status_code < 500, f"{path} {evil!r}: {answer.text[:300]}"
                if path.endswith("/correlate") and answer.status_code != 422:
                    before["ada /api/dead-letters"] += 1  # a message that nobody takes is kept, as it came
        assert await counts(server) == before
