"""Batches as rows: the same for every driver, whatever type it wants bytes in."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from perdure.journal import IncidentRow, JobRow, Notice, ParkedRow, Rows, TimerRow
from perdure.kernel.ports import Attachments, EntityWrite, IndexRow, Unit
from perdure.store.unit_batch import ORDER, batch_of
from tests.conformance.stores import TENANT, hash_of, id_of, lone, message, opened, unit_of

TASK = ParkedRow(4, 0, "approve", "key", 0, 0, "task")
CALL = ParkedRow(5, 0, "verb", "key", 0, 7, "call")
EARLIER = Rows((TASK,), (TimerRow(2, "retry", 10),), (JobRow(2, 1, 7),))
LATER = Rows((CALL,), (TimerRow(3, "retry", 11),), (JobRow(3, 1, 7), JobRow(4, 0, 8)))


def units() -> list[Unit]:
    """Everything a unit can bring, in some of them; states, payloads and slots that are empty among it."""
    everything = unit_of(
        "everything", after=LATER, state=b"", payloads=[(hash_of(b""), b""), (hash_of(b"data"), b"data")],
        inbox=message("message", "everything"), idempotency=("key", b"request"), reindexes=True,
        index=[IndexRow("verb", "field", "value")], entities=[EntityWrite("entity", "key", 0, b"{}", False, "me")],
    )  # fmt: skip
    everything.parts, everything.notices = [(0, b"part")], [Notice("notice", "ended")]
    erasing = unit_of("erasing", payloads=[(hash_of(b"gone"), b"gone")])
    erasing.attachments.append(Attachments(erases=True))
    return [everything, unit_of("earlier", after=EARLIER), erasing, lone(message("alone"))]


def test_rows_are_the_same_in_every_type_of_bytes() -> None:
    given = [*units(), unit_of("moved", 1, before=EARLIER, after=LATER)]
    batch = batch_of(given)
    assert batch_of(given, (), bytearray()) == batch
    documents = {"put_documents", "add_blobs", "remove_blobs", "add_texts", "remove_texts", "erase_texts"}
    assert set(ORDER) - set(batch) == {"settle_inbox", "remove_incidents", "put_incidents"} | documents
    assert [row[1] for row in batch["add_payloads"]] == [hash_of(b""), hash_of(b"data")]


def test_payloads_are_the_same_rows_whatever_else_comes_with_them() -> None:
    same, other, last = [(hash_of(data), data) for data in (b"same", b"other", b"last")]
    for brought in (
        [],
        [[same]],
        [[same, same]],
        [[same], [same]],
        [[same], [other], [same]],
        [[same, other, last], [same]],
    ):
        alone, accompanied = unit_of("alone"), unit_of("alone")
        alone.attachments = [Attachments(payloads=payloads) for payloads in brought]
        index = Attachments(index=[IndexRow("verb", "field", "value")])
        accompanied.attachments = [*alone.attachments, index]
        neighbour = unit_of("neighbour", payloads=[same])
        rows, others = batch_of([neighbour, alone]), batch_of([neighbour, accompanied])
        assert others.pop("add_index")
        assert rows == others


@pytest.mark.parametrize("blob", [b"", bytearray()])
def test_what_a_unit_brings_before_it_erases_is_never_written(blob: bytes | bytearray) -> None:
    unit, neighbour = unit_of("erased"), unit_of("neighbour")
    for each in (unit, neighbour):
        each.attachments = [Attachments([(hash_of(b"gone"), b"gone")], index=[IndexRow("verb", "field", "gone")])]
    unit.attachments.append(
        Attachments([(hash_of(b"with"), b"with")], index=[IndexRow("verb", "field", "with")], erases=True)
    )
    unit.attachments.append(Attachments([(hash_of(b"after"), b"after")], index=[IndexRow("verb", "field", "after")]))
    batch = batch_of([neighbour, unit, lone(message("alone"))], (), blob)
    assert [(row[0], row[2]) for row in batch["add_payloads"]] == [
        (id_of("neighbour"), b"gone"), (id_of("erased"), b"with"), (id_of("erased"), b"after"),
    ]  # fmt: skip
    assert [row[3] for row in batch["add_index"]] == ["gone", "with", "after"]
    assert batch["erase_payloads"] == batch["remove_index"] == [(id_of("erased"),)]


def test_rows_of_equal_states_are_not_written_again() -> None:
    equal = Rows((TASK._replace(),), (TimerRow(2, "retry", 10),), (JobRow(2, 1, 7),), (IncidentRow(2, "code", 3),))
    again = Rows((TASK._replace(),), (TimerRow(2, "retry", 10),), (JobRow(2, 1, 7),), (IncidentRow(2, "code", 3),))
    assert set(batch_of([unit_of("equal", 1, before=equal, after=again)])) == {"put_aggregate", "add_records"}


def test_a_head_that_is_not_the_last_records_is_kept_as_given() -> None:
    unit = unit_of("other")
    unit.head = hash_of(b"another")
    (row,), (record,) = [batch_of([unit], (), bytearray())[name] for name in ("put_aggregate", "add_records")]
    assert (row[7], record[3]) == (unit.head, unit.records[0].hash)


async def test_bytes_are_kept_as_bytes_even_when_there_are_none(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    async with opened(f"sqlite:///{file}") as [driver]:
        assert [await driver.commit(unit) for unit in units()] == [None] * 4
    connection = sqlite3.connect(file)
    types = "SELECT DISTINCT typeof(state), typeof(head), typeof(checksum), typeof(id) FROM aggregate"
    assert connection.execute(types).fetchall() == [("blob",) * 4]
    id = id_of("everything")
    assert connection.execute("SELECT state, tenant FROM aggregate WHERE id = ?", (id,)).fetchone() == (b"", TENANT)
    assert connection.execute("SELECT slot FROM parked WHERE aggregate = ?", (id,)).fetchone() == (b"",)
    assert connection.execute("SELECT stored FROM payload ORDER BY number").fetchall() == [(b"",), (b"data",)]
    assert connection.execute("SELECT count(*) FROM journal WHERE typeof(body) = 'blob'").fetchone() == (4,)
    connection.close()
