"""Short histories of instances, processes and keys that hold every entry, each once with every field filled."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from perdure.access import machine as a
from perdure.access.api_key_state import EndedSession, Grant
from perdure.agent_usage import ModelUse
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine import process_machine as p
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.process_machine import ProcessMachine
from perdure.bpmn.machine.state import Done, Failure, Undo
from perdure.documents.machine import journal_entries as d
from perdure.documents.machine.document_machine import DocumentMachine
from perdure.human_tasks import Rung
from perdure.lifecycles.machine import definition_machine as v
from perdure.lifecycles.machine import entries as f
from perdure.lifecycles.machine.definition_machine import LifecycleDefinitionMachine
from perdure.lifecycles.machine.lifecycle_machine import LifecycleMachine
from tests.replay.document_histories import DOCUMENTS, TAGS_OF_DOCUMENTS
from tests.replay.histories import ID, ORIGIN, Moment, at, without_later
from tests.replay.lifecycle_histories import (
    DEFINITIONS,
    LIFECYCLES,
    TAGS_OF_LIFECYCLE_DEFINITIONS,
    TAGS_OF_LIFECYCLES,
)

FIRST, SECOND, HEAD, NEXT, BROUGHT = (
    sha256(each).digest() for each in (b"first", b"second", b"head", b"next", b"brought")
)
BUSY = Failure("transient_external", "busy", "The other side was busy.")
REFUSED = Failure("permanent_business", "refused", "They said no.")
Commands = tuple[tuple[str, int, tuple[Any, ...]], ...]
"""The name of each command, when it was, and what it wrote."""


FLAGS = {"orch_ok": False, "orch_n": 7, "orch_s": "é"}


def started(**given: Any) -> e.InstanceStarted:
    return e.InstanceStarted(
        FIRST, "kyc", 1, at(0), "ada", {"orch_ok": False, "orch_n": 7, "orch_s": "é"}, HEAD, **given
    )


WHOLE = {
    "trace": "00-11", "parent": "step:01m7gzs4sbe9wthgme570ndjv1:1", "business_key": "case 7", "start": "asked",
    "idempotency_key": "order-7", "behind": ("rita",),
}  # fmt: skip
LADDER = (Rung(60_000_000, "remind"), Rung(120_000_000, "escalate", "board"), Rung(180_000_000, "reassign", "", "zoe"))
ASSIGNED = {
    "assignee": "rita", "groups": "compliance", "users": "rita,otto", "due": "2026-11-20T00:00:00Z",
    "due_at": at(300_000), "requester": "ada", "ladder": LADDER, "behind": ("rita",), "agents": True,
}  # fmt: skip

USES = (ModelUse("judge-1", 1200, 80, 2, 3200), ModelUse("judge-2", 10, 0, 1, None, 1))

INSTANCES: dict[str, Commands] = {
    "a job whose agent failed and then did not": (
        ("StartInstance", at(0), (
            started(), e.Entered(2, "judge", 1, "job", at(0), "f1"), e.JobMade(2, "kyc.judge", 1),
            e.JobStarted(2, 1, at(0), 5),
        )),
        ("RecordJob", at(1), (
            e.AgentUsed(2, 1, at(1), "agent:judge", 900_000, USES, True), e.JobFailed(2, 1, at(1), BUSY, at(11)),
        )),
        ("FireTimer", at(11), (e.JobStarted(2, 2, at(11), 5),)),
        ("RecordJob", at(12), (
            e.AgentUsed(2, 2, at(12), "agent:judge", 800_000, USES[:1]), e.JobCompleted(2, at(12), NEXT, "kyc.judge"),
            e.Left(2, "completed"), e.InstanceEnded(at(12), "completed"),
        )),
    ),
    "a job whose agent asked a person": (
        ("StartInstance", at(0), (
            started(), e.Entered(2, "judge", 1, "job", at(0), "f1"), e.JobMade(2, "kyc.judge", 1),
            e.JobStarted(2, 1, at(0), 5),
        )),
        ("RecordJob", at(1), (
            e.JobAsked(2, 1, at(1), "agent:judge", NEXT),
            e.TaskOpened(2, groups="compliance", due="PT1H", due_at=at(61)),
        )),
        ("CompleteTask", at(9), (
            e.TaskCompleted(2, at(9), "rita", "aa.cc", at(61)), e.JobAnswered(2, at(9), "rita", NEXT),
            e.JobMade(2, "kyc.judge", 1), e.JobStarted(2, 2, at(9), 5),
        )),
        ("RecordJob", at(10), (e.JobHeld(2, 2, at(10), "agent.open", "The circuit breaker is open.", at(11)),)),
        ("FireTimer", at(11), (e.JobMade(2, "kyc.judge", 1), e.JobStarted(2, 3, at(11), 5))),
        ("ReserveBudget", at(11), (e.BudgetReserved(2, 3, at(11), 1000, None),)),
        ("RecordJob", at(11), (
            e.AgentUsed(2, 3, at(11), "agent:judge", 900_000, USES[:1]), e.BudgetReleased(2, at(11)),
            e.JobHeld(2, 3, at(11), "agent.budget", "Nothing is left.", 0),
        )),
        ("SetBudget", at(12), (
            e.BudgetSet(at(12), "rita", 9000, None, "worth it", True), e.JobMade(2, "kyc.judge", 1),
            e.JobStarted(2, 4, at(12), 5),
        )),
        ("RecordJob", at(12), (
            e.JobCompleted(2, at(12), NEXT, "kyc.judge"), e.Left(2, "completed"), e.InstanceEnded(at(12), "completed"),
        )),
    ),
    "a job of another verb after a migration": (
        ("StartInstance", at(0), (
            started(), e.Entered(2, "create", 1, "job", at(0), "f1"), e.JobMade(2, "kyc.create", 1, definition=77),
            e.JobStarted(2, 1, at(0), 5, 2),
        )),
        ("RecordJob", at(1), (e.JobFailed(2, 1, at(1), BUSY, at(11)),)),
        ("Migrate", at(2), (
            e.InstanceMigrated(at(2), SECOND, "kyc", 2, {"create": "create"}, FLAGS, "mended"),
            e.JobRebound(2, "kyc.create-better", 78),
        )),
        ("FireTimer", at(11), (e.JobMade(2, "kyc.create-better", 1, definition=78), e.JobStarted(2, 2, at(11), 5))),
    ),
    "a job mapped to another element, under the key it had": (
        ("StartInstance", at(0), (
            started(), e.Entered(2, "create", 1, "job", at(0), "f1"), e.JobMade(2, "kyc.create", 3),
            e.JobStarted(2, 1, at(0), 5, 2),
        )),
        ("Migrate", at(2), (
            e.InstanceMigrated(at(2), SECOND, "kyc", 2, {"create": "make"}, FLAGS, "mended", True),
        )),
        ("LeaseJob", at(3), (e.JobMade(2, "kyc.create", 3), e.JobStarted(2, 1, at(3), 6, 1))),
    ),
    "tokens that wait at joins, migrated": (
        ("StartInstance", at(0), (
            started(), e.Entered(2, "join", 1, "join", at(0), "f1"), e.Entered(3, "wait", 1, "wait", at(0)),
            e.GatewayOpened(1, ("gate f2",)),
        )),
        ("Migrate", at(1), (
            e.InstanceMigrated(at(1), SECOND, "kyc", 2, {"f1": "f7", "f2": "f8"}, FLAGS, "mended"),
            e.Rerouted(2, "f7"), e.GatewayOpened(1, ("gate f8",)),
        )),
        ("Modify", at(2), (
            e.OverrideProposed(
                1, at(2), SECOND, "modify", ("task 'review'",), "group night", "otto", "late", ("root",), ("another",)
            ),
        )),
        ("Modify", at(3), (e.OverrideAgreed(1, at(3), "rita", "I looked", ("zoe",), ("task 'review'",)),)),
    ),
    "a message that several wanted": (
        ("StartInstance", at(0), (
            started(), e.Entered(2, "wait", 1, "wait", at(0)), e.Armed(3, 2, "wait", "message", "documents", "case 7"),
        )),
        ("NoteFailedCorrelation", at(1), (
            e.CorrelationFailed(at(1), "documents", "case 7", "m-1", "ambiguous", "two instances wait for it"),
        )),
    ),
    "a start that was agreed to, and something graver": (
        ("StartInstance", at(0), (
            started(**WHOLE, agreed="benign"), e.Entered(2, "inner", 1, "call", at(0)),
            e.IncidentRaised(2, at(0), "call.graver", "it reaches vault.empty"),
        )),
        ("RetryIncident", at(4), (
            e.ConsequenceAgreed(at(4), "requires_authorisation", "rita"), e.IncidentResolved(2, at(4), "retried"),
        )),
    ),
    "a task of two groups": (
        ("StartInstance", at(0), (
            started(), e.Entered(2, "review", 1, "task", at(0)), e.TaskOpened(2, groups="compliance + risk"),
        )),
        ("CompleteTask", at(1), (e.TaskAnswered(2, at(1), "uwe", "compliance", BROUGHT, "aa.bb", ("ada",)),)),
        ("CompleteTask", at(2), (
            e.TaskReopened(2, at(2), ("uwe",), ("payload",)),
            e.TaskAnswered(2, at(2), "otto", "risk", BROUGHT, "aa.cc"),
        )),
        ("CompleteTask", at(3), (
            e.TaskAnswered(2, at(3), "uwe", "compliance", BROUGHT, "aa.cc"), e.HeadChanged(NEXT, "uwe"),
            e.TaskCompleted(2, at(3), "uwe", "aa.cc"), e.Left(2, "completed"), e.InstanceEnded(at(3), "completed"),
        )),
    ),
    "a job retried, a task, a message": (
        ("StartInstance", at(0), (
            started(**WHOLE), e.Passed("asked", 1, "f0"), e.Entered(2, "create", 1, "job", at(0), "f1", 3),
            e.JobMade(2, "kyc.create", 1, "intake", BROUGHT, 77, "rita"),
            e.JobStarted(2, 1, at(0), 5, 1, {"orch_n": 7}, HEAD, FIRST),
        )),
        ("RecordJob", at(1), (e.JobFailed(2, 1, at(1), BUSY, at(11), BROUGHT),)),
        ("RecordJob", at(2), (e.JobDiscarded(2, 1, at(2), 4, "superseded"),)),
        ("FireTimer", at(11), (e.JobStarted(2, 2, at(11), 5),)),
        ("RecordJob", at(12), (
            e.JobCompleted(2, at(12), NEXT, "kyc.create"),
            e.FlagsWritten({"orch_ok": True, "orch_n": 8}, "kyc.create", "create"),
            e.Completed(1, Done("create", "undo_create", (Done("inner", "undo_inner"),), "kyc.create", 1, HEAD)),
            e.Left(2, "completed"), e.Entered(3, "review", 1, "task", at(12), "f2"), e.TaskOpened(3, **ASSIGNED),
            e.Armed(4, 3, "reminder", "timer", "daily", "key", at(86_400), "R3/P1D", 3, True),
        )),
        ("ClaimTask", at(13), (e.TaskClaimed(3, at(13), "otto"),)),
        ("DelegateTask", at(14), (e.TaskDelegated(3, at(14), "uwe", "otto"),)),
        ("ReassignTask", at(15), (
            e.TaskOverridden(3, at(15), "chief", "reassign", "uwe is ill"),
            e.TaskReassigned(3, at(15), "rita", "chief", "night"),
        )),
        ("FireTimer", at(72), (e.TaskChased(3, at(72), "remind"),)),
        ("FireTimer", at(132), (e.TaskChased(3, at(132), "escalate", "board", "zoe"),)),
        ("FireTimer", at(86_400), (e.Occurred(4, at(86_400), "m-0", at(172_800), 2, True),)),
        ("CompleteTask", at(86_500), (
            e.TaskCompleted(3, at(86_500), "rita", "aa.bb"), e.HeadChanged(HEAD, "rita"), e.Left(3, "completed"),
            e.Entered(5, "wait", 1, "wait", at(86_500)), e.Armed(6, 5, "wait", "message", "documents", "case 7"),
            e.Armed(7, 5, "either", "condition", is_met=False),
        )),
        ("PostProgress", at(86_501), (e.ProgressPosted(at(86_501), "half way"),)),
        ("Correlate", at(86_502), (e.WatchMet(7, True, BROUGHT), e.Disarmed(7))),
        ("Correlate", at(86_503), (e.Occurred(6, at(86_503), "m-1"), e.Left(5, "completed"))),
        ("Correlate", at(86_504), (e.MessageIgnored(at(86_504), "documents", "m-2", "the wait has ended"),)),
        ("RecordJob", at(86_505), (e.InstanceEnded(at(86_505), "completed"),)),
        ("Erase", at(86_506), (e.PayloadErased(at(86_506), "retention"),)),
    ),
    "thrown, called, iterated, stuck, mended": (
        ("StartInstance", at(0), (
            started(), e.Entered(2, "each", 1, "many", at(0)), e.Iterated(2, 3, 2, 1),
            e.Entered(3, "each", 2, "call", at(0), "", 1), e.Thrown(3, "call", "other", "case 7", "each"),
            e.Entered(4, "each", 2, "job", at(0), "", 2), e.JobMade(4, "kyc.check", 1), e.JobStarted(4, 1, at(0), 5),
            e.Thrown(5, "message", "told", "case 7", "tell"), e.GatewayOpened(1, ("gate f1", "gate f2")),
        )),
        ("RecordJob", at(1), (e.JobFailed(4, 1, at(1), REFUSED), e.IncidentRaised(4, at(1), "job.contract", "See."))),
        ("RetryIncident", at(2), (e.IncidentResolved(4, at(2), "retried", "mended", 1), e.JobMade(4, "kyc.check", 1))),
        ("LeaseJob", at(3), (e.JobStarted(4, 2, at(3), 6, 1),)),
        ("RecordJob", at(4), (
            e.ErrorThrown("error", "NO", "each", "caught"), e.Interrupted(1), e.Left(2, "interrupted"),
            e.Thrown(3, "cancel_call", "other"), e.Entered(6, "open", 1, "task", at(4)), e.TaskOpened(6),
        )),
    ),
    "suspended, modified, migrated, undone": (
        ("StartInstance", at(0), (
            started(), e.Completed(1, Done("create", "undo_create")), e.Completed(1, Done("tell", "untell")),
            *(e.Completed(1, Done("each", "undo_each", (), "", turn)) for turn in (1, 2, 3)),
            *(e.Completed(1, Done(element, f"un{element}")) for element in ("tell", "ask", "tell", "ask")),
            e.Entered(2, "wait", 1, "wait", at(0)), e.Armed(3, 2, "wait", "timer", due=at(60)),
        )),
        ("Suspend", at(1), (e.InstanceSuspended(at(1), "holiday"),)),
        ("Resume", at(11), (e.InstanceResumed(at(11), 10_000_000),)),
        ("ChangeCarrier", at(11), (e.CarrierChanged(at(11), "temporal", "run-1", FIRST, "it grows"),)),
        ("Modify", at(12), (
            e.InstanceModified(at(12), "by hand", (2,), ("other",)), e.Left(2, "cancelled"),
            e.Entered(4, "other", 1, "wait", at(12)), e.Armed(5, 4, "other", "signal", "alarm"),
        )),
        ("Migrate", at(13), (
            e.InstanceMigrated(at(13), SECOND, "kyc", 2, {"other": "another"}, {"orch_ok": True}, "a better one"),
        )),
        ("Cancel", at(14), (
            e.CancelRequested(at(14), "no longer needed"), e.CompensationStarted(at(14), REFUSED),
            e.Left(4, "cancelled"), e.Entered(6, "kyc", 1, "undo", at(14)),
            e.Undoing(6, Undo((Done("tell", "untell"),), "end", ("create",)), 1, (Done("create", "undo_create"),)),
            e.Entered(7, "untell", 6, "job", at(14)), e.JobMade(7, "kyc.untell", 1, "undo", HEAD, 3),
        )),
        ("Cancel", at(15), (
            e.Entered(8, "kyc", 1, "undo", at(15)), e.Adopted(7, 8), e.Left(6, "interrupted"),
            e.Undoing(8, Undo(
                (Done("each", "undo_each", (), "", 3, times=3, place=("all", "2")),), "end", (), ("all", "2"),
                {9: ("all", "1")},
            )),
        )),
        ("RecordJob", at(16), (e.InstanceEnded(at(16), "compensation_failed", BUSY),)),
    ),
}  # fmt: skip

STARTS = (
    p.Start("asked", "message", "case_asked"),
    p.Start("daily", "cycle", "R3/P1D"),
    p.Start("alarm", "signal", "a"),
)
PROCESSES: dict[str, Commands] = {
    "deployed, fired, retired": (
        ("Deploy", at(0), (
            p.VersionDeployed("kyc", 1, FIRST, at(0), "ada", STARTS, "kyc.open", HEAD, "requires_confirmation"),
            p.StartsArmed((p.ArmedStart(1, 1, at(86_400), 2, at(0)),)),
        )),
        ("FireStart", at(86_400), (p.StartFired(1, 1, at(86_400), at(172_800), 1),)),
        ("Deploy", at(86_401), (p.VersionDeployed("kyc", 2, SECOND, at(86_401), "bob"), p.StartsArmed(()))),
        ("SetStatus", at(86_402), (p.StatusChanged(2, at(86_402), "retired", "bob", "wrong"),)),
        ("Deploy", at(86_402), (p.Redrawn(1, at(86_402), "bob", NEXT),)),
        ("SetStatus", at(86_403), (p.StatusChanged(1, at(86_403), "deprecated", "bob"),)),
    ),
}  # fmt: skip


WHOLE_GRANT = Grant(
    "night shift", "zoë", "person", ("operator", "reviewer"), ("night",), ("kyc.*",), ("task.claim",), at(3600)
)
KEYS: dict[str, Commands] = {
    "made, used no more": (
        ("CreateKey", at(0), (a.KeyCreated("01m7gzs4sbe9wthgme570ndjv1", FIRST, WHOLE_GRANT, at(0), "ada", ("ada",)),)),
        ("CreateKey", at(1), (
            a.KeyCreated("01m7gzs4sbe9wthgme570ndjv2", SECOND, Grant("ci", "ci", "service", ("viewer",)), at(1), "bob"),
        )),
        ("RevokeKey", at(2), (a.KeyRevoked("01m7gzs4sbe9wthgme570ndjv1", at(2), "bob", "lost on a train"),)),
        ("EndSession", at(3), (a.SessionEnded(EndedSession("s-1", at(0), at(9)), at(3), "zoë"),)),
    ),
}  # fmt: skip


class Shelf(NamedTuple):
    """What is kept of one kind of aggregate."""

    kind: str
    machine: Any
    histories: dict[str, Commands]
    version: int
    entries: Any
    tags: dict[int, str]


TAGS_OF_INSTANCES = {
    1: "InstanceStarted", 2: "Entered", 3: "Passed", 4: "Left", 5: "Armed", 6: "Disarmed", 7: "Occurred", 8: "JobMade",
    9: "JobStarted", 10: "JobCompleted", 11: "JobFailed", 12: "JobDiscarded", 13: "FlagsWritten", 14: "HeadChanged",
    15: "IncidentRaised", 16: "IncidentResolved", 17: "TaskOpened", 18: "TaskClaimed", 19: "TaskReassigned",
    20: "TaskCompleted", 21: "Thrown", 22: "ErrorThrown", 23: "Iterated", 24: "Completed", 25: "Undoing",
    26: "Interrupted", 27: "GatewayOpened", 28: "WatchMet", 29: "CompensationStarted", 30: "InstanceSuspended",
    31: "InstanceResumed", 32: "InstanceModified", 33: "InstanceMigrated", 34: "CancelRequested", 35: "InstanceEnded",
    36: "PayloadErased", 37: "ProgressPosted", 38: "MessageIgnored", 39: "Adopted", 40: "TaskDelegated",
    41: "TaskChased", 42: "TaskOverridden", 43: "AgentUsed", 44: "JobRebound", 45: "Rerouted",
    46: "OverrideProposed", 47: "OverrideAgreed", 48: "ConsequenceAgreed", 49: "CorrelationFailed",
    50: "TaskAnswered", 51: "TaskReopened", 52: "CarrierChanged", 53: "JobAsked", 54: "JobAnswered",
    55: "JobHeld", 56: "BudgetReserved",
    57: "BudgetReleased", 58: "BudgetSet",
}  # fmt: skip
TAGS_OF_PROCESSES = {1: "VersionDeployed", 2: "StatusChanged", 3: "StartsArmed", 4: "StartFired", 5: "Redrawn"}
TAGS_OF_ACCESS = {1: "KeyCreated", 2: "KeyRevoked", 3: "SessionEnded"}
"""Every number ever used. A line is added with an entry and never changed or removed, also when the entry goes."""

SHELVES = {
    "instance": Shelf(
        "instance", InstanceMachine({}), INSTANCES, e.ENTRY_VERSION, e.Entry, TAGS_OF_INSTANCES
    ),
    "process": Shelf(
        "process", ProcessMachine(), PROCESSES, p.ENTRY_VERSION, p.ProcessEntry, TAGS_OF_PROCESSES
    ),
    "document": Shelf(
        "document", DocumentMachine(), DOCUMENTS, d.ENTRY_VERSION, d.DocumentEntry, TAGS_OF_DOCUMENTS
    ),
    "lifecycle": Shelf(
        "lifecycle", LifecycleMachine(), LIFECYCLES, f.ENTRY_VERSION, f.LifecycleEntry, TAGS_OF_LIFECYCLES
    ),
    "lifecycle_definition": Shelf(
        "lifecycle_definition", LifecycleDefinitionMachine(), DEFINITIONS, v.ENTRY_VERSION, v.DefinitionEntry,
        TAGS_OF_LIFECYCLE_DEFINITIONS,
    ),
    "access": Shelf("access", a.AccessMachine(), KEYS, a.ENTRY_VERSION, a.AccessEntry, TAGS_OF_ACCESS),
}  # fmt: skip


def play_on(machine: Any, commands: Commands) -> Iterator[Moment]:
    """What today's code writes for a history, record by record."""
    state = None
    for command, moment, entries in commands:
        body = machine.records.encode(moment, command, ORIGIN, entries)
        for entry in entries:
            state = machine.apply(state, entry)
        assert state is not None
        yield Moment(body.hex(), machine.encode(state).hex(), plain_rows(machine, state))


def plain_rows(machine: Any, state: Any) -> Any:
    return without_later(msgspec.json.decode(msgspec.json.encode(machine.rows(ID, state))))
