"""A row that is not there is damage: data without a tombstone, and a history that is not as long as its head says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import pytest

from perdure import Perdure
from perdure.app.calls.call_journal import as_of, read
from perdure.app.compliance_export import export_document
from perdure.app.runbooks.timeline import timeline_of
from perdure.errors import PayloadIntegrityError, QuarantinedError
from perdure.journal import link
from perdure.sources import parse_id
from perdure.store.audit import verify
from tests.conformance.stores import Raw
from tests.depth import sampled
from tests.durability.platform import opened, plain_driver

Read = Callable[[Perdure, str], Awaitable[Any]]


async def completed(url: str) -> str:
    """The id of a call with three records and a result, in a store that nobody has open."""
    async with opened(plain_driver(url), role="caller") as perdure:
        view = await perdure.call("t.wait")
        assert view.waiting_for is not None
        await perdure.progress(view.waiting_for.key, "half")
        await perdure.complete(view.id, {"done": 1})
        return view.id


def without(url: str, table: str, id: str, condition: str = "1 = 1") -> None:
    with Raw(url) as raw:
        raw(f"DELETE FROM {table} WHERE aggregate = ? AND {condition}", parse_id(id))


@pytest.mark.req("V8")
@pytest.mark.parametrize("rows", ["all of them", "one of them"])
async def test_data_that_is_not_there_is_damage_and_never_null(store_url: str, rows: str) -> None:
    id = await completed(store_url)
    newest = "number = (SELECT max(number) FROM payload)"
    without(store_url, "payload", id, "1 = 1" if rows == "all of them" else newest)
    async with opened(plain_driver(store_url), role="reader") as perdure:
        view = await perdure.status(id)
        assert (view.state, view.result, view.args) == ("quarantined", None, None)
        assert view.error is not None and view.error.code == "payload.damaged"
        assert "the payload differs: expected sha256:" in view.error.message and "actual no row" in view.error.message
        hash = (await read(perdure.runtime, perdure._origin, id)).state.steps[0].result
        with pytest.raises(PayloadIntegrityError, match="actual no row"):
            await perdure.runtime.store.payload(parse_id(id), hash)


@pytest.mark.req("P7")
async def test_data_that_a_tombstone_erased_is_null_and_no_damage(store_url: str) -> None:
    id = await completed(store_url)
    async with opened(plain_driver(store_url), role="caller") as perdure:
        await perdure.erase(id, "the client asked for it")
    async with opened(plain_driver(store_url), role="reader") as perdure:
        view = await perdure.status(id)
        assert (view.state, view.result) == ("completed", None) and view.erased_at is not None
        hash = (await read(perdure.runtime, perdure._origin, id)).state.steps[0].result
        assert await perdure.runtime.store.payload(parse_id(id), hash) is None
        assert await perdure.runtime.store.quarantined() == []


async def _events(perdure: Perdure, id: str) -> list[int]:
    return [event.sequence async for event in perdure.events(id)]


async def _late_events(perdure: Perdure, id: str) -> list[int]:
    return [event.sequence async for event in perdure.events(id, after=2)]


async def _as_of(perdure: Perdure, id: str) -> Any:
    return await as_of(perdure.runtime, await read(perdure.runtime, perdure._origin, id), 1)


async def _export(perdure: Perdure, id: str) -> bytes:
    return await export_document(perdure, id, {})


READS: dict[str, Read] = {
    "events": _events, "events after a record": _late_events, "timeline": timeline_of, "as of a record": _as_of,
    "export": _export,
}  # fmt: skip
CUTS = {
    "the end is cut off": ["DELETE FROM journal WHERE sequence = 3"],
    "all of it is gone": ["DELETE FROM journal"],
    "the middle is missing": ["DELETE FROM journal WHERE sequence = 2"],
    "the middle is renumbered": [
        "UPDATE journal SET sequence = 14 WHERE sequence = 3", "UPDATE journal SET sequence = 13 WHERE sequence = 2",
        "UPDATE journal SET sequence = sequence - 10 WHERE sequence > 10",
    ],
    "the numbers leave one out": ["UPDATE journal SET sequence = 4 WHERE sequence = 3"],
}  # fmt: skip


@pytest.mark.req("P7")
@pytest.mark.parametrize("harm", sampled(product(CUTS, READS), 7), ids=", read by ".join)
async def test_a_history_is_checked_against_its_head_and_its_numbers(store_url: str, harm: tuple[str, str]) -> None:
    cut, reading = harm
    id = await completed(store_url)
    with Raw(store_url) as raw:
        for statement in CUTS[cut]:
            raw(statement)
    async with opened(plain_driver(store_url), role="reader") as perdure:
        with pytest.raises(QuarantinedError, match=f"journal '{id}'"):
            await READS[reading](perdure, id)
        assert [(bytes(row[0]), row[1]) for row in await perdure.runtime.store.quarantined()] == [
            (parse_id(id), "journal")
        ]
        assert (await perdure.status(id)).state == "quarantined"


@pytest.mark.req("P7")
async def test_a_record_that_follows_the_head_is_invented(store_url: str) -> None:
    id = await completed(store_url)
    with Raw(store_url) as raw:
        ((previous, body),) = raw("SELECT hash, body FROM journal WHERE sequence = 3")
        forged = link(bytes(previous), bytes(body))
        raw(
            "INSERT INTO journal (aggregate, sequence, body, hash) VALUES (?, ?, ?, ?)",
            parse_id(id), 4, bytes(body), forged,
        )  # fmt: skip
    async with opened(plain_driver(store_url), role="reader") as perdure:
        with pytest.raises(QuarantinedError, match="record 4 follows its head, which is record 3"):
            await _events(perdure, id)


@pytest.mark.req("P7")
async def test_a_whole_history_is_read_from_anywhere(store_url: str) -> None:
    id = await completed(store_url)
    async with opened(plain_driver(store_url), role="reader") as perdure:
        assert [*dict.fromkeys(await _events(perdure, id))] == [1, 2, 3]
        assert [*dict.fromkeys(await _late_events(perdure, id))] == [3]
        assert [event async for event in perdure.events(id, after=3)] == []
        report = await verify(perdure.runtime.store, perdure.runtime.machines, {})
        assert report.findings == []
