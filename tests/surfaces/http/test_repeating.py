"""Asked again under the same `Idempotency-Key`: the same answer, and nothing is done twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.surfaces.http.house import served

pytestmark = pytest.mark.req("P2")
CALLS = {"calls": [{"verb": "desk.wait", "name": "first"}]}


async def test_the_kept_answer_is_given_again_with_its_headers(store_url: str) -> None:
    async with served(store_url) as found:
        key = await found.key("operator")
        async with found.client(key, **{"Idempotency-Key": "k-1"}) as client:
            first = await client.post("/api/drafts", json=CALLS)
            again = await client.post("/api/drafts", json=CALLS)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        assert [first.headers[name] for name in ("etag", "location")] == [
            again.headers[name] for name in ("etag", "location")
        ]
        assert again.headers["idempotency-replayed"] == "true" and "idempotency-replayed" not in first.headers


async def test_another_request_under_the_same_key_is_refused() -> None:
    async with served(authentication=()) as found, found.client(**{"Idempotency-Key": "k"}) as client:
        await client.post("/api/drafts", json=CALLS)
        for path, body in (("/api/drafts", {"calls": []}), ("/api/drafts?x=1", CALLS), ("/api/cases/C/cancel", CALLS)):
            answer = await client.post(path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (422, "idempotency.reused"), path


async def test_starts_hand_the_key_to_the_operation() -> None:
    async with served(authentication=()) as found, found.client(**{"Idempotency-Key": "k"}) as client:
        path = "/api/verbs/desk.note/calls"
        first = await client.post(path, json={"args": {"text": "x"}})
        again = await client.post(path, json={"args": {"text": "x"}})
        other = await client.post(path, json={"args": {"text": "y"}})
        assert first.json()["id"] == again.json()["id"]
        assert (other.status_code, other.json()["code"]) == (422, "idempotency.reused")
        runbook = await client.post("/api/runbooks", json=CALLS, headers={"Idempotency-Key": "r"})
        repeated = await client.post("/api/runbooks", json=CALLS, headers={"Idempotency-Key": "r"})
        assert runbook.json()["id"] == repeated.json()["id"]


async def test_a_refusal_is_not_kept() -> None:
    async with served(authentication=()) as found, found.client(**{"Idempotency-Key": "k"}) as client:
        refused = await client.post("/api/drafts", json={})
        assert refused.status_code == 422
        assert (await client.post("/api/drafts", json=CALLS)).status_code == 201


async def test_while_the_first_still_runs_the_second_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(authentication=()) as found, found.client(**{"Idempotency-Key": "k"}) as client:
        book = found.perdure.runtime.store.answers
        is_asked, may_go_on = asyncio.Event(), asyncio.Event()
        find = book.find

        async def slow(*name: Any) -> Any:
            is_asked.set()
            await may_go_on.wait()
            return await find(*name)

        monkeypatch.setattr(book, "find", slow)
        first = asyncio.ensure_future(client.post("/api/drafts", json=CALLS))
        await is_asked.wait()
        second = await client.post("/api/drafts", json=CALLS)
        assert (second.status_code, second.json()["code"]) == (409, "idempotency.running")
        assert second.headers["retry-after"]
        may_go_on.set()
        assert (await first).status_code == 201


@pytest.mark.parametrize("key", [b"x" * 201, b"a\tb", "é".encode("latin-1")], ids=["long", "tab", "accent"])
async def test_a_key_that_cannot_be_one_is_refused(key: bytes) -> None:
    async with served(authentication=()) as found, found.client() as client:
        answer = await client.post("/api/drafts", json=CALLS, headers=[(b"Idempotency-Key", key)])
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency.invalid")
