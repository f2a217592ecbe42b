"""Connections are lost and servers come back: nothing is done twice, nothing is missed, nothing is seen twice."""

from __future__ import annotations

import asyncio
import json

import pytest

from perdure.client import Client
from perdure.client.asynchronous.transport import Transport
from perdure.client.problem_errors import read_problem
from perdure.client.retry_backoff import Patience
from perdure.client.server_sent_events import PULSE, Reader, SentEvent
from perdure.errors import RejectedError, StoreUnavailableError
from tests.client.lossy_server import House, housed


class Still:
    """A clock that is moved by hand, and chance that never varies."""

    def __init__(self) -> None:
        self.micros = 1_000_000

    def now(self) -> int:
        return self.micros

    def random(self) -> float:
        return 1.0


@pytest.mark.req("P2")
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_connection_lost_around_an_act_never_doubles_it(store_url: str, moment: str) -> None:
    async with housed(store_url) as house, house.client(await house.key("admin")) as client:
        await client.session()
        house.proxy.lose.append(moment)
        call = await client.call("desk.wait", {"who": "ana"})
        house.proxy.lose.append(moment)
        begun = await client.runbooks.start('(desk.wait :who "bo")', case="c", wait=True)
        assert call.waiting_for is not None
        house.proxy.lose.append(moment)
        assert (await client.progress(call.waiting_for.key, "half")).answer == "applied"
        house.proxy.lose.append(moment)
        assert (await client.complete(call.waiting_for.key, {})).answer == "applied"
        house.proxy.lose.append(moment)
        assert (await client.runbooks.cancel(begun.id, "once")).state == "cancelled"
        house.proxy.lose.append(moment)
        assert (await client.status(call.id)).state == "completed"
        assert house.proxy.lose == []
        rows = (await client.listing.runbooks(kind="all")).items
        assert sorted(row.id for row in rows) == sorted([call.id, begun.id])
        entries = [each.entry async for each in client.events(call.id)]
        assert sum("rogress" in each for each in entries) <= 1
        assert [each.entry async for each in client.runbooks.events(begun.id)].count("RunbookCancelled") <= 1
        assert await client.dead_letters() == []


@pytest.mark.req("P2")
async def test_every_act_of_one_request_is_asked_under_one_key(sqlite_url: str) -> None:
    async with housed(sqlite_url) as house, house.client(await house.key("admin")) as client:
        await client.session()
        house.proxy.asked.clear()
        house.proxy.lose += ["after", "after"]
        await client.call("desk.note", {"text": "x"})
        heads = b"".join(house.proxy.asked).lower().split(b"idempotency-key: ")[1:]
        keys = [head.partition(b"\r\n")[0] for head in heads]
        assert len(keys) == 3 and len(set(keys)) == 1


@pytest.mark.req("P2")
async def test_a_stream_goes_on_through_lost_connections_and_a_new_server(store_url: str) -> None:
    async with housed(store_url) as house, house.client(await house.key("admin")) as client:
        seen: list[str] = []
        more = asyncio.Event()
        start = await client.feed.end()

        async def follow() -> None:
            async for items in client.feed.follow(start):
                seen.extend(item.cursor for item in items)
                more.set()

        following = asyncio.ensure_future(follow())
        ids = [(await client.call("desk.wait")).id]
        house.proxy.cut()
        ids.append((await client.call("desk.wait")).id)
        await _restarted(house)
        ids.append((await client.call("desk.note", {"text": "last"})).id)
        page = await client.feed.read(start, 200)
        async with asyncio.timeout(30):
            while len(seen) < len(page.items):
                await more.wait()
                more.clear()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        assert seen == [item.cursor for item in page.items]
        assert {item.id for item in page.items} >= set(ids)


@pytest.mark.req("P2")
async def test_a_journal_is_followed_to_its_end_through_a_new_server(store_url: str) -> None:
    async with housed(store_url) as house, house.client(await house.key("admin")) as client:
        call = await client.call("desk.wait")
        assert call.waiting_for is not None
        found: list[tuple[int, str]] = []

        async def follow() -> None:
            async for event in client.events(call.id, follow=True):
                found.append((event.sequence, event.entry))

        following = asyncio.ensure_future(follow())
        waiting = asyncio.ensure_future(client.wait(call.id))
        await client.progress(call.waiting_for.key, "half")
        await _restarted(house)
        await client.progress(call.waiting_for.key, "nearly")
        house.proxy.cut()
        await client.complete(call.waiting_for.key, {"ok": True})
        async with asyncio.timeout(30):
            await following
            assert (await waiting).state == "completed"
        assert found == [(each.sequence, each.entry) async for each in client.events(call.id)]


@pytest.mark.req("V18")
async def test_outcome_events_are_followed_to_their_end_through_a_new_server(store_url: str) -> None:
    async with housed(store_url) as house, house.client(await house.key("admin")) as client:
        call = await client.call("desk.wait")
        assert call.waiting_for is not None
        found: list[str] = []

        async def follow() -> None:
            async for event in client.outcome_events(call.id, follow=True):
                found.append(event.text)

        following = asyncio.ensure_future(follow())
        await client.progress(call.waiting_for.key, "half")
        await _restarted(house)
        house.proxy.cut()
        await client.complete(call.waiting_for.key, {"ok": True})
        async with asyncio.timeout(30):
            await following
        assert found == [
            "DurableTaskStarted", "Parked(ExternalSignal, Awaiting desk.wait)", "ProgressPosted(half)",
            "Resumed(ExternalSignal, desk.wait)", "ExecutionResult(ok)",
        ]  # fmt: skip
        assert found == [each.text async for each in client.outcome_events(call.id)]


async def _restarted(house: House) -> None:
    house.proxy.cut()
    await house.stop()
    await house.start()


@pytest.mark.req("P2")
async def test_a_server_that_stays_away_is_told_as_a_store_that_cannot_be_reached() -> None:
    transport = Transport("http://127.0.0.1:9", "", 1.0, 0.0)
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        await transport.get(dict, "/overview")
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        async for _ in transport.stream("/events", ""):
            pass
    await transport.close()
    with Client("http://127.0.0.1:9", patience_seconds=0.0) as client, pytest.raises(StoreUnavailableError):
        client.overview()


@pytest.mark.req("P2")
def test_pauses_grow_heed_the_server_and_come_to_an_end() -> None:
    clock = Still()
    patience = Patience(clock, 30.0)  # type: ignore[arg-type]
    pauses = [patience.pause() for _ in range(8)]
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]
    assert patience.pause("7") == 7.0
    assert patience.pause("Wed, 21 Oct 2026 07:28:00 GMT") == 5.0
    clock.micros += 31_000_000
    assert patience.pause() is None
    patience.renew()
    assert patience.pause() == 0.2


@pytest.mark.req("P2")
def test_events_are_whole_however_they_are_cut() -> None:
    text = b'retry: 2000\n\nid: a\n\n: still here\n\nid: b\r\nevent: X\r\ndata: {"n":\r\ndata: 1}\r\n\r\n'
    wanted = [SentEvent("a"), PULSE, SentEvent("b", '{"n":\n1}')]
    for size in (1, 2, 7, len(text)):
        reader = Reader()
        found = [each for at in range(0, len(text), size) for each in reader.read(text[at : at + size])]
        assert found == wanted, size
    assert json.loads(wanted[2].data) == {"n": 1}


@pytest.mark.req("P2")
def test_what_stands_between_may_refuse_in_its_own_words() -> None:
    told = read_problem(403, b"<html>no</html>")
    assert (told.status, told.code) == (403, "") and "403" in told.detail


@pytest.mark.req("P2")
async def test_a_limit_is_waited_for_and_then_kept(sqlite_url: str) -> None:
    async with housed(sqlite_url, rate_per_second=5.0, rate_burst=2.0) as house:
        key = await house.key("admin")
        async with house.client(key) as client:
            found = [(await client.session()).principal for _ in range(4)]
            assert len(found) == 4
        async with house.client(key, patience_seconds=0.0) as hasty:
            with pytest.raises((StoreUnavailableError, RejectedError)):
                for _ in range(10):
                    await hasty.session()


@pytest.mark.req("P6")
async def test_the_blocking_client_asks_the_same(sqlite_url: str) -> None:
    async with housed(sqlite_url) as house:
        key = await house.key("admin")
        await asyncio.to_thread(_block, house.proxy.url, key)


def _block(url: str, key: str) -> None:
    with Client(url, key) as client:
        call = client.call("desk.wait")
        assert call.waiting_for is not None
        start = client.feed.end()
        client.complete(call.waiting_for.key, {})
        assert client.wait(call.id, 10).state == "completed"
        assert [each.entry for each in client.events(call.id, follow=True)]
        assert next(iter(client.feed.follow(start)))[0].id == call.id
