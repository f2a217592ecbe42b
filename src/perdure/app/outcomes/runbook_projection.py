"""Outcome events of the steps of a call or runbook: pure, entry by entry, from the states around each entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from perdure.app.outcomes.event_table import Happened, awaited
from perdure.moments import iso
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.runbook_machine import GATE, token_key
from perdure.runbooks.machine.state import ENDED, Runbook, Step, step_id
from perdure.verb_contract import nature_of

UNDER_WAY = frozenset({"ready", "running", "parked"})


class Around(NamedTuple):
    """What an entry stands in: the states before and after it, and the whole record."""

    letters: str
    before: Runbook | None
    after: Runbook
    record: tuple[Any, ...]

    def step(self, number: int) -> Step:
        return self.after.steps[number - 1]

    def has(self, kind: type[Any], step: int) -> bool:
        """Whether the same record holds an entry of that kind for the step."""
        return any(isinstance(each, kind) and each.step == step for each in self.record)


def of_runbook(around: Around, entry: e.Entry) -> Iterator[Happened]:
    """What an entry says in the words of the table; some entries say nothing."""
    told = _TABLE.get(type(entry))
    if told is not None:
        yield from told(around, entry)


def _call_started(around: Around, entry: e.CallStarted) -> Iterator[Happened]:
    if not around.has(e.StepParked, 1):
        yield Happened("StepStarted", entry.at, 1)


def _step_begun(around: Around, entry: e.StepBegun) -> Iterator[Happened]:
    if not around.has(e.StepParked, entry.step):
        yield Happened("StepStarted", entry.at, entry.step)


def _attempt_failed(around: Around, entry: e.AttemptFailed) -> Iterator[Happened]:
    verb, refs = around.step(entry.step).verb, _refs(attempt=entry.attempt, retry_at=iso(entry.retry_at or None))
    kind = "retried" if entry.retry_at else ""
    yield Happened("StepFailed", entry.at, entry.step, kind, "", verb, refs, entry.failure)
    if not entry.retry_at and nature_of(entry.failure.kind) == "temporary":
        yield Happened("RetriesExhausted", entry.at, entry.step, "", "", verb, refs, entry.failure)


def _completed(around: Around, entry: e.StepCompleted) -> Iterator[Happened]:
    yield Happened("ExecutionResult", entry.at, entry.step, "ok", result=entry.result)


def _failed(around: Around, entry: e.StepFailed) -> Iterator[Happened]:
    failure = entry.failure
    yield Happened("ExecutionResult", entry.at, entry.step, "err", failure.message, failure=failure)


def _parked(around: Around, entry: e.StepParked) -> Iterator[Happened]:
    if around.has(e.ProcessAsked, entry.step):
        return  # the instance says when it begins and what it waits for
    step = around.step(entry.step)
    if len(step.tokens) == 1 and not around.has(e.ProposalMade, entry.step):
        yield Happened("DurableTaskStarted", entry.at, entry.step)
    if not around.has(e.TaskOpened, entry.step):
        key = token_key(around.letters, entry.step, step.tokens[-1])
        refs = _refs(key=key, due_at=iso(entry.due or None))
        yield Happened("Parked", entry.at, entry.step, "ExternalSignal", awaited("", entry.name), refs=refs)


def _task_opened(around: Around, entry: e.TaskOpened) -> Iterator[Happened]:
    step = around.step(entry.step)
    token = step.tokens[entry.token - 1]
    refs = _refs(
        key=token_key(around.letters, entry.step, token), assignee=entry.assignee, groups=", ".join(entry.groups),
        due_at=iso(entry.due_at or None),
    )  # fmt: skip
    reason = awaited(entry.assignee or ", ".join(entry.groups), entry.title or token.name)
    yield Happened("Parked", entry.at, entry.step, "HumanGate", reason, refs=refs)


def _received(around: Around, entry: e.CompletionReceived) -> Iterator[Happened]:
    step = around.step(entry.step)
    token = step.tokens[entry.token - 1]
    if step.carrier is not None and not token.escalates:
        return  # the end of the process, which the result tells
    kind = "HumanGate" if token.task is not None else "ExternalSignal"
    yield Happened("Resumed", entry.at, entry.step, kind, token.name, refs=_refs(message_id=entry.message_id))


def _ignored(around: Around, entry: e.CompletionIgnored) -> Iterator[Happened]:
    if entry.why != "resolved":  # the same answer twice is no failure
        refs = _refs(message_id=entry.message_id)
        yield Happened("CorrelationFailed", entry.at, entry.step, "", f"the wait is {entry.why}", refs=refs)


def _uncorrelated(around: Around, entry: e.CorrelationFailed) -> Iterator[Happened]:
    refs = _refs(message=entry.name, key=entry.key, message_id=entry.message_id)
    reason = f"{entry.outcome}: {entry.why}"
    yield Happened("CorrelationFailed", entry.at, entry.step, entry.name, reason, refs=refs)


def _timed_out(around: Around, entry: e.TimedOut) -> Iterator[Happened]:
    name = around.step(entry.step).tokens[entry.token - 1].name
    yield Happened("TimerFired", entry.at, entry.step, "", f"{name} timed out")


def _escalated(around: Around, entry: e.Escalated) -> Iterator[Happened]:
    yield Happened("Escalated", entry.at, entry.step, "", entry.to, refs=_refs(key=entry.key))


def _chased(around: Around, entry: e.TaskChased) -> Iterator[Happened]:
    token = around.step(entry.step).tokens[entry.token - 1]
    reason = entry.user or entry.group or token.name
    if entry.act == "remind":
        yield Happened("Reminded", entry.at, entry.step, "", reason)
    else:
        yield Happened("Escalated", entry.at, entry.step, "", reason)


def _incident_raised(around: Around, entry: e.IncidentRaised) -> Iterator[Happened]:
    yield Happened("IncidentCreated", entry.at, entry.step, entry.code, entry.text, refs=_refs(code=entry.code))


def _incident_resolved(around: Around, entry: e.IncidentResolved) -> Iterator[Happened]:
    yield Happened("IncidentResolved", entry.at, entry.step, entry.how, entry.reason)


def _cancel_requested(around: Around, entry: e.CancelRequested) -> Iterator[Happened]:
    steps = around.before.steps if around.before is not None else ()
    for number, step in enumerate(steps, 1):
        if step.status in UNDER_WAY:
            yield Happened("CancelRequested", entry.at, number, "", entry.reason)


def _cancelled(around: Around, entry: e.CallCancelled) -> Iterator[Happened]:
    steps = around.before.steps if around.before is not None else ()
    for number, (old, new) in enumerate(zip(steps, around.after.steps, strict=True), 1):
        if old.status not in ENDED and new.status == "cancelled":
            yield Happened("Cancelled", entry.at, number)


def _step_cancelled(around: Around, entry: e.StepCancelled) -> Iterator[Happened]:
    yield Happened("Cancelled", entry.at, entry.step, "", entry.reason)


def _skipped(around: Around, entry: e.StepSkipped) -> Iterator[Happened]:
    yield Happened("StepSkipped", entry.at, entry.step, entry.why, entry.reason)


def _progress(around: Around, entry: e.ProgressPosted) -> Iterator[Happened]:
    yield Happened("ProgressPosted", entry.at, entry.step, "", entry.text)


def _gate_closed(around: Around, entry: e.GateClosed | e.GateReopened) -> Iterator[Happened]:
    refs = _refs(key=f"{step_id(around.letters, entry.step)}/{GATE}", groups=entry.group)
    yield Happened("Parked", entry.at, entry.step, "HumanGate", awaited("", entry.group), refs=refs)


def _failure_asked(around: Around, entry: e.FailureAsked) -> Iterator[Happened]:
    refs = _refs(key=step_id(around.letters, entry.step))
    yield Happened("Parked", entry.at, entry.step, "HumanGate", "Awaiting retry, skip or abort", refs=refs)


def _gate_answered(around: Around, entry: e.GateAnswered) -> Iterator[Happened]:
    links = around.step(entry.step).links
    if not entry.agrees or links is None or not links.awaited:
        answer = "agreed" if entry.agrees else "refused"
        yield Happened("Resumed", entry.at, entry.step, "HumanGate", answer, refs=_refs(by=entry.by))


def _compensation_started(around: Around, entry: e.CompensationStarted) -> Iterator[Happened]:
    yield Happened("CompensationStarted", entry.at, 0, "", entry.reason)


def _compensation_ended(around: Around, entry: e.CompensationEnded) -> Iterator[Happened]:
    if entry.failures:
        yield Happened("CompensationFailed", entry.at, 0, refs=_refs(failures=entry.failures))
    else:
        yield Happened("CompensationCompleted", entry.at, 0)


_TABLE: dict[type, Callable[[Around, Any], Iterator[Happened]]] = {
    e.CallStarted: _call_started,
    e.StepBegun: _step_begun,
    e.AttemptFailed: _attempt_failed,
    e.StepCompleted: _completed,
    e.StepFailed: _failed,
    e.StepParked: _parked,
    e.TaskOpened: _task_opened,
    e.CompletionReceived: _received,
    e.CompletionIgnored: _ignored,
    e.CorrelationFailed: _uncorrelated,
    e.TimedOut: _timed_out,
    e.Escalated: _escalated,
    e.TaskChased: _chased,
    e.IncidentRaised: _incident_raised,
    e.IncidentResolved: _incident_resolved,
    e.CancelRequested: _cancel_requested,
    e.CallCancelled: _cancelled,
    e.StepCancelled: _step_cancelled,
    e.StepSkipped: _skipped,
    e.ProgressPosted: _progress,
    e.GateClosed: _gate_closed,
    e.GateReopened: _gate_closed,
    e.GateAnswered: _gate_answered,
    e.FailureAsked: _failure_asked,
    e.CompensationStarted: _compensation_started,
    e.CompensationEnded: _compensation_ended,
}
GIVES: tuple[type, ...] = tuple(_TABLE)
"""The entries that give events."""


def _refs(**known: str | int | None) -> dict[str, str | int]:
    return {name: value for name, value in known.items() if value}
