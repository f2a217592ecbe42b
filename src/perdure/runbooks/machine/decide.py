"""Decisions of a runbook: one small pure function per command, in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from perdure.agent_usage import OVER_BUDGET, Reservation, after, bounds, excess, is_used_up, reservation_at
from perdure.errors import Rejection
from perdure.human_tasks import unseen_question
from perdure.journal import Decision, Origin
from perdure.overrides import Act, hash_of
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.agent_budgets import WAITS, reserved, room_for, set_budget, settled
from perdure.runbooks.machine.attempt_outcomes import MAX_TOKENS, agent_used, attempt_number, outcome_entries
from perdure.runbooks.machine.decide_plan import STEERING, cancel, changed_meanwhile, follow, steer
from perdure.runbooks.machine.human_tasks import LADDER, act, answered, chased, is_half
from perdure.runbooks.machine.outcome_propagation import Begin
from perdure.runbooks.machine.overrides import corrects_decision, may_correct, passage
from perdure.runbooks.machine.state import ENDED, TOKEN_STATES, WAITING, Failure, Runbook, Step, Token
from perdure.verb_contract import RetryPolicy

MAX_INTERRUPTIONS = 5
"""How often one attempt may be cut off by a dying process before a person must look."""
MAX_AMENDMENTS = 100
ESCALATION_STUCK = "escalation.stuck"
HANDED_ON = ("ask", "decide")
"""What a plan says of a failure that somebody is told of, whatever kind it is."""

Answer = Decision | Rejection


def decide(
    state: Runbook | None, command: c.Command, origin: Origin, now: int, chance: float, begin: Begin | None = None
) -> Answer:
    """Entries and an answer, or a rejection; never both. `begin` says how steps that became ready begin at once."""
    if type(command) is c.StartCall:
        return _start(state, command, origin, now, chance)
    if type(command) in STEERING:
        return steer(state, command, origin, now, begin)
    if state is None:
        return Rejection("not_found", "find", "call", "?", "there is no such call")
    if not state.steps and type(command) not in _WITHOUT_STEPS:
        return Rejection("wrong_state", "change", "call", "?", f"it is {state.status} and has no steps")
    if type(command) is c.NoteFailedCorrelation:
        return _noted(state, command, now)
    if state.course is not None:
        return _of_plan(state, command, origin, now, chance, begin)
    return _of_step(state, command, origin, now, chance)


def _noted(state: Runbook, command: c.NoteFailedCorrelation, now: int) -> Answer:
    if not 1 <= command.step <= len(state.steps):
        return Rejection("not_found", "find", "call", "?", f"it has no step {command.step}")
    noted = e.CorrelationFailed(
        command.step, now, command.name, command.key, command.message_id, command.outcome, command.why
    )  # fmt: skip
    return Decision((noted,), "noted")


def _of_plan(
    state: Runbook, command: c.Command, origin: Origin, now: int, chance: float, begin: Begin | None
) -> Answer:
    if type(command) is c.Cancel:
        return cancel(state, command, origin, now)
    if (refused := changed_meanwhile(state, command)) is not None:
        return refused
    answer = _of_step(state, command, origin, now, chance)
    return answer if isinstance(answer, Rejection) else follow(state, command, answer, now, begin)


def _of_step(state: Runbook, command: c.Command, origin: Origin, now: int, chance: float) -> Answer:
    if type(command) is c.ProposeAmendment:
        return _propose(state, command, origin, now)
    if type(command) is c.ApproveAmendment:
        return _approve(state, command, origin, now)
    if type(command) is c.ResolveIncident:
        return _resolve_incident(state, command, origin, now)
    if type(command) is c.SetBudget:
        return set_budget(state, command, origin, now)
    return _TABLE[type(command)](state, command, now, chance)


def _start(state: Runbook | None, command: c.StartCall, origin: Origin, now: int, chance: float) -> Answer:
    if state is not None:
        return Decision((), "replayed")
    started = e.CallStarted(
        command.verb, command.version, command.definition, command.input, now, origin.principal,
        origin.trace, command.parent, command.idempotency_key, origin.behind,
    )  # fmt: skip
    outcome = command.outcome
    if outcome is not None:
        used = (agent_used(1, 1, now, command.used),) if command.used is not None else ()
        return Decision((started, *used, *outcome_entries(1, 1, outcome, now, chance, askers=origin.names)))
    if command.worker:
        return Decision((started, e.AttemptStarted(1, 1, now, command.worker, 0, command.definition)))
    return Decision((started, e.StepReady(1, now)))


def _lease(state: Runbook, command: c.LeaseJob, now: int, chance: float) -> Answer:
    step = state.steps[command.step - 1]
    if step.status == "ready":
        if step.links is not None:
            return Decision((), "gone")  # a step of a plan is launched: its references are resolved first
        begun = e.AttemptStarted(command.step, attempt_number(step), now, command.worker, 0, step.definition)
        return Decision((begun,), "leased")
    frame = step.frame
    if step.status != "running" or frame is None or frame.worker != command.abandoned:
        return Decision((), "gone")
    if command.redelivery == "incident":
        text = (
            f"Attempt {frame.attempt} of '{step.verb}' was interrupted and may or may not have taken effect outside. "
            "Look there, then `incidents retry` to run it again or `incidents resolve` to record what happened."
        )
        return Decision((e.IncidentRaised(command.step, now, "job.interrupted", text, frame.attempt),), "incident")
    if frame.interruptions + 1 >= MAX_INTERRUPTIONS:
        text = (
            f"Attempt {frame.attempt} of '{step.verb}' was cut off {MAX_INTERRUPTIONS} times by a dying process; the "
            "handler may be what kills it. Mend the handler, then `incidents retry`."
        )
        return Decision((e.IncidentRaised(command.step, now, "job.interrupted", text, frame.attempt),), "incident")
    again = e.AttemptStarted(
        command.step, frame.attempt, now, command.worker, frame.interruptions + 1, step.definition
    )  # fmt: skip
    return Decision((again,), "leased")


def _again(step: Step, number: int, now: int, worker: int) -> e.Entry:
    """Another attempt, by whoever asks; one who cannot run it leaves it to any worker."""
    if not worker:
        return e.StepReady(number, now)
    return e.AttemptStarted(number, attempt_number(step), now, worker, 0, step.definition)


def _record(state: Runbook, command: c.RecordAttempt, now: int, chance: float) -> Answer:
    step = state.steps[command.step - 1]
    frame = step.frame
    if step.status != "running" or frame is None or frame.attempt != command.attempt or frame.worker != command.worker:
        why = f"the step is {step.status}"
        return Decision(
            (e.AttemptDiscarded(command.step, command.attempt, now, command.worker, why), *_used(step, command, now)),
            "discarded", keeps=False,
        )  # fmt: skip
    links = step.links
    tried = (links.tried if links is not None else 0) + step.uncounted
    outcome = _within_budget(state, command)
    if type(outcome) is c.Hold and _has_room(state, command):
        again = e.StepReady(command.step, now)
        return Decision((*_used(step, command, now), *settled(state, command.step, now), again))
    made = outcome_entries(
        command.step, command.attempt, outcome, now, chance, tried, len(step.tokens), askers=state.askers,
        is_handed_on=links is not None and links.on_failure in HANDED_ON,
    )  # fmt: skip
    return Decision((*_used(step, command, now), *settled(state, command.step, now), *made))


def _has_room(state: Runbook, command: c.RecordAttempt) -> bool:
    """Whether what an attempt was held for is there by now: the budget was set while it was told that there is none."""
    if command.budget is None or not isinstance(command.outcome, c.Hold) or command.outcome.code not in WAITS:
        return False
    after_it = state
    if command.used is not None:
        uses = command.used.uses
        if uses and not is_used_up(reservation_at(state.ledger, command.step), uses):
            return False
        after_it = replace(state, spent=after(state.spent, command.used.uses, command.used.duration))
    return isinstance(room_for(after_it, command.step, command.budget, command.wanted), Reservation)


def _within_budget(state: Runbook, command: c.RecordAttempt) -> c.AttemptOutcome:
    """The outcome; a failure when others have spent meanwhile what this attempt would have needed."""
    if command.budget is None or command.used is None or type(command.outcome) in (c.Fail, c.Hold):
        return command.outcome
    words = excess(bounds(state.ledger, command.budget), state.spent, command.used.uses)
    return c.Fail(Failure("permanent_business", OVER_BUDGET, words), RetryPolicy()) if words else command.outcome


def _used(step: Step, command: c.RecordAttempt, now: int) -> tuple[e.Entry, ...]:
    """What the attempt used, recorded whatever else becomes of it."""
    used, frame = command.used, step.frame
    if used is None:
        return ()
    is_cut = frame is not None and frame.attempt == command.attempt and frame.interruptions > 0
    return (agent_used(command.step, command.attempt, now, used, is_cut),)


def _complete(state: Runbook, command: c.Complete, now: int, chance: float) -> Answer:
    step = state.steps[command.step - 1]
    if not 1 <= command.token <= len(step.tokens):
        return Rejection("not_found", "complete", "call", "?", "it has no such wait")
    token = step.tokens[command.token - 1]
    if token.status != WAITING:
        why = TOKEN_STATES[token.status]
        ignored = e.CompletionIgnored(command.step, command.token, now, command.message_id, why)
        is_known = why == "resolved" and _is_what_came(state, step, command)
        return Decision((ignored,), "duplicate" if is_known else "late", keeps=False)
    if step.incident is not None:
        return Rejection(
            "blocked", "complete", "call", "?", f"it has an open incident '{step.incident.code}'",
            "Retry or resolve the incident first, then replay the completion from the dead letters.",
        )  # fmt: skip
    by: tuple[e.Entry, ...] = ()
    if token.task is not None:
        if step.is_asking and command.token > 1 and not command.seen and command.failure is None:
            return unseen_question(f"?:{command.step}")
        answer = answered(command.step, command.token, step, token.task, command, now)
        if isinstance(answer, Rejection):
            return answer
        if is_half(answer):
            return Decision(answer)
        by = (*answer, *_proposal_answered(step, command, now))
    if command.is_expired:
        return Decision(_expire(step, command.step, command.token, token, now))
    received = e.CompletionReceived(command.step, command.token, now, command.message_id)
    if command.failure is not None:
        return Decision((*by, received, e.StepFailed(command.step, now, command.failure)))
    assert command.result is not None
    if step.is_asking and token.task is not None:
        return Decision((*by, received, *_resumed(step, command, now)))
    return Decision((*by, received, e.StepCompleted(command.step, now, command.result)))


def _resumed(step: Step, command: c.Complete, now: int) -> tuple[e.Entry, ...]:
    """The agent of the step goes on with what a person answered."""
    assert command.result is not None
    answered = e.QuestionAnswered(command.step, now, command.who.name, command.result)
    if step.links is not None:
        return answered, e.StepReady(command.step, now)  # its locks are taken again when it is launched
    return answered, _again(step, command.step, now, command.worker)


def _is_what_came(state: Runbook, step: Step, command: c.Complete) -> bool:
    """Whether a completion says what the one said that ended the wait; data corrected since says nothing of that."""
    if command.failure is not None:
        return command.failure == step.error
    if any(each.target == "result" and each.approved_by for each in state.amendments):
        return True
    return command.result is not None and command.result in (step.result, step.answer)


def _proposal_answered(step: Step, command: c.Complete, now: int) -> tuple[e.Entry, ...]:
    return (e.ProposalAnswered(command.step, now, command.who.name, command.accepts),) if step.proposal else ()


def _expire(step: Step, number: int, token_number: int, token: Token, now: int) -> tuple[e.Entry, ...]:
    timed_out = e.TimedOut(number, token_number, now)
    if token.escalation and len(step.tokens) < MAX_TOKENS:
        # Under the step's own key: that of the wait may be taken again while the escalation still runs.
        return (timed_out, e.Escalated(number, now, token.escalation))
    failure = Failure("permanent_business", "timed_out", f"Nothing answered '{step.verb}' before its time ran out.")
    return (timed_out, e.StepFailed(number, now, failure))


def _fire(state: Runbook, command: c.FireTimer, now: int, chance: float) -> Answer:
    step = state.steps[command.step - 1]
    if command.due > now:
        return Decision((), "early")
    if command.kind == "retry":
        if step.status != "pending" or step.retry_at != command.due:
            return Decision((), "gone")
        return Decision((_again(step, command.step, now, command.worker),), "leased")
    if command.kind == LADDER:
        climbed = chased(step, command.step, command.due, now)
        return Decision(climbed, "fired" if climbed else "gone")
    for number, token in enumerate(step.tokens, 1):
        if token.status == WAITING and token.due == command.due and step.incident is None:
            return Decision(_expire(step, command.step, number, token, now))
    return Decision((), "gone")


def _cancel(state: Runbook, command: c.Cancel, now: int, chance: float) -> Answer:
    if state.status == "cancelled":
        return Decision((), "replayed")
    if state.status in ENDED:
        return Rejection("wrong_state", "cancel", "call", "?", f"it is already {state.status}")
    completed = sum(step.status == "completed" for step in state.steps)
    return Decision((e.CancelRequested(now, command.reason), e.CallCancelled(now, completed)))


def _progress(state: Runbook, command: c.PostProgress, now: int, chance: float) -> Answer:
    if state.status in ENDED:
        return Rejection("wrong_state", "post progress to", "call", "?", f"it is already {state.status}")
    if state.steps[command.step - 1].progress == command.text:
        return Decision((), "replayed")
    return Decision((e.ProgressPosted(command.step, now, command.text),))


def _raise_incident(state: Runbook, command: c.RaiseIncident, now: int, chance: float) -> Answer:
    step = state.steps[command.step - 1]
    if step.status in ENDED or step.incident is not None:
        return Decision((), "gone")
    return Decision((e.IncidentRaised(command.step, now, command.code, command.text),))


def _tell_incident(state: Runbook, command: c.TellIncident, now: int, chance: float) -> Answer:
    # Also of a step that has ended: what its process tells, and that it ended, come in either order.
    if state.erased_at:
        return Decision((), "gone")
    if command.how:
        return Decision((e.IncidentClosed(command.step, now, command.token, command.element, command.how),))
    created = e.IncidentCreated(command.step, now, command.token, command.element, command.code, command.text)
    return Decision((created,))


def _retry_incident(state: Runbook, command: c.RetryIncident, now: int, chance: float) -> Answer:
    step = state.steps[command.step - 1]
    if step.incident is None:
        return Rejection("wrong_state", "retry the incident of", "call", "?", "it has no open incident")
    resolved = e.IncidentResolved(command.step, now, "retried")
    if step.incident.code == ESCALATION_STUCK:
        return _escalate_again(step, command.step, resolved, now)
    if any(token.status == WAITING for token in step.tokens):
        return Decision((resolved,))
    if step.links is not None:
        return Decision((resolved, e.StepReady(command.step, now)))  # its locks are taken again when it is launched
    return Decision((resolved, _again(step, command.step, now, command.worker)), "leased")


def _escalate_again(step: Step, number: int, resolved: e.IncidentResolved, now: int) -> Answer:
    """The escalation that could not be carried out gives way to a new one."""
    position = next((at for at, token in enumerate(step.tokens, 1) if token.status == WAITING), 0)
    if not position:
        return Decision((resolved,))
    if len(step.tokens) >= MAX_TOKENS:
        return Rejection(
            "blocked", "retry the incident of", "call", "?", f"it was escalated {MAX_TOKENS - 1} times already",
            "Resolve the incident by hand.",
        )  # fmt: skip
    escalation = e.Escalated(number, now, step.tokens[position - 1].name)
    return Decision((resolved, e.TimedOut(number, position, now), escalation))


def _resolve_incident(state: Runbook, command: c.ResolveIncident, origin: Origin, now: int) -> Answer:
    step = state.steps[command.step - 1]
    if step.incident is None:
        return Rejection("wrong_state", "resolve the incident of", "call", "?", "it has no open incident")
    act = Act("resolve the incident of", "call", hash_of("resolve", command.step, command.result, command.failure))
    passed = passage(state, command.step, act, command.unseen, origin, command.reason, now)
    if not isinstance(passed, tuple):
        return passed
    if command.failure is not None:
        resolved = e.IncidentResolved(command.step, now, "failed", command.reason)
        return Decision((*passed, resolved, e.StepFailed(command.step, now, command.failure)))
    assert command.result is not None
    resolved = e.IncidentResolved(command.step, now, "completed", command.reason)
    return Decision((*passed, resolved, e.StepCompleted(command.step, now, command.result)))


def _propose(state: Runbook, command: c.ProposeAmendment, origin: Origin, now: int) -> Answer:
    if state.erased_at:
        return Rejection("wrong_state", "amend", "call", "?", "its data has been erased")
    if state.course is not None:
        hint = "Skip or retry the step, or extend the runbook with one that corrects it."
        return Rejection("blocked", "amend", "call", "?", "it is a runbook of several steps", hint)
    if len(state.amendments) >= MAX_AMENDMENTS:
        return Rejection("blocked", "amend", "call", "?", f"it has {MAX_AMENDMENTS} amendments already")
    if command.target == "result" and state.steps[0].result is None:
        return Rejection("wrong_state", "amend", "call", "?", "it has no result yet")
    if not command.reason.strip():
        return Rejection("invalid", "amend", "call", "?", "no reason was given")
    number, author = len(state.amendments) + 1, (origin.principal, now, origin.names)
    proposed = e.AmendmentProposed(number, command.target, command.hash, command.reason, *author)
    return Decision((proposed,), "proposed")


def _approve(state: Runbook, command: c.ApproveAmendment, origin: Origin, now: int) -> Answer:
    if not 1 <= command.number <= len(state.amendments):
        return Rejection("not_found", "approve amendment of", "call", "?", f"it has no amendment {command.number}")
    if state.erased_at:
        return Rejection("wrong_state", "amend", "call", "?", "its data has been erased")
    amendment = state.amendments[command.number - 1]
    if amendment.approved_by:
        return Decision((), "replayed", keeps=False)
    proposers = (amendment.by, *amendment.behind)
    if same := next((name for name in origin.names if name in proposers), ""):
        return Rejection(
            "forbidden", "approve amendment of", "call", "?", f"'{same}' proposed it",
            "A second person must approve it.",
        )  # fmt: skip
    is_override = corrects_decision(state)
    if is_override and not may_correct(state, origin, amendment.reason):
        fact = f"people decide on its data and '{origin.principal}' could not have answered"
        hint = "Somebody must approve it who could have answered, and did not ask."
        return Rejection("forbidden", "approve amendment of", "call", "?", fact, hint)
    return Decision((e.AmendmentApproved(command.number, origin.principal, now, is_override),), "approved")


def _erase(state: Runbook, command: c.Erase, now: int, chance: float) -> Answer:
    if state.erased_at:
        return Decision((), "replayed", keeps=False)
    if state.status not in ENDED:
        return Rejection("wrong_state", "erase the data of", "call", "?", f"it is {state.status}", "Cancel it first.")
    return Decision((e.PayloadErased(now, command.reason),), "erased")


_WITHOUT_STEPS = frozenset({c.Cancel, c.Erase})

_TABLE: dict[type, Callable[[Runbook, Any, int, float], Answer]] = {
    c.LeaseJob: _lease,
    c.RecordAttempt: _record,
    c.ReserveBudget: lambda state, command, now, chance: reserved(state, command, now),
    c.Complete: _complete,
    c.ActOnTask: act,
    c.FireTimer: _fire,
    c.Cancel: _cancel,
    c.PostProgress: _progress,
    c.RaiseIncident: _raise_incident,
    c.TellIncident: _tell_incident,
    c.RetryIncident: _retry_incident,
    c.Erase: _erase,
}
