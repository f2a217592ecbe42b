"""Units on either store: what is committed is there, what conflicts is told why and harms nobody else."""

from __future__ import annotations

import asyncio
import time

import pytest

from perdure.errors import PerdureError
from perdure.journal import Notice, ParkedRow, Rows
from perdure.journal.facts import fact_notice
from perdure.kernel.ports import Attachments, Conflict, EntityWrite, Grounds, Unit
from perdure.store.sqlite.driver import WORTH_A_COMMIT
from tests.conformance.stores import (
    TENANT,
    Raw,
    hash_of,
    id_of,
    lone,
    message,
    opened,
    store_over,
    tombstone,
    unit_of,
)  # fmt: skip


def waiting(key: str, step: int = 1, token: int = 1, status: int = 0) -> ParkedRow:
    return ParkedRow(step, token, "answer", key, status, 7)


def entity(expected: int, key: str = "allianz", data: bytes = b"{}") -> EntityWrite:
    return EntityWrite("client", key, expected, data, False, "ann")


@pytest.mark.parametrize("kind", ["runbook", "instance"])
async def test_payloads_are_there_once_they_are_committed_and_gone_once_they_are_erased(
    store_url: str, kind: str
) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        first, second = unit_of("a", payloads=[(hash_of(b"data"), b"data")]), tombstone("a", 1)
        first.kind = second.kind = kind
        assert await store.commit(first) is None
        assert await store.payload(id_of("a"), hash_of(b"data")) == b"data"
        assert await store.commit(second) is None
        assert await store.payload(id_of("a"), hash_of(b"data")) is None


async def test_what_was_committed_is_read_back_whole(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        unit = unit_of("a", state=b"\x00\xff state", payloads=[(hash_of(b"data"), b"data")])
        assert await driver.commit(unit) is None
        assert await driver.commit(unit_of("a", 1, state=b"next")) is None
        loaded = await store.load(id_of("a"))
        assert loaded is not None
        assert (loaded.tenant, loaded.kind, loaded.version, loaded.state) == (TENANT, "runbook", 2, b"next")
        assert [record.sequence for record in await store.records(id_of("a"))] == [1, 2]
        assert await store.records(id_of("a"), after=0, most=1) == unit.records
        assert await store.payload(id_of("a"), hash_of(b"data")) == b"data"
        assert await store.load(id_of("b")) is None


async def test_a_unit_decided_on_an_old_version_is_refused_and_changes_nothing(store_url: str) -> None:
    async with opened(store_url, 2) as (first, second):
        await first.commit(unit_of("a"))
        assert await first.commit(unit_of("a", 1, state=b"first")) is None
        assert await second.commit(unit_of("a", 1, state=b"second", mark="late")) == Conflict("version")
        assert await second.commit(unit_of("a", 0, mark="again")) == Conflict("version")
        assert await second.commit(unit_of("b", 3)) == Conflict("version")
        loaded = await store_over(second).load(id_of("a"))
        assert loaded is not None and loaded.state == b"first"


async def test_one_of_eight_starts_under_one_key_wins_and_the_others_learn_who(store_url: str) -> None:
    async with opened(store_url, 2) as drivers:
        starts = [unit_of(label, idempotency=("key", b"asked")) for label in range(8)]
        verdicts = await asyncio.gather(*(drivers[n % 2].commit(start) for n, start in enumerate(starts)))
        winners = [start.id for start, verdict in zip(starts, verdicts, strict=True) if verdict is None]
        assert len(winners) == 1
        assert [verdict for verdict in verdicts if verdict] == [Conflict("idempotency", "key", winners[0])] * 7
        assert await store_over(drivers[0]).idempotent_start(TENANT, "key") == (winners[0], b"asked")
        assert await drivers[0].fetch("count_aggregates") == [(1,)]


async def test_two_processes_starting_the_same_aggregate_leave_one_start(store_url: str) -> None:
    async with opened(store_url, 2) as drivers:
        for label in range(20):
            units = [unit_of(label, state=mark.encode(), mark=mark) for mark in ("one", "two")]
            verdicts = await asyncio.gather(*(d.commit(unit) for d, unit in zip(drivers, units, strict=True)))
            assert sorted(map(str, verdicts)) == sorted(map(str, [None, Conflict("version")]))
            winner = units[verdicts.index(None)]
            loaded = await store_over(drivers[0]).load(id_of(label))
            assert loaded is not None and loaded.state == winner.state
            assert await store_over(drivers[0]).records(id_of(label)) == winner.records


async def test_a_message_arriving_twice_is_taken_once(store_url: str) -> None:
    async with opened(store_url, 2) as (first, second):
        units = [unit_of("a", inbox=message("m", "a")), unit_of("b", inbox=message("m", "b")), lone(message("m"))]
        verdicts = await asyncio.gather(first.commit(units[0]), second.commit(units[1]), second.commit(units[2]))
        assert verdicts.count(None) == 1
        taken = units[verdicts.index(None)]
        assert [each for each in verdicts if each] == [Conflict("inbox", "m", taken.id, "applied")] * 2
        found = await store_over(first).message(TENANT, "m")
        assert found is not None and found.aggregate == taken.id


async def test_a_message_folded_twice_into_one_unit_is_a_conflict_of_that_unit_alone(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        folded = unit_of("a", inbox=message("m", "a"))
        folded.attachments.append(Attachments(inbox=message("m", "a", at=2)))
        verdicts = await asyncio.gather(driver.commit(folded), driver.commit(unit_of("b")))
        assert verdicts == [Conflict("inbox", "m", id_of("a")), None]
        assert await store_over(driver).message(TENANT, "m") is None


async def test_a_key_is_unique_among_waiting_tokens_and_free_again_afterwards(store_url: str) -> None:
    async with opened(store_url, 2) as (first, second):
        parked, resolved = Rows((waiting("k"),)), Rows((waiting("k", status=1),))
        assert await first.commit(unit_of("a", after=parked)) is None
        assert await second.commit(unit_of("b", after=parked)) == Conflict("key", "k", id_of("a"))
        assert await first.commit(unit_of("a", 1, before=parked, after=resolved)) is None
        assert await second.commit(unit_of("b", after=parked)) is None
        found = await store_over(first).find_tokens(TENANT, "k")
        assert [(each.aggregate, each.status) for each in found] == [(id_of("b"), 0), (id_of("a"), 1)]


async def test_a_token_may_take_the_key_another_of_its_aggregate_frees_in_the_same_unit(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        before = Rows((waiting("k", step=2),))
        after = Rows((waiting("k", step=1), waiting("k", step=2, status=1)))
        assert await driver.commit(unit_of("a", after=before)) is None
        assert await driver.commit(unit_of("a", 1, before=before, after=after)) is None
        found = await store_over(driver).find_tokens(TENANT, "k")
        assert [(each.step, each.status) for each in found] == [(1, 0), (2, 1)]


async def test_an_entity_read_at_an_old_version_cannot_be_written(store_url: str) -> None:
    async with opened(store_url, 2) as (first, second):
        assert await first.commit(unit_of("a", entities=[entity(0)])) is None
        assert await second.commit(unit_of("b", entities=[entity(0)])) == Conflict("entity", "client/allianz")
        results = await asyncio.gather(
            first.commit(unit_of("c", entities=[entity(1, data=b"1")])),
            second.commit(unit_of("d", entities=[entity(1, data=b"2")])),
        )
        assert sorted(map(str, results)) == sorted(map(str, [None, Conflict("entity", "client/allianz")]))
        parameters = {"tenant": TENANT, "entity": "client", "key": "allianz"}
        ((version, _, data, hash),) = await first.fetch("read_entity", **parameters)
        assert (version, data, hash) == (2, (b"1", b"2")[results.index(None)], hash_of(data))
        assert [row[0] for row in await first.fetch("entity_history", **parameters, after=0, most=9)] == [1, 2]


async def test_units_that_conflict_do_not_fail_those_committed_with_them(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        await driver.commit(unit_of("old", idempotency=("key", b""), inbox=message("m"), entities=[entity(0)]))
        units = [
            unit_of("one"), unit_of("old", 0), unit_of("two", idempotency=("key", b"")),
            unit_of("three", inbox=message("m")), unit_of("four", entities=[entity(0)]), unit_of("five"),
        ]  # fmt: skip
        before = driver.commits
        verdicts = await asyncio.gather(*map(driver.commit, units))
        assert [verdict and verdict.what for verdict in verdicts] == [
            None, "version", "idempotency", "inbox", "entity", None,
        ]  # fmt: skip
        assert driver.commits == before + 1


async def test_of_units_for_one_aggregate_in_one_batch_the_first_that_saw_its_version_is_written(
    store_url: str,
) -> None:
    async with opened(store_url) as (driver,):
        await driver.commit(unit_of("a"))
        waiting_call = Rows((waiting("k"),))
        units = [
            unit_of("a", 0, mark="too old"), unit_of("a", 2, mark="too new"), unit_of("a", 1, mark="right"),
            unit_of("a", 1, mark="too late"), unit_of("a", 1, mark="with a key", after=waiting_call), unit_of("b"),
            unit_of("c", 1), unit_of("d", after=waiting_call),
        ]  # fmt: skip
        version = Conflict("version")
        assert await asyncio.gather(*map(driver.commit, units)) == [
            version, version, None, version, version, None, version, None,
        ]  # fmt: skip
        rows = await driver.fetch("read_records", aggregate=id_of("a"), after=1, most=10)
        assert [(sequence, bytes(body)) for sequence, body, _ in rows] == [(2, b"a/2/right")]


async def test_a_unit_that_changes_nothing_leaves_its_version_to_the_next(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        await driver.commit(unit_of("a"))
        await driver.commit(lone(message("m", "a", status=0)))
        arrival = Unit(TENANT, id_of("a"), "runbook", 1, 1, attachments=[Attachments(settles=(TENANT, "m"))])
        assert await asyncio.gather(*map(driver.commit, [arrival, unit_of("a", 1)])) == [None, None]


async def test_many_units_are_written_while_others_are_still_being_decided(sqlite_url: str) -> None:
    async with opened(sqlite_url) as (driver,):
        before = driver.commits
        commits = [driver.commit(unit_of(label)) for label in range(WORTH_A_COMMIT + 1)]
        assert await asyncio.gather(*commits) == [None] * len(commits)
        assert driver.commits == before + 2


async def test_a_batch_that_is_ready_is_written_while_the_loop_is_busy_with_something_else(sqlite_url: str) -> None:
    async with opened(sqlite_url) as (driver,):
        before, patience = driver.commits, time.monotonic() + 60
        commits = [driver.commit(unit_of(label)) for label in range(WORTH_A_COMMIT * 2)]
        while driver.commits < before + 2:
            assert time.monotonic() < patience, "the second batch waits for the loop"
        with Raw(sqlite_url) as raw:
            assert raw("SELECT count(*) FROM journal") == [(len(commits),)]
        assert await asyncio.gather(*commits) == [None] * len(commits)
        assert await driver.commit(unit_of("next")) is None


async def test_a_unit_that_cannot_be_written_at_all_fails_alone(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        bad = unit_of("bad", idempotency=("\ud800", b""))
        results = await asyncio.gather(
            driver.commit(unit_of("a")), driver.commit(bad), driver.commit(unit_of("b")), return_exceptions=True
        )
        assert results[0] is None and results[2] is None
        assert isinstance(results[1], (PerdureError, UnicodeError))
        assert await driver.fetch("count_aggregates") == [(2,)]


async def test_units_of_one_batch_see_what_those_before_them_took(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        key = Rows((waiting("k"),))
        units = [
            unit_of("a", after=key, entities=[entity(0)]), unit_of("a", mark="twin"), unit_of("a", 1),
            unit_of("b", after=key), unit_of("c", entities=[entity(1)]),
            unit_of("d", entities=[entity(0, "x"), entity(0, "x")]), unit_of("e"),
        ]  # fmt: skip
        verdicts = await asyncio.gather(*map(driver.commit, units))
        assert verdicts == [
            None, Conflict("version"), Conflict("version"), Conflict("key", "k", id_of("a")),
            Conflict("entity", "client/allianz"), Conflict("entity", "client/x"), None,
        ]  # fmt: skip


async def test_a_notice_given_again_is_kept_once_and_does_not_stop_the_unit(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        units = [unit_of("a"), unit_of("a", 1), unit_of("b")]
        for unit in units:
            unit.notices = [Notice("a/told", "told")]
        assert await driver.commit(units[0]) is None
        assert await asyncio.gather(driver.commit(units[1]), driver.commit(units[2])) == [None, None]
        pending = await store_over(driver).pending_messages(0, 10)
        assert [(row[2], row[4]) for row in pending] == [("a/told", id_of("a"))]


def telling(label: str, expected: int, *keys: str) -> Unit:
    """A unit that changes facts, and tells of it."""
    unit = unit_of(label, expected)
    unit.notices = [fact_notice(label, expected, keys)]
    return unit


async def test_a_unit_that_stands_on_facts_is_refused_once_one_of_them_has_changed(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store, keys = store_over(driver), ("record/client/c1", "document/c1/pass%20port")
        for unit in (unit_of("case"), telling("form", 0, "record/client/c10"), telling("paper", 0, keys[1])):
            assert await driver.commit(unit) is None
        heard = await store.fact_news(TENANT, keys)
        assert heard == {"perdure:paper/facts/0"}
        assert await store.fact_news(TENANT, [*keys, *"abcdefg"]) >= heard, "of many keys all news are heard"
        assert await store.fact_news("other", keys) == frozenset()
        deaf, knowing = unit_of("case", 1, grounds=Grounds(keys, frozenset())), Grounds(keys, heard)
        assert await driver.commit(deaf) == Conflict("facts", keys[1])
        assert await driver.commit(unit_of("case", 1, grounds=knowing)) is None
        verdicts = await asyncio.gather(
            driver.commit(telling("record", 0, keys[0])), driver.commit(unit_of("case", 2, grounds=knowing))
        )
        assert verdicts == [None, Conflict("facts", keys[0])], "one before it in the same batch changes it"
        for place, each in enumerate(await store.fact_news(TENANT, keys)):
            await driver.commit(unit_of(f"settling {place}", settles=(TENANT, each)))
        assert await driver.commit(unit_of("case", 2, grounds=Grounds(keys, frozenset()))) is None


async def test_a_settled_message_is_pending_no_more(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        await driver.commit(lone(message("m", "a", status=0)))
        assert len(await store.pending_messages(0, 10)) == 1
        await driver.commit(unit_of("a", settles=(TENANT, "m")))
        assert await store.pending_messages(0, 10) == []


async def test_erasing_removes_data_and_index_and_keeps_history(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        index = [("verb", "client", "allianz")]
        await driver.commit(unit_of("a", payloads=[(hash_of(b"x"), b"x")], index=index))
        assert await store.find(TENANT, "verb", "client", "allianz", 5) == [id_of("a")]
        await driver.commit(tombstone("a", 1))
        assert await store.find(TENANT, "verb", "client", "allianz", 5) == []
        assert await store.payload(id_of("a"), hash_of(b"x")) is None
        assert len(await store.records(id_of("a"))) == 2


async def test_reads_asked_for_together_answer_as_they_would_alone(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        for label in range(10):
            await driver.commit(unit_of(label, after=Rows((waiting(f"k{label % 3}", step=label, status=label and 1),))))
        keys = [f"k{n % 4}" for n in range(12)]
        labels = [n % 12 for n in range(30)]
        alone = [await driver.fetch("load_aggregate", id=id_of(label)) for label in labels]
        found_alone = [await driver.fetch("find_tokens", tenant=TENANT, key=key) for key in keys]
        together = await asyncio.gather(*(driver.fetch("load_aggregate", id=id_of(label)) for label in labels))
        found = await asyncio.gather(*(driver.fetch("find_tokens", tenant=TENANT, key=key) for key in keys))
        assert together == alone and found == found_alone
        assert [len(rows) for rows in alone[:12]] == [1] * 10 + [0] * 2
        assert [len(rows) for rows in found[:4]] == [4, 3, 3, 0]


async def test_a_closed_store_refuses_and_says_so(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        pass
    for ask in (driver.commit(unit_of("a")), driver.fetch("count_aggregates"), driver.write("forget_serves")):
        with pytest.raises(PerdureError, match="closed"):
            await ask


async def test_what_a_commit_answered_is_seen_by_another_connection_at_once(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        with Raw(store_url) as raw:
            for label in range(5):
                await driver.commit(unit_of(label))
                assert raw("SELECT count(*) FROM journal") == [(label + 1,)]


async def test_small_writes_asked_for_together_happen_together_or_not_at_all(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        good, bad = ("put_meta", {"name": "a", "value": "2"}), ("put_meta", {"name": "b", "value": None})
        await driver.write_all([("put_meta", {"name": "a", "value": "1"}), ("put_meta", {"name": "c", "value": "1"})])
        for _ in range(6):
            with pytest.raises(PerdureError):
                await driver.write_all([good, bad])
        found = await asyncio.gather(*(driver.fetch("read_meta", name="a") for _ in range(6)))
        assert found == [[("1",)]] * 6


async def test_data_of_many_megabytes_is_stored_whole(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        data = bytes(range(256)) * 40_000
        commits = [driver.commit(unit_of(label, payloads=[(hash_of(data), data)])) for label in range(4)]
        assert await asyncio.gather(*commits) == [None] * 4
        assert await store_over(driver).payload(id_of(3), hash_of(data)) == data
