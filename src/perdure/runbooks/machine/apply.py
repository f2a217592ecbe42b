"""How each entry changes a runbook: one small pure function per entry, in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from perdure.agent_usage import after
from perdure.errors import InvariantBroken
from perdure.human_tasks import HumanTask, ended
from perdure.overrides import Override, agreed, remembered
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.agent_budgets import (
    budget_released,
    budget_reserved,
    budget_set,
    cleared,
    noted_waiting,
)
from perdure.runbooks.machine.apply_plan import PLAN_TABLE, cancelled_all, draft_opened, runbook_started, stamped
from perdure.runbooks.machine.dag_progress import put
from perdure.runbooks.machine.human_tasks import (
    task_acted,
    task_answered,
    task_chased,
    task_opened,
    task_reopened,
    with_task,
)
from perdure.runbooks.machine.state import (
    CANCELLED,
    ENDED,
    RESOLVED,
    STATE_VERSION,
    TIMED_OUT,
    WAITING,
    Amendment,
    Frame,
    Hold,
    Incident,
    Pin,
    Runbook,
    RunbookState,
    Step,
    Token,
    asked_by,
    with_step,
)


def apply(state: Runbook | None, entry: e.Entry) -> Runbook:
    """The state after an entry."""
    if type(entry) is e.CallStarted:
        return _call_started(entry)
    if type(entry) is e.RunbookStarted:
        return runbook_started(state, entry)
    if type(entry) is e.DraftOpened:
        return draft_opened(entry)
    if state is None:
        raise InvariantBroken("apply", "entry", type(entry).__name__, "the runbook has not been started")
    after_it = _TABLE[type(entry)](state, entry)
    match entry:
        case e.CallCancelled():
            return after_it if after_it.ledger is None else replace(after_it, ledger=None)
        case (
            e.AttemptStarted() | e.StepReady() | e.StepCompleted() | e.StepFailed() | e.StepSkipped()
            | e.StepCancelled()
        ) if after_it.ledger is not None:  # fmt: skip
            return cleared(after_it, entry.step)
        case _:
            return after_it


def _call_started(entry: e.CallStarted) -> Runbook:
    step = Step(entry.verb, entry.definition_version, entry.definition, "pending", entry.input)
    return Runbook(
        STATE_VERSION, "executing", entry.at, entry.principal, entry.trace, (step,),
        parent=entry.parent, idempotency_key=entry.idempotency_key, behind=entry.behind,
    )  # fmt: skip


def _with_step(state: Runbook, number: int, step: Step, status: RunbookState, ended_at: int = 0) -> Runbook:
    if state.course is not None:
        return put(state, number, step)
    return replace(state, steps=(step,), status=status, ended_at=ended_at)


def _noted(state: Runbook, number: int, step: Step) -> Runbook:
    """A step that is where it was, and knows something more."""
    return replace(state, steps=with_step(state.steps, number, step))


def _step_ready(state: Runbook, entry: e.StepReady) -> Runbook:
    step = replace(state.steps[entry.step - 1], status="ready", retry_at=0)
    return _with_step(state, entry.step, step, "executing")


def _attempt_started(state: Runbook, entry: e.AttemptStarted) -> Runbook:
    step = state.steps[entry.step - 1]
    frame = Frame(entry.attempt, "started", entry.at, entry.worker, interruptions=entry.interruptions)
    begun = replace(step, status="running", frame=frame, retry_at=0, hold=None)
    return _with_step(state, entry.step, begun, "executing")


def _attempt_failed(state: Runbook, entry: e.AttemptFailed) -> Runbook:
    step = state.steps[entry.step - 1]
    before = step.frame or Frame(entry.attempt, "started", entry.at)
    frame = replace(before, attempt=entry.attempt, status="failed", ended_at=entry.at, failure=entry.failure, worker=0)
    return _with_step(
        state, entry.step, replace(step, status="pending", frame=frame, retry_at=entry.retry_at), "executing"
    )


def _step_completed(state: Runbook, entry: e.StepCompleted) -> Runbook:
    step = state.steps[entry.step - 1]
    frame = step.frame
    if frame is not None and frame.status == "started":
        frame = replace(frame, status="completed", ended_at=entry.at, worker=0)
    flags = {**step.flags, **entry.flags} if entry.flags else step.flags
    done = replace(step, status="completed", result=entry.result, frame=frame, retry_at=0, incident=None, flags=flags)
    if state.course is not None and step.links is not None:
        done = replace(done, links=replace(step.links, ended_at=entry.at, previous=state.course.last_undoable))
        if step.links.compensate is not None:
            # Those that can be taken back form a chain, the last completed first.
            state = replace(state, course=replace(state.course, last_undoable=entry.step))
    return _with_step(state, entry.step, done, "completed", entry.at)


def _step_failed(state: Runbook, entry: e.StepFailed) -> Runbook:
    step = state.steps[entry.step - 1]
    frame = step.frame
    if frame is not None and frame.status == "started":
        frame = replace(frame, status="failed", ended_at=entry.at, worker=0)
    failed = replace(
        step, status="failed", error=entry.failure, frame=frame, retry_at=0, incident=None,
        tokens=_close_waiting(step.tokens, CANCELLED), links=stamped(step.links, entry.at),
    )  # fmt: skip
    return _with_step(state, entry.step, failed, "failed", entry.at)


def _step_parked(state: Runbook, entry: e.StepParked) -> Runbook:
    step = state.steps[entry.step - 1]
    frame = step.frame
    if frame is not None and frame.status == "started":
        frame = replace(frame, status="completed", ended_at=entry.at, worker=0)
    token = Token(entry.name, entry.key, WAITING, entry.at, entry.due, entry.escalation, False, entry.is_shared)
    return _with_step(
        state, entry.step, replace(step, status="parked", frame=frame, tokens=(*step.tokens, token)), "parked"
    )


def _close_waiting(tokens: tuple[Token, ...], status: int) -> tuple[Token, ...]:
    return tuple(replace(token, status=status) if token.status == WAITING else token for token in tokens)


def _close(step: Step, number: int, status: int) -> Step:
    tokens = list(step.tokens)
    tokens[number - 1] = replace(tokens[number - 1], status=status)
    return replace(step, tokens=tuple(tokens))


def _completion_received(state: Runbook, entry: e.CompletionReceived) -> Runbook:
    step = _close(state.steps[entry.step - 1], entry.token, RESOLVED)
    return _with_step(state, entry.step, step, "executing")


def _task_opened(state: Runbook, entry: e.TaskOpened) -> Runbook:
    return _with_its_task(state, entry.step, entry.token, task_opened(entry))


def _task_acted(state: Runbook, entry: e.TaskActed) -> Runbook:
    return _with_its_task(state, entry.step, entry.token, task_acted(_task(state, entry.step, entry.token), entry))


def _task_chased(state: Runbook, entry: e.TaskChased) -> Runbook:
    return _with_its_task(state, entry.step, entry.token, task_chased(_task(state, entry.step, entry.token), entry))


def _task_answered(state: Runbook, entry: e.TaskAnswered) -> Runbook:
    return _with_its_task(state, entry.step, entry.token, task_answered(_task(state, entry.step, entry.token), entry))


def _task_reopened(state: Runbook, entry: e.TaskReopened) -> Runbook:
    return _with_its_task(state, entry.step, entry.token, task_reopened(_task(state, entry.step, entry.token), entry))


def _task(state: Runbook, step: int, token: int) -> HumanTask:
    task = state.steps[step - 1].tokens[token - 1].task
    assert task is not None
    return task


def _with_its_task(state: Runbook, number: int, token: int, task: HumanTask) -> Runbook:
    return _noted(state, number, with_task(state.steps[number - 1], token, task))


def _timed_out(state: Runbook, entry: e.TimedOut) -> Runbook:
    step = _close(state.steps[entry.step - 1], entry.token, TIMED_OUT)
    task = step.tokens[entry.token - 1].task
    if task is not None:
        step = with_task(step, entry.token, ended(task, "expired", entry.at))
    return _with_step(state, entry.step, step, "executing")


def _escalated(state: Runbook, entry: e.Escalated) -> Runbook:
    step = state.steps[entry.step - 1]
    token = Token(entry.to, entry.key, WAITING, entry.at, escalates=True)
    return _with_step(state, entry.step, replace(step, status="parked", tokens=(*step.tokens, token)), "escalated")


def _incident_raised(state: Runbook, entry: e.IncidentRaised) -> Runbook:
    step = state.steps[entry.step - 1]
    frame = step.frame
    if frame is not None and frame.status == "started":
        frame = replace(frame, status="incident", ended_at=entry.at, worker=0)
    incident = Incident(entry.code, entry.text, entry.at, entry.attempt)
    stuck = replace(step, status="parked", frame=frame, incident=incident, retry_at=0)
    return _with_step(state, entry.step, stuck, "parked")


def _incident_resolved(state: Runbook, entry: e.IncidentResolved) -> Runbook:
    step = replace(state.steps[entry.step - 1], incident=None)
    if entry.how != "retried":
        step = replace(step, tokens=_close_waiting(step.tokens, RESOLVED))
    waiting = [token for token in step.tokens if token.status == WAITING]
    status: RunbookState = "escalated" if any(token.escalates for token in waiting) else "parked"
    return _with_step(state, entry.step, step, status)


def _unchanged(state: Runbook, entry: Any) -> Runbook:
    return state


def _call_cancelled(state: Runbook, entry: e.CallCancelled) -> Runbook:
    if state.course is not None:
        return cancelled_all(state, entry.at)
    steps = tuple(_cancelled(step, entry.at) for step in state.steps)
    return replace(state, steps=steps, status="cancelled", ended_at=entry.at)


def _cancelled(step: Step, at: int) -> Step:
    if step.status in ENDED:
        return step
    frame = step.frame
    if frame is not None and frame.status == "started":
        frame = replace(frame, status="failed", ended_at=at, worker=0)
    tokens = _close_waiting(step.tokens, CANCELLED)
    return replace(step, status="cancelled", frame=frame, tokens=tokens, incident=None, retry_at=0)


def _progress_posted(state: Runbook, entry: e.ProgressPosted) -> Runbook:
    return _noted(state, entry.step, replace(state.steps[entry.step - 1], progress=entry.text))


def _amendment_proposed(state: Runbook, entry: e.AmendmentProposed) -> Runbook:
    proposed = Amendment(
        entry.number, entry.target, entry.hash, entry.reason, entry.by, entry.at, behind=entry.names[1:]
    )
    return asked_by(replace(state, amendments=(*state.amendments, proposed)), entry.names)


def _amendment_approved(state: Runbook, entry: e.AmendmentApproved) -> Runbook:
    amendments = list(state.amendments)
    approved = amendments[entry.number - 1] = replace(amendments[entry.number - 1], approved_by=entry.by)
    step = state.steps[0]
    step = replace(step, input=approved.hash) if approved.target == "input" else replace(step, result=approved.hash)
    return replace(state, amendments=tuple(amendments), steps=with_step(state.steps, 1, step))


def _process_asked(state: Runbook, entry: e.ProcessAsked) -> Runbook:
    pin = Pin(entry.process, entry.process_version, entry.definition)
    return _noted(state, entry.step, replace(state.steps[entry.step - 1], carrier=pin))


def _payload_erased(state: Runbook, entry: e.PayloadErased) -> Runbook:
    return replace(state, erased_at=entry.at)


def _agent_used(state: Runbook, entry: e.AgentUsed) -> Runbook:
    step = state.steps[entry.step - 1]
    spent = after(step.spent, entry.uses, entry.duration, entry.is_cut)
    state = _noted(state, entry.step, replace(step, spent=spent))
    return replace(state, spent=after(state.spent, entry.uses, entry.duration, entry.is_cut))


def _proposal_made(state: Runbook, entry: e.ProposalMade) -> Runbook:
    return _noted(state, entry.step, replace(state.steps[entry.step - 1], proposal=entry.proposal))


def _question_asked(state: Runbook, entry: e.QuestionAsked) -> Runbook:
    step = state.steps[entry.step - 1]
    asking = replace(step, question=entry.question, answer=b"", proposal=b"", uncounted=step.uncounted + 1)
    return _noted(state, entry.step, asking)


def _step_held(state: Runbook, entry: e.StepHeld) -> Runbook:
    step = state.steps[entry.step - 1]
    frame = step.frame
    if frame is not None and frame.status == "started":
        frame = replace(frame, status="failed", ended_at=entry.at, worker=0)
    held = replace(
        step, status="pending" if entry.retry_at else "parked", frame=frame, retry_at=entry.retry_at,
        uncounted=step.uncounted + 1, hold=Hold(entry.code, entry.text, entry.at),
    )  # fmt: skip
    state = _with_step(state, entry.step, held, "executing" if entry.retry_at else "parked")
    return noted_waiting(state, entry.step, entry.code)


def _question_answered(state: Runbook, entry: e.QuestionAnswered) -> Runbook:
    return _noted(state, entry.step, replace(state.steps[entry.step - 1], answer=entry.answer))


def _override_proposed(state: Runbook, entry: e.OverrideProposed) -> Runbook:
    made = Override(
        entry.number,
        entry.at,
        entry.act,
        entry.what,
        entry.tasks,
        entry.needs,
        entry.by,
        entry.reason,
        entry.behind,
        entry.covered,
    )
    return replace(state, overrides=remembered(state.overrides, made))


def _override_agreed(state: Runbook, entry: e.OverrideAgreed) -> Runbook:
    told = (entry.number, entry.by, entry.behind, entry.reason, entry.covered)
    return replace(state, overrides=agreed(state.overrides, *told))


_TABLE: dict[type, Callable[[Runbook, Any], Runbook]] = {
    e.StepReady: _step_ready,
    e.AttemptStarted: _attempt_started,
    e.AttemptFailed: _attempt_failed,
    e.AttemptDiscarded: _unchanged,
    e.StepCompleted: _step_completed,
    e.StepFailed: _step_failed,
    e.StepParked: _step_parked,
    e.TaskOpened: _task_opened,
    e.TaskActed: _task_acted,
    e.TaskChased: _task_chased,
    e.TaskAnswered: _task_answered,
    e.TaskReopened: _task_reopened,
    e.CompletionReceived: _completion_received,
    e.CompletionIgnored: _unchanged,
    e.CorrelationFailed: _unchanged,
    e.TimedOut: _timed_out,
    e.Escalated: _escalated,
    e.IncidentRaised: _incident_raised,
    e.IncidentResolved: _incident_resolved,
    e.CancelRequested: _unchanged,
    e.CallCancelled: _call_cancelled,
    e.ProgressPosted: _progress_posted,
    e.AmendmentProposed: _amendment_proposed,
    e.AmendmentApproved: _amendment_approved,
    e.PayloadErased: _payload_erased,
    e.ProcessAsked: _process_asked,
    e.IncidentCreated: _unchanged,
    e.IncidentClosed: _unchanged,
    e.AgentUsed: _agent_used,
    e.ProposalMade: _proposal_made,
    e.ProposalAnswered: _unchanged,
    e.QuestionAsked: _question_asked,
    e.QuestionAnswered: _question_answered,
    e.StepHeld: _step_held,
    e.BudgetReserved: budget_reserved,
    e.BudgetReleased: budget_released,
    e.BudgetSet: budget_set,
    e.OverrideProposed: _override_proposed,
    e.OverrideAgreed: _override_agreed,
    **PLAN_TABLE,
}
