"""The feed tells everything that happens in a tenant once, in the order of commits, from any cursor on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any

import psycopg
import pytest

from perdure.app.feed import journal_tail as tails
from perdure.app.feed.feed import Feed, FeedItem
from perdure.app.perdure import Perdure
from perdure.errors import RejectedError
from tests.conformance.stores import Raw

VERBS = """
- {name: feed.note, version: 1, description: Note something, input_schema: {properties: {n: {type: integer}}},
   execution: {kind: sync, effects: none}}
- {name: feed.wait, version: 1, description: Wait for an answer, input_schema: {properties: {n: {type: integer}}},
   execution: {kind: durable}}
"""


@asynccontextmanager
async def opened(url: str, folder: Any, **options: Any) -> AsyncIterator[Perdure]:
    (folder / "feed.yaml").write_text(VERBS)
    handlers = {"feed.note": lambda call: {"n": call.args.get("n", 0)}}
    async with Perdure.open(url, definitions=folder / "feed.yaml", handlers=handlers, **options) as perdure:
        yield perdure


async def take(feed: Feed, count: int, after: str | None) -> list[FeedItem]:
    """The first so many items after a cursor, as a follower gets them."""
    found: list[FeedItem] = []
    follower = feed.follow(after)
    async with asyncio.timeout(30):
        async for batch in follower:
            found.extend(batch)
            if len(found) >= count:
                break
    await follower.aclose()  # type: ignore[attr-defined]
    return found[:count]


async def everything(feed: Feed) -> list[FeedItem]:
    found: list[FeedItem] = []
    page = await feed.read(limit=7)
    while page.items:
        found.extend(page.items)
        page = await feed.read(page.next, limit=7)
    return found


def keys(items: list[FeedItem]) -> list[tuple[str, int, str]]:
    return [(each.id, each.sequence, each.entry) for each in items]


@pytest.mark.req("P2")
async def test_a_follower_is_told_what_happens_after_it_began(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as perdure:
        before = await perdure.call("feed.note", {"n": 1})
        start = await perdure.feed.end()
        following = asyncio.create_task(take(perdure.feed, 2, start))
        call = await perdure.call("feed.wait", {"n": 2})
        items = await following
        assert {each.id for each in items} == {call.id} and before.id != call.id
        assert {each.state for each in items} == {"parked"}
        assert items[0].entry == "CallStarted" and items[0].kind == "runbook" and items[0].sequence == 1
        assert items[0].at is not None and items[0].at >= (call.started_at or "")


@pytest.mark.req("P2")
async def test_a_follower_that_reconnects_at_every_item_sees_each_once(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as perdure:
        start = await perdure.feed.end()
        calling = asyncio.gather(*(perdure.call("feed.wait", {"n": n}) for n in range(20)))
        seen: list[FeedItem] = []
        cursor = start
        while len(seen) < 40:
            seen.extend(await take(perdure.feed, 1, cursor))
            cursor = seen[-1].cursor
        await calling
        whole = await everything(perdure.feed)
        assert keys(seen) == keys(whole)[: len(seen)]
        assert len({each.cursor for each in whole}) == len(whole) == len(set(keys(whole)))


@pytest.mark.req("P2")
async def test_pages_and_followers_tell_the_same(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as perdure:
        start = await perdure.feed.end()
        for n in range(15):
            await perdure.call("feed.wait" if n % 2 else "feed.note", {"n": n})
        whole = await everything(perdure.feed)
        assert keys(await take(perdure.feed, len(whole), start)) == keys(whole)
        for place in range(0, len(whole), 5):
            rest = keys(whole)[place + 1 :]
            assert not rest or keys(await take(perdure.feed, len(rest), whole[place].cursor)) == rest


@pytest.mark.req("P2")
async def test_a_slow_follower_reads_the_store_and_misses_nothing(
    store_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "KEPT_ITEMS", 4)
    monkeypatch.setattr(tails, "KEPT_ROUNDS", 2)
    async with opened(store_url, tmp_path) as perdure:
        slow, quick = perdure.feed.follow(), perdure.feed.follow(pulse_seconds=0.001)
        first = asyncio.ensure_future(anext(slow))
        assert await anext(quick) == []
        seen: list[FeedItem] = []
        for n in range(12):
            await perdure.call("feed.note", {"n": n})
            while len(seen) < 2 * (n + 1):
                seen.extend(await anext(quick))
        late = await first
        while len(late) < len(seen):
            late += await anext(slow)
        assert keys(late) == keys(seen) == keys(await everything(perdure.feed))
        assert len(perdure.runtime.tail._rounds) <= 2
        await slow.aclose()  # type: ignore[attr-defined]
        await quick.aclose()  # type: ignore[attr-defined]


@pytest.mark.req("V31")
async def test_a_tenant_follows_its_own_alone(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as perdure:
        other = perdure.acting(tenant="other")
        start, foreign = await perdure.feed.end(), await other.feed.end()
        following = [
            asyncio.create_task(take(each, 6, at)) for each, at in ((perdure.feed, start), (other.feed, foreign))
        ]
        mine = [await perdure.call("feed.note", {"n": n}) for n in range(3)]
        theirs = [await other.call("feed.note", {"n": n}) for n in range(3)]
        own, others = await asyncio.gather(*following)
        assert {each.id for each in own} == {each.id for each in mine}
        assert {each.id for each in others} == {each.id for each in theirs}
        assert {each.id for each in await everything(other.feed)} == {each.id for each in theirs}


@pytest.mark.req("V31")
async def test_a_cursor_of_another_tenant_or_made_up_is_refused(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as perdure:
        await perdure.call("feed.note", {"n": 1})
        cursor = (await perdure.feed.read()).items[0].cursor
        for bad in (
            await perdure.acting(tenant="other").feed.end(),
            "",
            "x",
            "é",
            cursor[:-2],
            "A" * 5000,
            cursor + "A",
        ):
            with pytest.raises(RejectedError, match="leads nowhere"):
                await perdure.feed.read(bad)
            with pytest.raises(RejectedError, match="leads nowhere"):
                await anext(perdure.feed.follow(bad))


@pytest.mark.req("P2")
async def test_a_cursor_from_after_the_end_of_a_restored_store_is_refused(tmp_path: Any) -> None:
    async with opened(f"sqlite:///{tmp_path}/one.db", tmp_path) as perdure:
        for n in range(3):
            await perdure.call("feed.note", {"n": n})
        cursor = await perdure.feed.end()
    async with opened(f"sqlite:///{tmp_path}/two.db", tmp_path) as perdure:
        await perdure.call("feed.note", {"n": 0})
        with pytest.raises(RejectedError, match="has not come so far"):
            await anext(perdure.feed.follow(cursor))


@pytest.mark.req("P2")
async def test_what_another_process_commits_is_told_as_well(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as one, opened(store_url, tmp_path) as two:
        following = asyncio.create_task(take(one.feed, 2, await one.feed.end()))
        call = await two.call("feed.note", {"n": 5})
        assert {each.id for each in await following} == {call.id}


@pytest.mark.req("P2")
async def test_a_record_whose_earlier_place_commits_later_is_not_skipped(postgres_url: str, tmp_path: Any) -> None:
    """A transaction takes its place in the journal, another one overtakes it, and only then the first commits."""
    async with opened(postgres_url, tmp_path) as perdure:
        template = await perdure.call("feed.note", {"n": 0})
        start = await perdure.feed.end()
        with psycopg.connect(postgres_url) as late:
            late.execute(
                "INSERT INTO journal (aggregate, sequence, body, hash) "
                "SELECT aggregate, 100, body, hash FROM journal ORDER BY xact DESC, position DESC LIMIT 1"
            )
            overtaking = await perdure.call("feed.note", {"n": 1})
            assert (await perdure.feed.read(start)).items == []
            follower = perdure.feed.follow(start, pulse_seconds=0.2)
            assert await anext(follower) == []
            late.commit()
        found: list[FeedItem] = []
        async with asyncio.timeout(30):
            while len(found) < 2:
                found.extend(await anext(follower))
        await follower.aclose()  # type: ignore[attr-defined]
        assert [(each.id, each.sequence) for each in islice(found, 1)] == [(template.id, 100)]
        assert {each.id for each in found} == {template.id, overtaking.id}
        assert keys((await perdure.feed.read(start)).items)[: len(found)] == keys(found)


@pytest.mark.req("P2")
async def test_two_processes_writing_at_once_are_followed_without_gap_or_repetition(
    store_url: str, tmp_path: Any
) -> None:
    async with opened(store_url, tmp_path) as one, opened(store_url, tmp_path) as two:
        start = await one.feed.end()
        following = asyncio.create_task(take(one.feed, 240, start))
        await asyncio.gather(
            *(each.call("feed.wait" if n % 3 else "feed.note", {"n": n}) for n in range(60) for each in (one, two))
        )
        seen = await following
        whole = keys(await everything(two.feed))
        assert keys(seen) == whole[: len(seen)]
        assert len(set(whole)) == len(whole)


async def test_nothing_is_read_when_nobody_follows_and_little_when_many_do(sqlite_url: str, tmp_path: Any) -> None:
    async with opened(sqlite_url, tmp_path) as perdure:
        tail = perdure.runtime.tail
        assert tail._reading is None
        followers = [asyncio.ensure_future(take(perdure.feed, 2, None)) for _ in range(200)]
        while tail.followers < 200:
            await asyncio.sleep(0)
        await perdure.call("feed.note", {"n": 1})
        told = await asyncio.gather(*followers)
        assert all(each == told[0] for each in told)
        assert all(mine is first for each in told for mine, first in zip(each, told[0], strict=True)), (
            "one copy for all"
        )
        assert tail._reading is None and tail.followers == 0


async def test_followers_end_when_the_store_is_closed(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as perdure:
        follower = perdure.feed.follow()
        waiting = asyncio.ensure_future(anext(follower, "over"))
        while not perdure.runtime.tail.followers:
            await asyncio.sleep(0)
    assert await waiting == "over"


async def test_a_damaged_record_is_told_as_unreadable_and_hides_no_other(sqlite_url: str, tmp_path: Any) -> None:
    async with opened(sqlite_url, tmp_path) as perdure:
        for n in range(2):
            await perdure.call("feed.note", {"n": n})
        with Raw(sqlite_url) as raw:
            first = "SELECT min(position) FROM journal WHERE aggregate IN (SELECT id FROM aggregate)"
            raw(f"UPDATE journal SET body = x'c1' WHERE position = ({first})")
        items = await everything(perdure.feed)
        assert items[0].entry == "Unreadable" and items[-1].entry != "Unreadable"
