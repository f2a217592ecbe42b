"""Asked again under the same `Idempotency-Key`: the same answer, and nothing is done twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.app.runbooks.runbooks import RunbookOperations
from perdure.sources import SECOND
from perdure.surfaces.http.idempotency import CLAIM_SECONDS
from perdure.work.ports import Answered, Claim
from tests.surfaces.http import sandbox_server
from tests.surfaces.http.in_process_server import served

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
        claim = book.claim

        async def slow(*name: Any) -> Any:
            is_asked.set()
            await may_go_on.wait()
            return await claim(*name)

        monkeypatch.setattr(book, "claim", slow)
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


# --- several servers --------------------------------------------------------------------------------------------------


class Beside:
    """A draft opens only when it may, so that a request can be caught in the midst of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self.may_end, self.count = asyncio.Event(), asyncio.Event(), 0
        before, beside = RunbookOperations.open_draft, self

        async def slow(desk: RunbookOperations, *args: Any, **more: Any) -> str:
            beside.count += 1
            beside.has_begun.set()
            await beside.may_end.wait()
            return await before(desk, *args, **more)

        monkeypatch.setattr(RunbookOperations, "open_draft", slow)


KEY = {"Idempotency-Key": "k"}


async def test_of_two_servers_asked_at_once_under_one_key_one_acts(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = Beside(monkeypatch)
    async with served(store_url) as one, served(store_url) as two:
        key = await one.key("operator")
        async with one.client(key, **KEY) as first, two.client(key, **KEY) as second:
            asked = asyncio.ensure_future(first.post("/api/drafts", json=CALLS))
            await beside.has_begun.wait()
            refused = await second.post("/api/drafts", json=CALLS)
            assert (refused.status_code, refused.json()["code"]) == (409, "idempotency.running")
            assert refused.headers["retry-after"] == "1"
            beside.may_end.set()
            done = await asked
            again = await second.post("/api/drafts", json=CALLS)
            assert (done.status_code, again.status_code, beside.count) == (201, 201, 1)
            assert again.json() == done.json() and again.headers["idempotency-replayed"] == "true"


async def test_many_at_once_on_two_servers_act_once(store_url: str) -> None:
    async with served(store_url) as one, served(store_url) as two:
        key = await one.key("operator")
        async with one.client(key, **KEY) as first, two.client(key, **KEY) as second:
            asked = [client.post("/api/drafts", json=CALLS) for client in (first, second) * 6]
            answers = await asyncio.gather(*asked)
            ids = {each.json()["id"] for each in answers if each.status_code == 201}
            assert len(ids) == 1 and {each.status_code for each in answers} <= {201, 409}


async def test_what_was_refused_gives_its_key_back(store_url: str) -> None:
    async with served(store_url) as one, served(store_url) as two:
        key = await one.key("operator")
        async with one.client(key, **KEY) as first, two.client(key, **KEY) as second:
            assert (await first.post("/api/drafts", json={})).status_code == 422
            assert (await second.post("/api/drafts", json=CALLS)).status_code == 201


async def test_a_claim_left_by_a_killed_server_is_over_after_a_while_and_taken_once(store_url: str) -> None:
    async with served(store_url) as found:
        book, now = found.perdure.runtime.store.answers, found.perdure.runtime.sources.now
        key = await found.key("operator")
        name = ("default", "operator-person", "k")
        async with found.client(key, **KEY) as client:
            fresh = now() - (CLAIM_SECONDS - 5) * SECOND
            assert await book.claim(*name, Claim(b"", b"killed", fresh, 0)) is None
            assert (await client.post("/api/drafts", json=CALLS)).status_code == 409
            assert await book.renew(*name, b"killed", now() - CLAIM_SECONDS * SECOND)
            assert (await client.post("/api/drafts", json=CALLS)).status_code == 201


async def test_who_was_thought_dead_neither_keeps_nor_gives_back_what_another_took_over(store_url: str) -> None:
    async with served(store_url) as found:
        book, name = found.perdure.runtime.store.answers, ("default", "ana", "k")
        now = found.perdure.runtime.sources.now()  # what is older than that is being forgotten meanwhile
        assert await book.claim(*name, Claim(b"asked", b"slow", now + 10, now)) is None
        assert await book.claim(*name, Claim(b"asked", b"next", now + 20, now + 9)) == "running"
        claims = [Claim(b"asked", b"%d" % number, now + 20, now + 10) for number in range(4)]
        taken = await asyncio.gather(*(book.claim(*name, claim) for claim in claims))
        assert sorted(map(str, taken)) == ["None", "running", "running", "running"]
        owner = b"%d" % taken.index(None)
        assert await book.find(*name) is None, "a claim is no answer"
        assert not await book.renew(*name, b"slow", now + 30)
        await book.release(*name, b"slow")
        assert not await book.settle(*name, b"slow", Answered(b"asked", 201, b"late", now + 30))
        theirs = Answered(b"asked", 201, b"theirs", now + 31)
        assert await book.settle(*name, owner, theirs)
        assert await book.find(*name) == theirs
        assert await book.claim(*name, Claim(b"asked", b"more", 10**17, 10**16)) == theirs


async def test_a_long_act_keeps_its_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(monkeypatch)
    async with sandbox_server.served() as server:
        book, name = server.sandbox.runtime.store.answers, ("default", "olga", "k")
        body = {"calls": [{"verb": "w.ask", "name": "a", "args": {"case": "C"}}]}
        asked = asyncio.ensure_future(server.of("olga").post("/api/drafts", body, 201, headers=KEY))
        await beside.has_begun.wait()
        renew, is_renewed = book.renew, asyncio.Event()

        async def told(*args: Any) -> bool:
            is_ours = await renew(*args)
            is_renewed.set()
            return is_ours

        monkeypatch.setattr(book, "renew", told)
        for _ in range(5):
            is_renewed.clear()
            await server.sandbox.advance(f"PT{CLAIM_SECONDS - 1}S")
            await is_renewed.wait()
            now = server.sandbox.runtime.sources.now()
            assert await book.claim(*name, Claim(b"", b"other", now, now - CLAIM_SECONDS * SECOND)) == "running"
        beside.may_end.set()
        assert (await asked)["id"]
