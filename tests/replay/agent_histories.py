"""A short history of a call whose agent failed, was not sure and was confirmed, with every entry of agents."""

from __future__ import annotations

from typing import Any

from perdure.agent_usage import ModelUse
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.state import Failure

USES = (ModelUse("judge-1", 1200, 80, 2, 3200), ModelUse("judge-2", 10, 0, 1, None, 1))
SLOW = Failure("transient_external", "handler.transient", "The agent did not answer within 60 seconds.")


def agent_history(
    started: e.Entry, at: Any, result: bytes, proposal: bytes
) -> tuple[tuple[str, tuple[e.Entry, ...]], ...]:
    return (
        ("StartCall", (started, e.AttemptStarted(1, 1, at(0), 3))),
        ("RecordAttempt", (
            e.AgentUsed(1, 1, at(60), "agent:judge", 60_000_000, USES, True),
            e.AttemptFailed(1, 1, at(60), SLOW, at(61)),
        )),
        ("FireTimer", (e.AttemptStarted(1, 2, at(61), 3),)),
        ("RecordAttempt", (
            e.AgentUsed(1, 2, at(62), "agent:judge", 1_000_000, USES[:1]),
            e.ProposalMade(1, at(62), "agent:judge", proposal, "the agent is 0.4 sure, and 0.8 is asked for", 0.4),
            e.StepParked(1, at(62), "kyc.score"),
            e.TaskOpened(1, 1, at(62), groups=("compliance",), requester="agent:judge", title="Decide"),
        )),
        ("Complete", (
            e.TaskActed(1, 1, at(70), "complete", "rita"), e.ProposalAnswered(1, at(70), "rita", True),
            e.CompletionReceived(1, 1, at(70), "m-1"), e.StepCompleted(1, at(70), result),
        )),
    )  # fmt: skip


def question_history(
    started: e.Entry, at: Any, result: bytes, question: bytes
) -> tuple[tuple[str, tuple[e.Entry, ...]], ...]:
    """Of a call whose agent asked a person and went on with the answer."""
    return (
        ("StartCall", (started, e.AttemptStarted(1, 1, at(0), 3))),
        ("RecordAttempt", (
            e.QuestionAsked(1, 1, at(5), "agent:judge", question), e.StepParked(1, at(5), "kyc.score"),
            e.TaskOpened(1, 1, at(5), groups=("compliance",), title="Answer agent:judge"),
        )),
        ("Complete", (
            e.TaskActed(1, 1, at(70), "complete", "rita"), e.CompletionReceived(1, 1, at(70), "m-1"),
            e.QuestionAnswered(1, at(70), "rita", result), e.AttemptStarted(1, 2, at(70), 3),
        )),
        ("RecordAttempt", (e.StepHeld(1, 2, at(71), "agent.open", "The circuit breaker is open.", at(75)),)),
        ("FireTimer", (e.AttemptStarted(1, 3, at(75), 3),)),
        ("ReserveBudget", (e.BudgetReserved(1, 3, at(75), 1000, None),)),
        ("RecordAttempt", (
            e.AgentUsed(1, 3, at(76), "agent:judge", 1_000_000, USES[:1]), e.BudgetReleased(1, at(76)),
            e.StepHeld(1, 3, at(76), "agent.budget", "Nothing is left.", 0),
        )),
        ("SetBudget", (e.BudgetSet(at(77), "rita", 9000, 500_000, "worth it", True), e.StepReady(1, at(77)))),
        ("LeaseJob", (e.AttemptStarted(1, 4, at(77), 3),)),
        ("RecordAttempt", (e.StepCompleted(1, at(80), result),)),
    )  # fmt: skip
