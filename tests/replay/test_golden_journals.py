"""Journals written by every release replay to the states and rows they had: shipped entries never change."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from perdure.journal import Record
from perdure.runbooks.machine.journal_entries import ENTRY_VERSION, Entry
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import STATE_VERSION
from tests.replay.histories import HISTORIES, ORIGIN, play, rows_of
from tests.replay.make import golden

JOURNALS = [(version, name) for version in range(1, ENTRY_VERSION + 1) for name in golden(version)]
KINDS: tuple[type[msgspec.Struct], ...] = get_args(Entry)
TAGS = {
    1: "CallStarted", 2: "AttemptStarted", 3: "AttemptFailed", 4: "AttemptDiscarded", 5: "StepCompleted",
    6: "StepFailed", 7: "StepParked", 8: "CompletionReceived", 9: "CompletionIgnored", 10: "TimedOut",
    11: "Escalated", 12: "IncidentRaised", 13: "IncidentResolved", 14: "CancelRequested", 15: "CallCancelled",
    16: "ProgressPosted", 17: "AmendmentProposed", 18: "AmendmentApproved", 19: "PayloadErased", 20: "StepReady",
    21: "ProcessAsked", 22: "IncidentCreated", 23: "IncidentClosed", 24: "RunbookStarted", 25: "StepsAdded",
    26: "EdgesAdded", 27: "StepBegun", 28: "ChoiceMade", 29: "StepSkipped", 30: "StepCancelled", 31: "FailurePassed",
    32: "StepsHeld", 33: "StepRetried", 34: "DecisionMade", 35: "GateClosed", 36: "GateAnswered",
    37: "RunbookSealed", 38: "CompensationStarted", 39: "RunbookCompleted", 40: "RunbookFailed", 41: "DraftOpened",
    42: "DraftRevised", 43: "DraftMoved", 44: "CompensationEnded", 50: "TaskOpened", 51: "TaskActed",
    52: "TaskChased", 60: "AgentUsed", 61: "ProposalMade", 62: "ProposalAnswered",
    63: "QuestionAsked", 64: "QuestionAnswered", 65: "StepHeld",
    66: "BudgetReserved", 67: "BudgetReleased", 68: "BudgetSet",
    70: "OverrideProposed", 71: "OverrideAgreed", 72: "GateReopened", 73: "CorrelationFailed", 74: "FailureAsked",
    75: "TaskAnswered", 76: "TaskReopened",
}  # fmt: skip
"""Every number ever used. A line is added with an entry and never changed or removed, also when the entry goes."""


def records(version: int) -> list[Record[Any]]:
    codec = RunbookMachine().records
    return [codec.decode(bytes.fromhex(each["record"])) for name in golden(version) for each in golden(version)[name]]


@pytest.mark.req("P8")
@pytest.mark.parametrize(("version", "name"), JOURNALS)
def test_a_golden_journal_replays_to_the_states_and_rows_it_had(version: int, name: str) -> None:
    machine, state = RunbookMachine(), None
    for moment in golden(version)[name]:
        for entry in machine.records.decode(bytes.fromhex(moment["record"])).entries:
            state = machine.apply(state, entry)
        assert state is not None
        stored = bytes.fromhex(moment["state"])
        # A state of an older version is compared as this release would write it.
        is_current = msgspec.msgpack.decode(stored)[0] == STATE_VERSION
        assert machine.encode(state) == (stored if is_current else machine.encode(machine.decode(stored)))
        assert machine.decode(stored) == state
        assert rows_of(machine, state) == moment["rows"]


@pytest.mark.req("P8")
@pytest.mark.parametrize("name", HISTORIES)
def test_what_is_written_today_is_byte_for_byte_what_was_written_then(name: str) -> None:
    assert [moment._asdict() for moment in play(HISTORIES[name])] == golden(ENTRY_VERSION)[name]


@pytest.mark.req("P8")
def test_a_golden_record_read_and_written_again_is_the_same_bytes() -> None:
    codec = RunbookMachine().records
    for name in golden(ENTRY_VERSION):
        for moment in golden(ENTRY_VERSION)[name]:
            record = codec.decode(bytes.fromhex(moment["record"]))
            origin = msgspec.structs.replace(ORIGIN, principal=record.principal, trace=record.trace)
            assert codec.encode(record.at, record.command, origin, record.entries).hex() == moment["record"]


@pytest.mark.req("P8")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_entry_has_a_golden_record_with_every_field_filled_in(kind: type[msgspec.Struct]) -> None:
    found = [entry for record in records(ENTRY_VERSION) for entry in record.entries if type(entry) is kind]
    empty: Any = {field.name: _default(field) for field in msgspec.structs.fields(kind)}
    filled = [entry for entry in found if all(getattr(entry, name) != value for name, value in empty.items())]
    assert filled, (
        f"add a history with a {kind.__name__} to tests/replay/histories.py, then python -m tests.replay.make"
    )


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default


@pytest.mark.req("P8")
def test_tags_are_unique_and_never_given_to_another_entry() -> None:
    tags = [kind.__struct_config__.tag for kind in KINDS]
    assert len(set(tags)) == len(tags)
    assert {tag: kind.__name__ for tag, kind in zip(tags, KINDS, strict=True)}.items() <= TAGS.items()
    assert len(set(TAGS.values())) == len(TAGS)
