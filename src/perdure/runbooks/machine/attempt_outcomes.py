"""Attempt outcomes become entries: the same for a call and for a step of a plan."""

from __future__ import annotations

from perdure.agent_usage import Used
from perdure.human_tasks import TaskContract
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.human_tasks import opened
from perdure.runbooks.machine.state import Failure, Pin, Step
from perdure.verb_contract import RetryPolicy, nature_of

SECOND = 1_000_000
MAX_TOKENS = 32
"""How often one step may wait."""
TOO_MANY = "agent.questions"


def outcome_entries(
    step: int,
    attempt: int,
    outcome: c.AttemptOutcome,
    now: int,
    chance: float,
    tried: int = 0,
    waits: int = 0,
    *,
    askers: tuple[str, ...],
    is_handed_on: bool = False,
) -> tuple[e.Entry, ...]:
    """What one attempt leads to; `tried` are attempts of before somebody began the step anew, `waits` it had before.

    `is_handed_on` where the plan hands a failure to somebody: a broken contract is one as well, and no incident.
    """
    if type(outcome) is c.Done:
        return (e.StepCompleted(step, now, outcome.result, outcome.flags),)
    if type(outcome) is c.Park:
        due = outcome.due or (now + int(outcome.timeout_seconds * SECOND) if outcome.timeout_seconds is not None else 0)
        parked = e.StepParked(step, now, outcome.name, outcome.key, due, outcome.escalation, outcome.is_shared)
        pin = outcome.carrier
        if pin is not None:
            return (parked, e.ProcessAsked(step, now, *_pinned(pin)))
        return (parked, *opened(step, waits + 1, outcome, askers, now))
    if type(outcome) is c.Propose:
        return _proposed(step, outcome, waits + 1, now)
    if type(outcome) is c.Ask:
        return _asked(step, attempt, outcome, waits + 1, askers, now)
    if type(outcome) is c.Hold:
        again = now + int(outcome.after_seconds * SECOND) if outcome.after_seconds is not None else 0
        return (e.StepHeld(step, attempt, now, outcome.code, outcome.text, again),)
    assert type(outcome) is c.Fail
    if nature_of(outcome.failure.kind) == "contract" and not is_handed_on:
        return _stuck(step, attempt, outcome, now)
    return _failed(step, attempt, outcome, now, chance, tried)


def _proposed(step: int, outcome: c.Propose, token: int, now: int) -> tuple[e.Entry, ...]:
    """A person of the group decides, and never the one who proposes."""
    title = f"Decide upon what {outcome.by} proposes for {outcome.name}"
    task = TaskContract(title, groups=(outcome.group,), four_eyes=True)
    made = e.ProposalMade(step, now, outcome.by, outcome.proposal, outcome.why, outcome.confidence)
    park = c.Park(outcome.name, task=task)
    return made, e.StepParked(step, now, outcome.name), *opened(step, token, park, (outcome.by,), now)


def _asked(
    step: int, attempt: int, outcome: c.Ask, token: int, askers: tuple[str, ...], now: int
) -> tuple[e.Entry, ...]:
    if token > MAX_TOKENS:
        text = f"'{outcome.name}' has asked {MAX_TOKENS} questions and may ask no more. End what repeats in its graph."
        failure = Failure("permanent_contract", TOO_MANY, text)
        return _failed(step, attempt, c.Fail(failure, RetryPolicy()), now, 0.0, 0)
    asked = e.QuestionAsked(step, attempt, now, outcome.by, outcome.question)
    park = c.Park(outcome.name, task=outcome.task)
    return asked, e.StepParked(step, now, outcome.name), *opened(step, token, park, askers, now)


def agent_used(step: int, attempt: int, now: int, used: Used, is_cut: bool = False) -> e.AgentUsed:
    return e.AgentUsed(step, attempt, now, used.agent, used.duration, used.uses, is_cut)


def attempt_number(step: Step) -> int:
    """The number of the attempt that would come next."""
    return step.frame.attempt + 1 if step.frame is not None else 1


def _pinned(pin: Pin) -> tuple[str, int, bytes]:
    return pin.process, pin.version, pin.definition


def _stuck(step: int, attempt: int, outcome: c.Fail, now: int) -> tuple[e.Entry, ...]:
    failure = outcome.failure
    return (
        e.AttemptFailed(step, attempt, now, failure, 0, outcome.trace),
        e.IncidentRaised(step, now, failure.code, failure.message, attempt),
    )


def _failed(step: int, attempt: int, outcome: c.Fail, now: int, chance: float, tried: int) -> tuple[e.Entry, ...]:
    failure, policy = outcome.failure, outcome.policy
    if failure.kind in policy.retry_on and attempt - tried < policy.max_attempts:
        delay = policy.delay_seconds(attempt - tried, chance)
        if outcome.after_seconds is not None:
            delay = max(delay, outcome.after_seconds)
        return (e.AttemptFailed(step, attempt, now, failure, now + int(delay * SECOND), outcome.trace),)
    return (e.AttemptFailed(step, attempt, now, failure, 0, outcome.trace), e.StepFailed(step, now, failure))
