"""The table of outcome events: their words, what each means and the journal entries it comes from.

A stream of outcome events is a projection of the journals of a step and of the process that carries it: nothing is
written for it, and every engine that appends to our journal has it. A machine's entry that gives no event is named in
`SILENT`, so that an entry added later has to be decided upon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from perdure.app.calls.views import ErrorView

if TYPE_CHECKING:
    from perdure.bpmn.machine.state import Failure as InstanceFailure
    from perdure.runbooks.machine.state import Failure as StepFailure

Word = Literal[
    "DurableTaskStarted", "StepStarted", "StepCompleted", "StepFailed", "StepSkipped", "Parked", "Resumed",
    "TimerFired", "ExternalSignalReceived", "CorrelationFailed", "Escalated", "Reminded", "ProgressPosted",
    "RetriesExhausted", "IncidentCreated", "IncidentResolved", "CancelRequested", "Cancelled", "CompensationStarted",
    "CompensationStep", "CompensationCompleted", "CompensationFailed", "ExecutionResult",
]  # fmt: skip
ParkedKind = Literal["HumanGate", "ExternalSignal", "Timer", "Suspended"]


class OutcomeEvent(msgspec.Struct, frozen=True):
    """One event of a step. `text` writes it as the table does: `Parked(HumanGate, Awaiting reviewer)`.

    `cursor` is its place in the order of commits, the same as in the tenant's feed; who goes on from it misses none.
    """

    cursor: str
    at: str | None
    event: Word
    text: str
    call: str
    step: int
    verb: str
    kind: str = ""
    reason: str = ""
    sub_verb: str = ""
    principal: str = ""
    refs: dict[str, str | int] = {}
    error: ErrorView | None = None
    result: Any = None


class EventRow(NamedTuple):
    """One word of the table: the fields `text` shows in brackets, and `Machine.Entry` names it comes from."""

    meaning: str
    shown: tuple[str, ...]
    entries: tuple[str, ...]


EVENTS: dict[Word, EventRow] = {
    "DurableTaskStarted": EventRow(
        "a process instance was created for the step, or the step waits for a completion from outside",
        (), ("instance.InstanceStarted", "runbook.StepParked"),
    ),
    "StepStarted": EventRow("a step that no process carries began", (), ("runbook.CallStarted", "runbook.StepBegun")),
    "StepCompleted": EventRow("a sub-verb of the process completed", ("sub_verb",), ("instance.JobCompleted",)),
    "StepFailed": EventRow(
        "an attempt of a sub-verb, or of the step's own handler, failed; `kind` is `retried` when another follows",
        ("sub_verb", "kind"), ("instance.JobFailed", "runbook.AttemptFailed"),
    ),
    "StepSkipped": EventRow("the step will not run", ("kind",), ("runbook.StepSkipped",)),
    "Parked": EventRow(
        "the step waits: for a person (`HumanGate`), a message, signal or completion (`ExternalSignal`), a moment "
        "(`Timer`), or until somebody resumes it (`Suspended`)",
        ("kind", "reason"),
        ("instance.TaskOpened", "instance.Armed", "instance.InstanceSuspended", "runbook.StepParked",
         "runbook.TaskOpened", "runbook.GateClosed", "runbook.GateReopened", "runbook.FailureAsked"),
    ),
    "Resumed": EventRow(
        "that wait is over", ("kind", "reason"),
        ("instance.TaskCompleted", "instance.Occurred", "instance.Left", "instance.InstanceResumed",
         "runbook.CompletionReceived", "runbook.GateAnswered"),
    ),
    "TimerFired": EventRow("a timer or a deadline was due", ("reason",), ("instance.Occurred", "runbook.TimedOut")),
    "ExternalSignalReceived": EventRow(
        "a message or signal was correlated", ("reason",), ("instance.Occurred",)
    ),
    "CorrelationFailed": EventRow(
        "a message could not be correlated; it is among the dead letters", ("kind", "reason"),
        ("instance.CorrelationFailed", "instance.MessageIgnored", "runbook.CorrelationFailed",
         "runbook.CompletionIgnored"),
    ),
    "Escalated": EventRow(
        "others have the step, or its task, as well or instead", ("reason",),
        ("instance.TaskChased", "instance.ErrorThrown", "runbook.Escalated", "runbook.TaskChased"),
    ),
    "Reminded": EventRow(
        "those who have a task were reminded", ("reason",), ("instance.TaskChased", "runbook.TaskChased")
    ),
    "ProgressPosted": EventRow(
        "somebody said how it goes", ("reason",), ("instance.ProgressPosted", "runbook.ProgressPosted")
    ),
    "RetriesExhausted": EventRow(
        "the last attempt that the policy grants has failed", ("sub_verb",),
        ("instance.IncidentRaised", "runbook.AttemptFailed"),
    ),
    "IncidentCreated": EventRow(
        "it cannot go on without a person", ("kind", "reason"), ("instance.IncidentRaised", "runbook.IncidentRaised")
    ),
    "IncidentResolved": EventRow(
        "the incident is closed: retried, completed, failed or cancelled", ("kind",),
        ("instance.IncidentResolved", "runbook.IncidentResolved"),
    ),
    "CancelRequested": EventRow(
        "somebody asked to stop it", ("reason",), ("instance.CancelRequested", "runbook.CancelRequested")
    ),
    "Cancelled": EventRow(
        "it is stopped; what was done stays done", (), ("runbook.CallCancelled", "runbook.StepCancelled")
    ),
    "CompensationStarted": EventRow(
        "what completed is taken back, the last first", ("reason",),
        ("instance.CompensationStarted", "runbook.CompensationStarted"),
    ),
    "CompensationStep": EventRow("a sub-verb took something back", ("sub_verb",), ("instance.JobCompleted",)),
    "CompensationCompleted": EventRow(
        "all of it was taken back", (), ("instance.InstanceEnded", "runbook.CompensationEnded")
    ),
    "CompensationFailed": EventRow(
        "something could not be taken back", (), ("instance.InstanceEnded", "runbook.CompensationEnded")
    ),
    "ExecutionResult": EventRow(
        "the step has ended: `ok` with its result, `err` with its error", ("kind",),
        ("runbook.StepCompleted", "runbook.StepFailed"),
    ),
}  # fmt: skip

SILENT: dict[str, tuple[str, ...]] = {
    "the machine's own movements": (
        "instance.Entered", "instance.Passed", "instance.Disarmed", "instance.WatchMet", "instance.JobMade",
        "instance.JobStarted", "instance.JobRebound", "instance.FlagsWritten", "instance.HeadChanged",
        "instance.Iterated", "instance.Completed", "instance.Undoing", "instance.Interrupted", "instance.GatewayOpened",
        "instance.Adopted", "instance.Rerouted", "instance.Thrown", "runbook.StepReady", "runbook.AttemptStarted",
        "runbook.ProcessAsked", "runbook.StepsHeld", "runbook.FailurePassed", "runbook.ChoiceMade",
    ),
    "told by the entry of the process itself": ("runbook.IncidentCreated", "runbook.IncidentClosed"),
    "late reports that changed nothing": ("instance.JobDiscarded", "runbook.AttemptDiscarded"),
    "of the runbook, not of a step": (
        "runbook.RunbookStarted", "runbook.StepsAdded", "runbook.EdgesAdded", "runbook.DecisionMade",
        "runbook.RunbookSealed", "runbook.RunbookCompleted", "runbook.RunbookFailed", "runbook.DraftOpened",
        "runbook.DraftRevised", "runbook.DraftMoved", "runbook.StepRetried",
    ),
    "who has a task, and what goes around one": (
        "instance.TaskClaimed", "instance.TaskReassigned", "instance.TaskDelegated", "instance.TaskOverridden",
        "instance.TaskAnswered", "instance.TaskReopened", "runbook.TaskAnswered", "runbook.TaskReopened",
        "instance.OverrideProposed", "instance.OverrideAgreed", "instance.ConsequenceAgreed",
        "runbook.TaskActed", "runbook.OverrideProposed",
        "runbook.OverrideAgreed", "runbook.ProposalMade", "runbook.ProposalAnswered",
        "runbook.QuestionAsked", "runbook.QuestionAnswered", "runbook.StepHeld",
        "instance.JobAsked", "instance.JobAnswered", "instance.JobHeld",
        "runbook.BudgetReserved", "runbook.BudgetReleased", "runbook.BudgetSet",
        "instance.BudgetReserved", "instance.BudgetReleased", "instance.BudgetSet",
    ),
    "upkeep of data and models": (
        "instance.InstanceModified", "instance.InstanceMigrated", "instance.PayloadErased", "instance.AgentUsed",
        "instance.CarrierChanged",
        "runbook.AmendmentProposed", "runbook.AmendmentApproved", "runbook.PayloadErased", "runbook.AgentUsed",
    ),
}  # fmt: skip
"""Entries that give no event, by why; the journal shows them."""


class Happened(msgspec.Struct, frozen=True):
    """An event as an entry gives it: of a step by its number, 0 for the runbook as a whole."""

    event: Word
    at: int
    step: int = 0
    kind: str = ""
    reason: str = ""
    sub_verb: str = ""
    refs: dict[str, str | int] = {}
    failure: InstanceFailure | StepFailure | None = None
    result: bytes = b""


def written(event: Word, fields: dict[str, str]) -> str:
    """The event as the table writes it: its word, and in brackets what it shows."""
    shown = [fields[name] for name in EVENTS[event].shown if fields.get(name)]
    return f"{event}({', '.join(shown)})" if shown else event


def awaited(who: str, what: str) -> str:
    """Why a step is parked, for people: `Awaiting reviewer`, `Awaiting rita: review the case`."""
    return f"Awaiting {who}: {bare(what)}" if who else f"Awaiting {bare(what)}"


def bare(name: str) -> str:
    """The name of a wait without the word that says it is one."""
    return name.removeprefix("wait for ")
