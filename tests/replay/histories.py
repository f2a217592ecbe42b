"""Short histories of runbooks that hold every entry, each at least once with every field filled in."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from perdure.journal import Origin
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import Failure
from perdure.sources import Id
from tests.replay.agent_histories import agent_history, question_history
from tests.replay.plan_histories import PLAN_HISTORIES
from tests.replay.task_histories import joint_history, task_history

ID = Id(sha256(b"golden").digest()[:16])
ORIGIN = Origin("default", "ada", "00-11111111111111111111111111111111-2222222222222222-01")
START = 1_700_000_000_000_000
DEFINITION, INPUT, RESULT, AMENDED = (
    sha256(each).digest() for each in (b"definition", b"input", b"result", b"amended")
)
TRACEBACK = sha256(b"traceback").digest()
BUSY = Failure("transient_external", "busy", "The other side was busy.")
BROKEN = Failure("permanent_contract", "contract", "The answer had the wrong form.")
REFUSED = Failure("permanent_business", "refused", "They said no.")

Commands = tuple[tuple[str, tuple[e.Entry, ...]], ...]


def at(second: int) -> int:
    return START + second * 1_000_000


def started(**given: Any) -> e.CallStarted:
    return e.CallStarted("kyc.open-case", 2, DEFINITION, INPUT, at(0), "ada", **given)


HISTORIES: dict[str, Commands] = {
    "completed at once": (
        ("StartCall", (started(), e.StepCompleted(1, at(0), RESULT, {"orch_ok": True, "orch_n": 7, "orch_s": "é"}))),
        ("ProposeAmendment", (e.AmendmentProposed(1, "result", AMENDED, "a typo", "ada", at(1), ("ada", "rita")),)),
        ("ApproveAmendment", (e.AmendmentApproved(1, "bob", at(2), True),)),
        ("Erase", (e.PayloadErased(at(3), "retention"),)),
    ),
    "retried, interrupted, then failed": (
        ("StartCall", (
            started(trace="00-11", parent="p:1", idempotency_key="order-7", behind=("rita",)), e.StepReady(1, at(0)),
        )),
        ("LeaseJob", (e.AttemptStarted(1, 1, at(1), 3),)),
        ("LeaseJob", (e.AttemptStarted(1, 1, at(2), 4, 1, DEFINITION),)),
        ("RecordAttempt", (e.AttemptDiscarded(1, 1, at(3), 3, "the step is running"),)),
        ("RecordAttempt", (e.AttemptFailed(1, 1, at(4), BUSY, at(14), TRACEBACK),)),
        ("FireTimer", (e.AttemptStarted(1, 2, at(14), 4),)),
        ("RecordAttempt", (e.AttemptFailed(1, 2, at(15), REFUSED), e.StepFailed(1, at(15), REFUSED))),
    ),
    "parked, timed out, escalated, completed twice": (
        ("StartCall", (started(), e.StepParked(1, at(0), "kyc.open-case", "case-7", at(60), "kyc.senior"))),
        ("PostProgress", (e.ProgressPosted(1, at(1), "half way"),)),
        ("FireTimer", (e.TimedOut(1, 1, at(60)), e.Escalated(1, at(60), "kyc.senior", "case-7/escalation"))),
        ("Complete", (e.CompletionIgnored(1, 1, at(61), "m-1", "timed_out"),)),
        ("Complete", (e.CompletionReceived(1, 2, at(62), "m-2"), e.StepCompleted(1, at(62), RESULT))),
    ),
    "a message nobody waited for": (
        ("StartCall", (started(), e.StepParked(1, at(0), "kyc.open-case"))),
        ("NoteFailedCorrelation", (
            e.CorrelationFailed(1, at(1), "documents", "case-7", "m-1", "no_subscription", "nothing waits for it"),
        )),
    ),
    "stuck, retried, stuck again, resolved": (
        ("StartCall", (started(), e.AttemptStarted(1, 1, at(0), 1))),
        ("RecordAttempt", (e.AttemptFailed(1, 1, at(1), BROKEN), e.IncidentRaised(1, at(1), "contract", "See.", 1))),
        ("RetryIncident", (e.IncidentResolved(1, at(2), "retried"), e.AttemptStarted(1, 2, at(2), 1))),
        ("LeaseJob", (e.IncidentRaised(1, at(3), "job.interrupted", "It was cut off.", 2),)),
        ("ResolveIncident", (e.IncidentResolved(1, at(4), "completed", "by phone"), e.StepCompleted(1, at(4), RESULT))),
    ),
    "told by its process": (
        ("StartCall", (
            started(), e.StepParked(1, at(0), "kyc.open-case"),
            e.ProcessAsked(1, at(0), "kyc-open-case", 3, DEFINITION),
        )),
        ("TellIncident", (e.IncidentCreated(1, at(1), 4, "screen", "job.contract", "It broke its contract."),)),
        ("TellIncident", (e.IncidentClosed(1, at(2), 4, "screen", "retried"),)),
    ),
    "carried by a process": (
        ("StartCall", (
            started(), e.StepParked(1, at(0), "kyc.open-case"),
            e.ProcessAsked(1, at(0), "kyc-open-case", 3, DEFINITION),
        )),
        ("Complete", (e.CompletionReceived(1, 1, at(9), "perdure:x/ended"), e.StepCompleted(1, at(9), RESULT))),
    ),
    "parked, stuck, cancelled": (
        ("StartCall", (started(), e.StepParked(1, at(0), "kyc.open-case"))),
        ("ProposeAmendment", (e.AmendmentProposed(1, "input", AMENDED, "wrong name", "ada", at(1)),)),
        ("ApproveAmendment", (e.AmendmentApproved(1, "bob", at(2)),)),
        ("RaiseIncident", (e.IncidentRaised(1, at(3), "definition.missing", "It is gone."),)),
        ("Cancel", (e.CancelRequested(at(4), "no longer needed"), e.CallCancelled(at(4), 1))),
    ),
    "a human task": task_history(started(), at, RESULT),
    "a human task of two groups": joint_history(started(), at, RESULT),
    "an agent that was slow, then not sure": agent_history(started(), at, RESULT, AMENDED),
    "an agent that asked a person": question_history(started(), at, RESULT, AMENDED),
    **PLAN_HISTORIES,
}  # fmt: skip


class Moment(NamedTuple):
    """A runbook after one record, all of it as plain text."""

    record: str
    state: str
    rows: Any


def play(commands: Commands) -> Iterator[Moment]:
    """What today's code writes for a history, record by record."""
    machine, state = RunbookMachine(), None
    for command, entries in commands:
        body = machine.records.encode(entries[0].at, command, ORIGIN, entries)
        for entry in entries:
            state = machine.apply(state, entry)
        assert state is not None
        yield Moment(body.hex(), machine.encode(state).hex(), rows_of(machine, state))


def without_later(rows: dict[str, Any]) -> dict[str, Any]:
    """Rows without the kinds that came later, where a state stands for none of them."""
    return {name: each for name, each in rows.items() if each or name not in ("documents", "blobs")}


def rows_of(machine: RunbookMachine, state: Any) -> Any:
    """The index rows of a state as plain values; a token of a call is written as it was when there were no others."""
    rows = without_later(msgspec.json.decode(msgspec.json.encode(machine.rows(ID, state))))
    return {**rows, "parked": [row[:-1] if row[-1] == "call" else row for row in rows["parked"]]}
