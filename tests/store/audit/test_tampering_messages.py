"""Nobody changes a stored bit of a message without an audit seeing it, whatever has become of it, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.kernel.ports import Attachments, Unit
from perdure.testing.sandbox import Sandbox
from tests.conformance.stores import Raw
from tests.engines.embedded.engine_world import Handlers, opened
from tests.engines.embedded.process_models import line, message, wait
from tests.runbooks.sample_verbs import Handlers as CallHandlers
from tests.runbooks.sample_verbs import catalogue
from tests.store.audit.test_tampering_processes import Cell, cells, change, turned

HOUR = 3600.0
BECAME = {"kept": 0, "taken later": 1, "taken": 1, "late": 2, "dead": 2, "discarded": 3}
ORDERS = {("inbox", "number")}
"""A number the database hands out: it orders what came."""


@asynccontextmanager
async def filled(url: str) -> AsyncIterator[Sandbox]:
    """Messages that are kept, were taken at once and later, died at once and later, and were discarded."""
    async with opened(url, Handlers()) as world:
        sandbox = world.sandbox
        await world.deploy(line("waiting", wait("asked", "m"), messages=(message("m", key="k-1"),)))
        await sandbox.publish("m", "k-9", {"page": 9}, message_id="kept", ttl_seconds=9 * HOUR)
        await sandbox.publish("m", "k-8", {"page": 8}, message_id="late", ttl_seconds=HOUR)
        await sandbox.publish("m", "k-1", {"page": 1}, message_id="taken later", ttl_seconds=HOUR)
        await world.start("waiting")
        await world.start("waiting")
        await sandbox.publish("m", "k-1", {"page": 2}, message_id="taken")
        for name in ("dead", "discarded"):
            await sandbox.complete("nobody", {"n": 1}, message_id=name)
        await sandbox.advance("PT2H")
        await sandbox.discard("discarded", "seen")
        yield sandbox


@pytest.mark.req("P7", "V30")
async def test_a_changed_bit_in_any_column_of_any_message_is_found_and_named(store_url: str) -> None:
    async with filled(store_url) as sandbox:
        assert (await verify_store(sandbox, {}, is_dry=True)).findings == []
        with Raw(store_url) as raw:
            states = {str(row[0]): row[1] for row in raw("SELECT message_id, status FROM inbox WHERE tenant <> ''")}
            assert BECAME.items() <= states.items()
            for number, cell in enumerate(cells(raw, "inbox")):
                value = cell.row[cell.column]
                if ("inbox", cell.column) not in ORDERS and value is not None:
                    await check(sandbox, raw, cell, turned(value, number))


async def check(sandbox: Sandbox, raw: Raw, cell: Cell, after: Any) -> None:
    before = cell.row[cell.column]
    if not change(raw, cell, before, after):
        return
    report = await verify_store(sandbox, {}, is_dry=True)
    named = str(after) if cell.column == "message_id" else cell.row["message_id"]
    codes = [each.code for each in report.findings if f"'{named}'" in each.sentence]
    wanted = {"AUD026", "AUD028"} if cell.column in ("told_by", "told") else {"AUD041"}
    assert wanted & set(codes), (cell, after, report.findings)
    assert change(raw, cell, after, before)


@pytest.mark.req("P7", "V30")
async def test_what_a_kept_message_says_cannot_be_exchanged_for_nothing(store_url: str) -> None:
    async with filled(store_url) as sandbox:
        with Raw(store_url) as raw:
            raw("UPDATE inbox SET body = NULL WHERE message_id = 'kept'")
        found = (await verify_store(sandbox, {}, is_dry=True)).findings
        assert {"AUD041"} <= {each.code for each in found}


@pytest.mark.req("P7", "V30")
async def test_a_changed_message_whose_time_is_over_is_still_found(store_url: str) -> None:
    async with filled(store_url) as sandbox:
        with Raw(store_url) as raw:
            raw("UPDATE inbox SET key = 'k-7' WHERE message_id = 'kept'")
        await sandbox.advance("PT9H")
        found = (await verify_store(sandbox, {}, is_dry=True)).findings
        assert [(each.code, each.place) for each in found] == [("AUD041", "inbox")]


@pytest.mark.req("P7", "P8")
async def test_a_message_that_came_before_there_were_checksums_is_taken_as_it_is(store_url: str) -> None:
    async with filled(store_url) as sandbox:
        with Raw(store_url) as raw:
            raw("UPDATE inbox SET checksum = ?", b"")
        assert (await verify_store(sandbox, {}, is_dry=True)).findings == []
        await sandbox.advance("PT9H")
        await sandbox.discard("dead", "seen")
        assert (await verify_store(sandbox, {}, is_dry=True)).findings == []


@pytest.mark.req("P7", "V30")
async def test_answers_to_calls_keep_their_checksums_when_they_are_taken_again(store_url: str) -> None:
    handlers = CallHandlers().bound()
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers) as sandbox:
        call = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        for _ in range(2):
            await sandbox.complete(call.id, {"case_id": "c-1"}, message_id="answer")
        await sandbox.complete("nobody", {"case_id": "c-2"}, message_id="dead")
        other = await sandbox.call("kyc.documents", {"entity": "Generali"})
        assert (await sandbox.replay("dead", key=other.id)).answer == "applied"
        assert (await verify_store(sandbox, {}, is_dry=True)).findings == []


@pytest.mark.req("P7", "V30")
async def test_a_message_settled_by_two_who_did_not_know_of_each_other_is_whole(store_url: str) -> None:
    async with filled(store_url) as sandbox:
        for name in ("discarded", "taken", "kept", "kept"):
            unit = Unit("default", None, attachments=[Attachments(settles=("default", name))])
            assert await sandbox.runtime.store.commit(unit) is None
        assert (await verify_store(sandbox, {}, is_dry=True)).findings == []
