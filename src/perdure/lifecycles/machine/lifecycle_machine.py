"""The lifecycle machine: decides by what was read for a command, and stands for timers, a lock and its interest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from perdure.errors import Rejection
from perdure.identifiers import id_text
from perdure.journal import (
    Decision,
    IncidentRow,
    Notice,
    Origin,
    ParkedRow,
    RecordCodec,
    Rows,
    TimerRow,
    Upcaster,
    read_form,
)
from perdure.journal.facts import fact_key, fact_notice, fact_rows
from perdure.journal.notice_routes import PREFIX, FactEvent, RoundRoute, TaskRoute
from perdure.lifecycles.guards.guard_table import GuardTable
from perdure.lifecycles.machine import entries as e
from perdure.lifecycles.machine.apply import apply
from perdure.lifecycles.machine.commands import LifecycleCommand
from perdure.lifecycles.machine.decide import decide
from perdure.lifecycles.machine.incidents import incidents_of
from perdure.lifecycles.machine.state import STATE_VERSION, Instance

UPCASTERS: tuple[Upcaster, ...] = ()
DUE, ASKED, OVER = "lifecycle_due", "resolution_asked", "resolution_over"
"""Kinds of notices."""
DEADLINE, EXPIRY, RECHECK = "deadline", "expiry", "recheck"
"""Kinds of timers; that of an expiry has the number of its task as its step."""
LOCK = "lock"
_MOVED = (e.StateEntered, e.LifecycleEnded)


def lifecycle_key(lifecycle: str, subject: str) -> str:
    """The fact that an instance is, and the lock by which a subject has one active instance of a definition."""
    return fact_key("lifecycle", lifecycle, subject)


_STATE = msgspec.msgpack.Decoder(Instance)


class LifecycleMachine:
    """Pure: the same state, command and time always give the same entries."""

    kind: ClassVar[str] = "lifecycle"
    semantics: ClassVar[int] = 1

    def __init__(self, table: GuardTable | None = None) -> None:
        self.table = table or GuardTable()
        self.records: RecordCodec[e.LifecycleEntry] = RecordCodec(e.LifecycleEntry, e.ENTRY_VERSION, UPCASTERS)
        self._encoder = msgspec.msgpack.Encoder(order="deterministic")
        self._decoder = _STATE

    def decide(
        self, id: bytes, state: Instance | None, command: LifecycleCommand, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection:
        return decide(self.table, id_text(id), state, command, origin, now)

    def apply(self, state: Instance | None, entry: e.LifecycleEntry) -> Instance:
        return apply(state, entry)

    def rows(self, id: bytes, state: Instance) -> Rows:
        incidents = tuple(IncidentRow(each.number, each.code, each.at) for each in incidents_of(state))
        if state.is_over:
            return Rows(incidents=incidents)
        lock = ParkedRow(0, 0, state.lifecycle, lifecycle_key(state.lifecycle, state.subject), 0, 0, LOCK)
        timers = {TimerRow(0, DEADLINE, each.at): None for each in state.deadlines}
        if state.recheck_at and state.stuck is None:
            timers[TimerRow(0, RECHECK, state.recheck_at)] = None
        for task in state.open_tasks():
            if task.expires_at:
                timers[TimerRow(task.number, EXPIRY, task.expires_at)] = None
        return Rows((lock, *fact_rows(state.interest)), tuple(timers), incidents=incidents)

    def notices(self, id: bytes, state: Instance, entries: tuple[e.LifecycleEntry, ...]) -> tuple[Notice, ...]:
        letters = id_text(id)
        found: list[Notice] = []
        if any(isinstance(entry, _MOVED) for entry in entries):
            key = lifecycle_key(state.lifecycle, state.subject)
            found.append(fact_notice(letters, state.round, (key,), list(_events(letters, state, entries, key))))
        if state.is_due and not state.is_over:
            found.append(Notice(f"{PREFIX}{letters}/due/{state.round}", DUE, RoundRoute(state.round)))
        for entry in entries:
            if isinstance(entry, e.TaskRequested):
                found.append(_task_notice(ASKED, entry.correlation_id))
            elif isinstance(entry, e.TaskClosed | e.TaskResultReceived) and entry.status != "partial":
                found.append(_task_notice(OVER, entry.correlation_id))
        return tuple(found)

    def encode(self, state: Instance) -> bytes:
        return self._encoder.encode(state)

    def decode(self, data: bytes) -> Instance:
        return read_form(data, self._decoder, STATE_VERSION, UPCASTERS)

    def status(self, state: Instance) -> tuple[str, int]:
        ended_at = 0 if state.is_erased else state.ended_at
        return status_text(state.lifecycle, state.state, is_cancelled=state.status == "cancelled"), ended_at

    def payloads(self, state: Instance) -> tuple[tuple[bytes, ...], bool]:
        if state.is_erased:
            return (), True
        facts = [state.facts, *(each.facts for each in state.history)]
        if state.proposal is not None:
            facts.append(state.proposal.facts)
        return tuple(dict.fromkeys((state.context, *filter(None, facts)))), False


def _events(letters: str, state: Instance, entries: tuple[e.LifecycleEntry, ...], key: str) -> Iterator[FactEvent]:
    """What happened to the instance, in words that begin other lifecycles."""
    is_alone = all(each.cause in ("start", "auto") for each in state.history)
    depth = state.depth + 1 if is_alone else 0
    for entry in entries:
        fields = {"lifecycle": state.lifecycle, "state": state.state, "instance_id": letters}
        if isinstance(entry, e.StateEntered):
            entered = {**fields, "state": entry.state}
            yield FactEvent("lifecycle.entered", state.subject, key, entry.at, entered, depth)
        elif isinstance(entry, e.LifecycleEnded):
            yield FactEvent(f"lifecycle.{entry.status}", state.subject, key, entry.at, fields, depth)


def status_text(lifecycle: str, state: str, *, is_cancelled: bool = False) -> str:
    """The word an instance is listed under: its definition and its state."""
    return f"{lifecycle}:cancelled" if is_cancelled else f"{lifecycle}/{state}"


def _task_notice(kind: str, correlation_id: str) -> Notice:
    return Notice(f"{PREFIX}{correlation_id}/{kind}", kind, TaskRoute(correlation_id))
