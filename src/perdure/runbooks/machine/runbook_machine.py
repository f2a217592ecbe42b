"""The runbook machine: decisions, application and rows behind the contract of the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from perdure.errors import Rejection, UnreadableFormError
from perdure.human_tasks import next_rung
from perdure.identifiers import id_text
from perdure.journal import (
    NO_ROWS,
    Decision,
    IncidentRow,
    JobRow,
    Notice,
    Origin,
    ParkedRow,
    Parts,
    RecordCodec,
    Rows,
    TimerRow,
    Upcaster,
    grown,
    read_form,
)
from perdure.journal.facts import fact_key, fact_notice
from perdure.journal.notice_routes import OVER_SUFFIX, PROCESS_SUFFIX, OverRoute, StepRoute
from perdure.runbooks.machine.apply import apply
from perdure.runbooks.machine.commands import Command
from perdure.runbooks.machine.decide import decide
from perdure.runbooks.machine.human_tasks import LADDER, PLACE, given_at
from perdure.runbooks.machine.journal_entries import (
    ENTRY_VERSION,
    CallCancelled,
    CompensationEnded,
    CompletionReceived,
    Entry,
    Escalated,
    ProcessAsked,
    RunbookCompleted,
    RunbookFailed,
    StepCancelled,
    StepCompleted,
    StepFailed,
    StepSkipped,
)
from perdure.runbooks.machine.outcome_propagation import Begin
from perdure.runbooks.machine.state import ENDED, STATE_VERSION, WAITING, Links, Runbook, Step, Token, short, step_id

ESCALATION = "escalation"
CHILD_ENDED = "child_ended"
ESCALATION_OVER = "escalation_over"
OVER = OVER_SUFFIX
PROCESS_ASKED = "process_asked"
PROCESS_OVER = "process_over"
PROCESS = PROCESS_SUFFIX
INSTANCE_ENDED = "/ended"
GATE = "gate"
FAILURE = "failure"
"""Where a failed step is kept among human tasks."""
LOCK = "lock"
SHARED = "shared"
ASKED = "step.failed"
"""The incident of a step that failed and whose plan says to ask a person."""
NOTICE = "perdure:"
"""How the message ids between aggregates begin; nobody else may use such."""
STATE_UPCASTERS: tuple[Upcaster, ...] = (
    grown(1),  # steps carried by a process say so; before, there were none
    grown(2),  # plans and drafts; before, there were single calls only
    grown(3),  # everybody who asked, and the groups of a gate that have agreed
    grown(4),  # failures that let the rest of a runbook go on, and those that somebody is asked about
    grown(5),  # answers of each of several groups
    grown(6),  # questions of agents
)
ENTRY_UPCASTERS: tuple[Upcaster, ...] = (
    grown(1),  # one more entry; those of before are as they were
    grown(2),  # the entries of plans and drafts
    grown(3),  # everybody who asked
    grown(4),  # what an attempt ran under and its traceback, one more entry, another word for what follows a failure
    grown(5),  # answers of each of several groups
    grown(6),  # questions of agents
)

_STATE = msgspec.msgpack.Decoder(Runbook)
_STEP = msgspec.msgpack.Decoder(Step)


class RunbookMachine:
    """Pure: the same state, command, time and chance always give the same entries."""

    kind: ClassVar[str] = "runbook"
    semantics: ClassVar[int] = 1

    def __init__(self) -> None:
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder, self._part_decoder = _STATE, _STEP
        self.records: RecordCodec[Entry] = RecordCodec(Entry, ENTRY_VERSION, ENTRY_UPCASTERS)

    def decide(
        self, id: bytes, state: Runbook | None, command: Command, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection:
        return self.decide_and_begin(id, state, command, origin, now, chance, None)

    def decide_and_begin(
        self, id: bytes, state: Runbook | None, command: Command, origin: Origin, now: int, chance: float,
        begin: Begin | None,
    ) -> Decision | Rejection:  # fmt: skip
        """As `decide`, and what became ready begins in the same record, as `begin` says."""
        decision = decide(state, command, origin, now, chance, begin)
        if not isinstance(decision, Rejection):
            if decision.refusal is None:
                return decision
            return replace(decision, refusal=replace(decision.refusal, id=id_text(id)))
        place = decision.id[1:] if decision.id.startswith("?:") else ""
        return replace(decision, id=id_text(id) + place)

    def apply(self, state: Runbook | None, entry: Entry) -> Runbook:
        return apply(state, entry)

    def status(self, state: Runbook) -> tuple[str, int]:
        return state.status, 0 if state.erased_at else state.ended_at

    def may_be_listed(self, state: Runbook, is_plan: int) -> bool:
        if state.course is None and state.draft is None:
            return is_plan == 0
        # Older releases forgot what was a plan when its index was taken away.
        return is_plan == 1 or (is_plan == 0 and bool(state.erased_at or state.amendments))

    def payloads(self, state: Runbook) -> tuple[tuple[bytes, ...], bool]:
        hashes = {step.input for step in state.steps if step.input}
        hashes.update(step.result for step in state.steps if step.result is not None)
        hashes.update(step.proposal for step in state.steps if step.proposal)
        hashes.update(each for step in state.steps for each in (step.question, step.answer) if each)
        hashes.update(given.answer for step in state.steps for given in given_at(step) if given.answer)
        if state.course is not None:
            hashes.update(fragment.document for fragment in state.course.fragments)
        if state.draft is not None:
            hashes.update(state.draft.revisions)
        hashes.update(amendment.hash for amendment in state.amendments)
        return tuple(hashes), bool(state.erased_at)

    def encode(self, state: Runbook) -> bytes:
        parts = self.parts(state)
        if parts is None:
            return self._encoder.encode(state)
        return self._encoder.encode(replace(state, steps=(), apart=(len(parts), parts.root(self.encode_part))))

    def decode(self, data: bytes) -> Runbook:
        state = read_form(data, self._decoder, STATE_VERSION, STATE_UPCASTERS)
        if state.apart is None:
            return state
        absent: Any = Parts[Step].absent(*state.apart)
        return replace(state, steps=absent, apart=None)

    def parts(self, state: Runbook) -> Parts[Step] | None:
        steps: Any = state.steps
        return None if type(steps) is tuple else steps

    def encode_part(self, part: Step) -> bytes:
        return self._encoder.encode(part)

    def filled(self, state: Runbook, bodies: Sequence[bytes]) -> Runbook:
        steps: Any = state.steps
        return replace(state, steps=steps.filled(bodies, self._read_part))

    def _read_part(self, body: bytes) -> Step:
        try:
            return self._part_decoder.decode(body)
        except (ValueError, RecursionError) as error:
            raise UnreadableFormError("read", "step of", "a runbook", str(error)[:300]) from error

    def rows_among(self, id: bytes, state: Runbook, parts: Sequence[int]) -> Rows:
        return self._rows(id, state, [at + 1 for at in parts])

    def rows(self, id: bytes, state: Runbook) -> Rows:
        if state.status in ENDED and not any(step.tokens for step in state.steps):
            return NO_ROWS
        return self._rows(id, state, range(1, len(state.steps) + 1))

    def _rows(self, id: bytes, state: Runbook, numbers: Iterable[int]) -> Rows:
        parked: list[ParkedRow] = []
        timers: list[TimerRow] = []
        jobs: list[JobRow] = []
        incidents: list[IncidentRow] = []
        letters = id_text(id)
        for number in numbers:
            _step_rows(letters, number, state.steps[number - 1], parked, timers, jobs, incidents)
        return Rows(tuple(parked), tuple(timers), tuple(jobs), tuple(incidents))

    def notices(self, id: bytes, state: Runbook, entries: tuple[Any, ...]) -> tuple[Notice, ...]:
        found: list[Notice] = []
        told: set[int] = set()
        for entry in entries:
            kind = type(entry)
            if kind is Escalated:
                # Numbered by its token: an escalation that is tried again is another one.
                token = len(state.steps[entry.step - 1].tokens)
                name = f"{NOTICE}{step_id(id_text(id), entry.step)}/{ESCALATION}/{token}"
                found.append(Notice(name, ESCALATION, StepRoute(entry.step)))
            elif kind is ProcessAsked:
                place = carried_as(id_text(id), entry.step, state.steps[entry.step - 1])
                found.append(Notice(f"{NOTICE}{place}{PROCESS}", PROCESS_ASKED, StepRoute(entry.step)))
            elif kind is CompletionReceived and entry.message_id.endswith(INSTANCE_ENDED):
                told.add(entry.step)
            elif kind in _STEP_ENDS:
                found.extend(_step_over(id, state, entry.step, entry.step in told))
            elif kind is CallCancelled:
                for number, step in enumerate(state.steps, 1):
                    if step.status == "cancelled":
                        found.extend(_step_over(id, state, number, False))
        if state.course is not None and (ends := [each for each in entries if type(each) in _PLAN_ENDS]):
            letters, counts = id_text(id), ".".join(map(str, state.course.counts))
            ended = f"{letters}/{type(ends[-1]).__name__}/{counts}"  # several commands may end it in one moment
            found.append(fact_notice(ended, state.ended_at, (fact_key("runbook", letters),)))
        if state.parent and any(type(entry) in _CALL_ENDS for entry in entries):
            found.append(Notice(f"{NOTICE}{id_text(id)}/{CHILD_ENDED}", CHILD_ENDED))
        return tuple(found)


_SILENT = frozenset({"pending", "completed", "skipped", "cancelled"})
"""States a step without tokens stands for no row in."""
_CALL_ENDS = frozenset({StepCompleted, StepFailed, CallCancelled})
_PLAN_ENDS = frozenset({RunbookCompleted, RunbookFailed, CallCancelled, CompensationEnded})
_STEP_ENDS = frozenset({StepCompleted, StepFailed, StepCancelled, StepSkipped})


def _step_over(id: bytes, state: Runbook, number: int, is_told: bool) -> list[Notice]:
    """Whoever still works on a step that has ended can stop: escalations, and its process unless that told of it."""
    step = state.steps[number - 1]
    if step.carrier is None and not step.tokens:
        return []
    letters = id_text(id)
    found: list[Notice] = []
    if step.carrier is not None and not is_told:
        place = carried_as(letters, number, step)
        begun_by = f"{NOTICE}{place}{PROCESS}"
        found.append(Notice(f"{begun_by}{OVER}", PROCESS_OVER, OverRoute(begun_by, place)))
    for position, token in enumerate(step.tokens, 1):
        if token.escalates:
            begun_by = f"{NOTICE}{step_id(letters, number)}/{ESCALATION}/{position}"
            found.append(Notice(f"{begun_by}{OVER}", ESCALATION_OVER, OverRoute(begun_by)))
    return found


def carried_as(letters: str, number: int, step: Step) -> str:
    """What the process of a step knows it as; a step that was begun anew is carried by another."""
    again = step.links.round if step.links is not None else 0
    return f"{step_id(letters, number)}.{again}" if again else step_id(letters, number)


def carried_step(place: str) -> tuple[str, int]:
    """The id and the step that a process knows as `place`."""
    letters, _, number = place.partition(":")
    return letters, int(number.partition(".")[0])


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
    if step.status in _SILENT and not step.tokens and not step.retry_at and step.incident is None:
        return
    definition = short(step.definition)
    for position, token in enumerate(step.tokens, 1):
        key = token_key(letters, number, token)
        if not token.is_shared:
            parked.append(ParkedRow(number, position, token.name, key, token.status, definition))
        elif token.status == WAITING:
            parked.append(ParkedRow(number, position, token.name, key, WAITING, definition, SHARED))
        if token.due and token.status == WAITING and step.incident is None:
            timers.append(TimerRow(number, "timeout", token.due))
        if token.task is not None and token.status == WAITING:
            row = ParkedRow(number, PLACE + position, token.name, step_id(letters, number), WAITING, definition, "task")
            parked.append(row)
            if step.incident is None and (rung := next_rung(token.task)) is not None:
                timers.append(TimerRow(number, LADDER, rung[0]))
    if step.retry_at and step.status == "pending":
        timers.append(TimerRow(number, "retry", step.retry_at))
    if step.status == "ready":
        jobs.append(JobRow(number, 0, definition))
    elif step.status == "running" and step.frame is not None:
        jobs.append(JobRow(number, step.frame.worker, definition))
    if step.incident is not None:
        incidents.append(IncidentRow(number, step.incident.code, step.incident.opened_at))
    if step.links is not None:
        _linked_rows(letters, number, step, step.links, parked, incidents)


def is_asked(step: Step) -> bool:
    """Whether a person is asked what to do about a failed step."""
    links = step.links
    return links is not None and step.status == "failed" and links.on_failure == "ask" and not links.is_passed


def _linked_rows(
    letters: str, number: int, step: Step, links: Links, parked: list[ParkedRow], incidents: list[IncidentRow]
) -> None:
    """Of a step of a plan: the gate it waits at, the locks it holds, and a failure that a person is asked about."""
    definition = short(step.definition)
    if links.gated_at:
        gate = f"{step_id(letters, number)}/{GATE}"
        parked.append(ParkedRow(number, 0, links.gate, gate, WAITING, definition, "task"))  # found among human tasks
    for position, lock in enumerate(links.locks, 1):
        parked.append(ParkedRow(number, -position, LOCK, lock, WAITING, definition, LOCK))
    if is_asked(step):
        incidents.append(IncidentRow(number, ASKED, links.ended_at))
        if links.asked_at:
            task = f"{step_id(letters, number)}/{FAILURE}"
            parked.append(ParkedRow(number, 0, FAILURE, task, WAITING, definition, "task"))
