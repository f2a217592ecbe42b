"""The runbook machine: decisions, application and rows behind the contract of the journal."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from perdure.errors import Rejection
from perdure.journal import (
    NO_ROWS,
    Decision,
    IncidentRow,
    JobRow,
    Notice,
    Origin,
    ParkedRow,
    RecordCodec,
    Rows,
    TimerRow,
    Upcaster,
    read_form,
)
from perdure.runbooks.apply import apply
from perdure.runbooks.commands import Command
from perdure.runbooks.decide import decide
from perdure.runbooks.entries import (
    ENTRY_VERSION,
    CallCancelled,
    CompletionReceived,
    Entry,
    Escalated,
    ProcessAsked,
    StepCompleted,
    StepFailed,
)
from perdure.runbooks.state import ENDED, STATE_VERSION, WAITING, Runbook, Step, Token, short, step_id
from perdure.sources import id_text

ESCALATION = "escalation"
CHILD_ENDED = "child_ended"
ESCALATION_OVER = "escalation_over"
OVER = "/over"
PROCESS_ASKED = "process_asked"
PROCESS_OVER = "process_over"
PROCESS = "/process"
INSTANCE_ENDED = "/ended"
NOTICE = "perdure:"
"""How the message ids between aggregates begin; nobody else may use such."""
STATE_UPCASTERS: tuple[Upcaster, ...] = (
    Upcaster(1, lambda form: [2, *form[1:]]),  # steps carried by a process say so; before, there were none
)
ENTRY_UPCASTERS: tuple[Upcaster, ...] = (
    Upcaster(1, lambda form: [2, *form[1:]]),  # one more entry; those of before are as they were
)


class RunbookMachine:
    """Pure: the same state, command, time and chance always give the same entries."""

    kind: ClassVar[str] = "runbook"
    semantics: ClassVar[int] = 1

    def __init__(self) -> None:
        self.records: RecordCodec[Entry] = RecordCodec(Entry, ENTRY_VERSION, ENTRY_UPCASTERS)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Runbook)

    def decide(
        self, id: bytes, state: Runbook | None, command: Command, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection:
        decision = decide(state, command, origin, now, chance)
        return replace(decision, id=id_text(id)) if isinstance(decision, Rejection) else decision

    def apply(self, state: Runbook | None, entry: Entry) -> Runbook:
        return apply(state, entry)

    def status(self, state: Runbook) -> tuple[str, int]:
        return state.status, 0 if state.erased_at else state.ended_at

    def payloads(self, state: Runbook) -> tuple[tuple[bytes, ...], bool]:
        hashes = {step.input for step in state.steps}
        hashes.update(step.result for step in state.steps if step.result is not None)
        hashes.update(amendment.hash for amendment in state.amendments)
        return tuple(hashes), bool(state.erased_at)

    def encode(self, state: Runbook) -> bytes:
        return self._encoder.encode(state)

    def decode(self, data: bytes) -> Runbook:
        return read_form(data, self._decoder, STATE_VERSION, STATE_UPCASTERS)

    def rows(self, id: bytes, state: Runbook) -> Rows:
        if state.status in ENDED and not any(step.tokens for step in state.steps):
            return NO_ROWS
        parked: list[ParkedRow] = []
        timers: list[TimerRow] = []
        jobs: list[JobRow] = []
        incidents: list[IncidentRow] = []
        letters = id_text(id)
        for number, step in enumerate(state.steps, 1):
            _step_rows(letters, number, step, parked, timers, jobs, incidents)
        return Rows(tuple(parked), tuple(timers), tuple(jobs), tuple(incidents))

    def notices(self, id: bytes, state: Runbook, entries: tuple[Any, ...]) -> tuple[Notice, ...]:
        found: list[Notice] = []
        for entry in entries:
            kind = type(entry)
            if kind is Escalated:
                # Numbered by its token: an escalation that is tried again is another one.
                token = len(state.steps[entry.step - 1].tokens)
                found.append(Notice(f"{NOTICE}{step_id(id_text(id), entry.step)}/{ESCALATION}/{token}", ESCALATION))
            elif kind is ProcessAsked:
                found.append(Notice(f"{NOTICE}{step_id(id_text(id), entry.step)}{PROCESS}", PROCESS_ASKED))
            elif kind in (StepCompleted, StepFailed, CallCancelled):
                if state.parent:
                    found.append(Notice(f"{NOTICE}{id_text(id)}/{CHILD_ENDED}", CHILD_ENDED))
                if not _is_told_by_instance(entries):
                    found.extend(_processes_over(id, state))
                if state.steps[-1].tokens or len(state.steps) > 1:
                    found.extend(_over(id, state))
        return tuple(found)


def _is_told_by_instance(entries: tuple[Any, ...]) -> bool:
    """Whether the step ended because its process did: then that need not be told."""
    return any(type(entry) is CompletionReceived and entry.message_id.endswith(INSTANCE_ENDED) for entry in entries)


def _processes_over(id: bytes, state: Runbook) -> list[Notice]:
    """Steps that ended in another way than by their process: the instance has nothing left to do."""
    return [
        Notice(f"{NOTICE}{step_id(id_text(id), number)}{PROCESS}{OVER}", PROCESS_OVER)
        for number, step in enumerate(state.steps, 1)
        if step.status in ENDED and step.carrier is not None
    ]


def _over(id: bytes, state: Runbook) -> list[Notice]:
    """Escalations of steps that have ended: whoever still works on one can stop."""
    return [
        Notice(f"{NOTICE}{step_id(id_text(id), number)}/{ESCALATION}/{position}{OVER}", ESCALATION_OVER)
        for number, step in enumerate(state.steps, 1)
        if step.status in ENDED
        for position, token in enumerate(step.tokens, 1)
        if token.escalates
    ]


def token_key(letters: str, step: int, token: Token) -> str:
    """The key a token waits under; the step's own id unless the verb said otherwise."""
    if token.key:
        return token.key
    own = step_id(letters, step)
    return f"{own}/{ESCALATION}" if token.escalates else own


def _step_rows(
    letters: str,
    number: int,
    step: Step,
    parked: list[ParkedRow],
    timers: list[TimerRow],
    jobs: list[JobRow],
    incidents: list[IncidentRow],
) -> None:
    definition = short(step.definition)
    for position, token in enumerate(step.tokens, 1):
        key = token_key(letters, number, token)
        parked.append(ParkedRow(number, position, token.name, key, token.status, definition))
        if token.due and token.status == WAITING and step.incident is None:
            timers.append(TimerRow(number, "timeout", token.due))
    if step.retry_at and step.status == "pending":
        timers.append(TimerRow(number, "retry", step.retry_at))
    if step.status == "ready":
        jobs.append(JobRow(number, 0, definition))
    elif step.status == "running" and step.frame is not None:
        jobs.append(JobRow(number, step.frame.worker, definition))
    if step.incident is not None:
        incidents.append(IncidentRow(number, step.incident.code, step.incident.opened_at))
