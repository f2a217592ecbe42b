"""Short histories of plans and drafts that hold every entry of theirs, at least once with every field filled in."""

from __future__ import annotations

from hashlib import sha256

from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.state import Failure, VerbPin

START = 1_700_000_000_000_000
PLAN, LONGER, DOCUMENT, MORE, INPUT, RESULT, VERB = (
    sha256(each).digest()
    for each in (b"plan", b"longer plan", b"document", b"more steps", b"input", b"result", b"verb")
)
REFUSED = Failure("permanent_business", "refused", "They said no.")
DECIDER = VerbPin("kyc.think", 1, VERB)
UNDO = VerbPin("kyc.forget", 2, VERB)

Commands = tuple[tuple[str, tuple[e.Entry, ...]], ...]


def at(second: int) -> int:
    return START + second * 1_000_000


def added(name: str, verb: str = "kyc.score", **links: object) -> e.Added:
    return e.Added(name, verb, 1, VERB, **links)  # type: ignore[arg-type]


def started(*steps: e.Added, is_sealed: bool = True) -> tuple[e.Entry, ...]:
    opening = e.RunbookStarted(at(0), "ada", "00-11", PLAN, "case-7", is_sealed, DECIDER, "order-7", ("rita",))
    return (opening, e.StepsAdded(at(0), PLAN, DOCUMENT, 1, steps))


PLAN_HISTORIES: dict[str, Commands] = {
    "a plan with a choice, an extension and a seal": (
        ("StartRunbook", (
            *started(
                added("score"), e.Added("if", "", 0, b"", needs=(1,)), added("yes", sides=((2, True),)),
                added("no", sides=((2, False),)), added("end", after=(3,), either=((3, 4),)), is_sealed=False,
            ),
            e.StepReady(1, at(0)), e.StepBegun(1, at(0), INPUT, ("case/7", "case/8")), e.AttemptStarted(1, 1, at(0), 3),
        )),
        ("RecordAttempt", (e.StepCompleted(1, at(1), RESULT), e.StepReady(2, at(1)))),
        ("LaunchSteps", (
            e.ChoiceMade(2, at(2), True), e.StepReady(3, at(2)), e.StepSkipped(4, at(2), "choice"),
        )),
        ("ExtendPlan", (
            e.StepsAdded(at(3), LONGER, MORE, 6, (added("check"),), ("bob", "eve")), e.EdgesAdded(at(3), ((5, 6),)),
            e.StepReady(6, at(3)),
        )),
        ("SkipStep", (e.StepSkipped(6, at(4), "person", "not needed"),)),
        ("SealRunbook", (e.RunbookSealed(at(5)),)),
        ("Cancel", (
            e.CancelRequested(at(6), "slow"), e.StepCancelled(3, at(6), "slow"), e.StepSkipped(5, at(6), "input"),
        )),
        ("Conclude", (e.RunbookCompleted(at(7)),)),
    ),
    "failures that the rest outlives, and one that somebody is asked about": (
        ("StartRunbook", (
            *started(added("a", on_failure="fail"), added("b", on_failure="ask")),
            e.StepReady(1, at(0)), e.StepReady(2, at(0)),
        )),
        ("LaunchSteps", (
            e.StepBegun(1, at(1), INPUT), e.AttemptStarted(1, 1, at(1), 3),
            e.StepBegun(2, at(1), INPUT), e.AttemptStarted(2, 1, at(1), 3),
        )),
        ("RecordAttempt", (e.AttemptFailed(1, 1, at(2), REFUSED), e.StepFailed(1, at(2), REFUSED))),
        ("RecordAttempt", (
            e.AttemptFailed(2, 1, at(3), REFUSED), e.StepFailed(2, at(3), REFUSED), e.FailureAsked(2, at(3)),
        )),
        ("RetryStep", (e.StepRetried(2, at(4), "it is back"), e.StepReady(2, at(4)))),
        ("LaunchSteps", (e.StepBegun(2, at(5), INPUT), e.AttemptStarted(2, 2, at(5), 3))),
        ("RecordAttempt", (e.StepCompleted(2, at(6), RESULT), e.RunbookFailed(at(6)))),
    ),
    "a failure that stops, is retried, decided and passed": (
        ("StartRunbook", (
            *started(
                added("a"), added("b"), added("c", needs=(1,), on_failure="decide", alternative=DECIDER),
                added("pay", gate="treasury", after=(2,)),
            ),
            e.StepReady(1, at(0)), e.StepReady(2, at(0)),
        )),
        ("LaunchSteps", (e.StepBegun(1, at(1), INPUT), e.AttemptStarted(1, 1, at(1), 3))),
        ("RecordAttempt", (
            e.AttemptFailed(1, 1, at(2), REFUSED), e.StepFailed(1, at(2), REFUSED), e.StepsHeld(at(2), (2,)),
            e.RunbookFailed(at(2)),
        )),
        ("RetryStep", (e.StepRetried(1, at(3), "it is back"), e.StepReady(1, at(3)), e.StepReady(2, at(3)))),
        ("LaunchSteps", (e.StepBegun(1, at(4), INPUT), e.AttemptStarted(1, 2, at(4), 3))),
        ("RecordAttempt", (e.StepCompleted(1, at(5), RESULT), e.StepReady(3, at(5)))),
        ("LaunchSteps", (e.StepBegun(3, at(6), INPUT), e.AttemptStarted(3, 1, at(6), 3))),
        ("RecordAttempt", (
            e.AttemptFailed(3, 1, at(7), REFUSED), e.StepFailed(3, at(7), REFUSED),
            e.StepsAdded(at(7), PLAN, b"", 5, (added("c/decision", "kyc.think", on_failure="ask", decides=3),)),
            e.StepReady(5, at(7)),
        )),
        ("LaunchSteps", (e.StepBegun(5, at(8), INPUT), e.AttemptStarted(5, 1, at(8), 3))),
        ("RecordAttempt", (
            e.StepCompleted(5, at(9), RESULT), e.DecisionMade(5, at(9), "no other way", 0.75, True),
            e.FailurePassed(3, at(9)), e.StepSkipped(2, at(9), "decision", "no other way"),
            e.GateClosed(4, at(9), "treasury"),
        )),
        ("AnswerGate", (
            e.GateAnswered(4, at(10), "bob", True, "fine", "treasury", ("eve",), "aa.bb"), e.StepReady(4, at(10)),
        )),
        ("ExtendPlan", (e.GateReopened(4, at(11), ("plan: step 'more' added",), "treasury"),)),
        ("SkipStep", (
            e.OverrideProposed(
                1, at(12), INPUT, "skip step 'pay' of", ("gate 'pay' (treasury)",), "group treasury", "otto", "late",
                ("root",), ("another",),
            ),
        )),
        ("SkipStep", (
            e.OverrideAgreed(1, at(13), "rita", "I looked", ("zoe",), ("gate 'pay' (treasury)",)),
            e.StepSkipped(4, at(13), "person", "I looked"),
        )),
    ),
    "shared waits, taken back": (
        ("StartRunbook", (
            *started(added("a", compensate=UNDO)), e.StepReady(1, at(0)), e.StepBegun(1, at(0), INPUT),
            e.StepParked(1, at(0), "kyc.score", "market-open", at(60), "kyc.senior", True),
        )),
        ("Complete", (
            e.CompletionReceived(1, 1, at(1), "m-1"), e.StepCompleted(1, at(1), RESULT), e.RunbookCompleted(at(1)),
        )),
        ("Compensate", (
            e.CompensationStarted(at(2), "a mistake"),
            e.StepsAdded(at(2), PLAN, b"", 2, (added("a/undo", "kyc.forget", on_failure="continue", undoes=1),)),
            e.StepReady(2, at(2)), e.StepBegun(2, at(2), INPUT), e.AttemptStarted(2, 1, at(2), 3),
        )),
        ("RecordAttempt", (
            e.AttemptFailed(2, 1, at(3), REFUSED), e.StepFailed(2, at(3), REFUSED), e.FailurePassed(2, at(3)),
            e.CompensationEnded(at(3), "failed", 1),
        )),
    ),
    "a draft that is started": (
        ("OpenDraft", (e.DraftOpened(at(0), "ada", "00-11", DOCUMENT, "case-7", ("rita",)),)),
        ("ReviseDraft", (e.DraftRevised(at(1), MORE, "a step added", ("bob",)),)),
        ("UndoRevision", (e.DraftMoved(at(2), 1, ("bob",)),)),
        ("StartRunbook", (*started(added("a")), e.StepReady(1, at(3)))),
        ("Cancel", (e.CancelRequested(at(4), "withdrawn"), e.CallCancelled(at(4)))),
    ),
}  # fmt: skip
