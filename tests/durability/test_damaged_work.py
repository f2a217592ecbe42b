"""Damaged work is seen everywhere, and there is a way on: restore, amend with a second person, cancel."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import PayloadIntegrityError, RejectedError
from perdure.sources import parse_id
from perdure.store.audit import verify
from tests.conformance.stores import Raw
from tests.durability.platform import opened, plain_driver
from tests.durability.test_integrity import change_byte

pytestmark = pytest.mark.req("V8")


async def ended(url: str, count: int = 1) -> list[str]:
    """Completed calls in a store that nobody has open."""
    async with opened(plain_driver(url), role="caller") as perdure:
        ids = [(await perdure.call("t.wait")).id for _ in range(count)]
        for number, id in enumerate(ids):
            await perdure.complete(id, {"done": number})
        return ids


def stored(url: str, id: str) -> list[tuple[Any, ...]]:
    with Raw(url) as raw:
        return raw("SELECT number, stored FROM payload WHERE aggregate = ? ORDER BY number", parse_id(id))


async def audited(perdure: Perdure) -> list[str]:
    report = await verify(perdure.runtime.store, perdure.runtime.machines, {})
    return [finding.code for finding in report.findings]


def damage_result(url: str, id: str) -> tuple[Any, ...]:
    """Change the last payload of a call; returns the row as it was."""
    row = stored(url, id)[-1]
    with Raw(url) as raw:
        raw("UPDATE payload SET stored = ? WHERE number = ?", b'{"done":9}', row[0])
    return row


async def test_damage_is_seen_in_status_lists_incidents_overview_and_metrics(store_url: str) -> None:
    damaged, sound = await ended(store_url, 2)
    damage_result(store_url, damaged)
    async with opened(plain_driver(store_url), role="caller") as perdure:
        perdure.runtime.measure()
        assert b"perdure_quarantined 0.0" in await perdure.runtime.scrape()
        view = await perdure.status(damaged)
        assert (view.state, view.result, view.verb) == ("quarantined", None, "t.wait")
        assert view.error is not None and view.error.code == "payload.damaged"
        assert "expected sha256:" in view.error.message and "actual sha256:" in view.error.message
        assert (await perdure.wait(damaged, 1)).state == "quarantined"
        calls = {each.id: each.state for each in (await perdure.listing.calls()).items}
        assert calls == {damaged: "quarantined", sound: "completed"}
        only = await perdure.listing.calls(state="quarantined")
        assert [(each.id, each.verb) for each in only.items] == [(damaged, "t.wait")]
        assert (await perdure.listing.runbooks(state="quarantined", kind="runbooks")).items == []
        incidents = (await perdure.listing.incidents()).items
        assert [(each.id, each.code, each.state) for each in incidents] == [(damaged, "payload.damaged", "quarantined")]
        assert [each.id for each in await perdure.incidents()] == [damaged]
        assert (await perdure.overview()).stuck.quarantined == 1
    async with opened(plain_driver(store_url), role="caller") as perdure:
        perdure.runtime.measure()
        assert b"perdure_quarantined 1.0" in await perdure.runtime.scrape()
        calls = {each.id: each.state for each in (await perdure.listing.calls()).items}
        assert calls == {damaged: "quarantined", sound: "completed"}


@pytest.mark.parametrize(("table", "column"), [("aggregate", "state"), ("journal", "body")])
async def test_damage_of_a_state_or_a_history_is_seen_in_the_same_places(
    store_url: str, table: str, column: str
) -> None:
    damaged, sound = await ended(store_url, 2)
    change_byte(store_url, table, column, damaged)
    async with opened(plain_driver(store_url), role="caller") as perdure:
        assert await audited(perdure) != []
        assert (await perdure.status(damaged)).state == "quarantined"
        calls = {each.id: each.state for each in (await perdure.listing.calls()).items}
        assert calls == {damaged: "quarantined", sound: "completed"}
        incidents = (await perdure.listing.incidents()).items
        assert [(each.id, each.code, each.state) for each in incidents] == [
            (damaged, "store.quarantined", "quarantined")
        ]
        assert (await perdure.overview()).stuck.quarantined == 1


async def test_the_result_alone_is_refused_where_it_is_damaged(store_url: str) -> None:
    async with opened(plain_driver(store_url), role="caller") as perdure:
        done = await perdure.call("t.none", idempotency_key="once")
    damage_result(store_url, done.id)
    async with opened(plain_driver(store_url), role="caller") as perdure:
        with pytest.raises(PayloadIntegrityError, match="the payload hash differs"):
            await perdure.result("t.none", idempotency_key="once")


async def test_restored_bytes_end_the_quarantine_at_the_next_audit(store_url: str) -> None:
    (id,) = await ended(store_url)
    number, before = damage_result(store_url, id)
    async with opened(plain_driver(store_url), role="caller") as perdure:
        assert (await perdure.status(id)).state == "quarantined"
        assert await audited(perdure) == ["AUD010"]
        assert (await perdure.status(id)).state == "quarantined"
        with Raw(store_url) as raw:
            raw("UPDATE payload SET stored = ? WHERE number = ?", bytes(before), number)
        assert await audited(perdure) == []
        view = await perdure.status(id)
        assert (view.state, view.result, view.error) == ("completed", {"done": 0}, None)
        assert (await perdure.listing.incidents()).items == []


@pytest.mark.parametrize("is_gone", [False, True])
async def test_an_amendment_by_two_people_ends_the_quarantine(store_url: str, is_gone: bool) -> None:
    (id,) = await ended(store_url)
    damage_result(store_url, id)
    if is_gone:
        with Raw(store_url) as raw:
            raw("DELETE FROM payload WHERE number = ?", stored(store_url, id)[-1][0])
    async with opened(plain_driver(store_url), role="caller") as perdure:
        ada, bert = perdure.acting(principal="ada"), perdure.acting(principal="bert")
        assert (await ada.status(id)).state == "quarantined"
        proposed = await ada.amend(id, {"done": 7}, reason="as the paper file says", target="result")
        assert proposed.state == "quarantined"
        with pytest.raises(RejectedError):
            await ada.amend(id, approve=1)
        assert (await ada.status(id)).state == "quarantined"
        view = await bert.amend(id, approve=1)
        assert (view.state, view.result, view.error) == ("completed", {"done": 7}, None)
        assert (await perdure.status(id)).state == "completed"
        assert await audited(perdure) == []
        assert await perdure.runtime.store.quarantined() == []


async def test_damaged_work_can_be_cancelled_and_its_data_erased(store_url: str) -> None:
    async with opened(plain_driver(store_url), role="caller") as perdure:
        id = (await perdure.call("t.wait")).id
    damage_result(store_url, id)
    async with opened(plain_driver(store_url), role="caller") as perdure:
        cancelled = await perdure.cancel(id, "its data is damaged")
        assert (cancelled.state, cancelled.ended_at is not None) == ("quarantined", True)
        assert (await perdure.parked()) == []
        erased = await perdure.erase(id, "it could not be restored")
        assert (erased.state, erased.error) == ("cancelled", None)
        assert await audited(perdure) == []
        assert (await perdure.listing.incidents()).items == []
