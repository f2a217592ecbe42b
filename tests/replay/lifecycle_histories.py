"""Short histories of lifecycles and their definitions that hold every entry, each once with every field filled."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from perdure.identifiers import id_text
from perdure.journal.facts import fact_key
from perdure.lifecycles.machine import definition_machine as v
from perdure.lifecycles.machine import entries as e
from perdure.lifecycles.machine.state import Blocked, Deadline, FactSeen, correlation_id
from tests.replay.histories import ID, at

FIRST, SECOND, CONTEXT, BROUGHT, FACTS, LATER = (
    sha256(each).digest() for each in (b"first", b"second", b"context", b"brought", b"facts", b"later")
)
PASSPORT, RECORD = fact_key("document", "c-7", "passport"), fact_key("record", "client", "c-7")
BLOCKED = (Blocked("passport", "MissingDocument"),)
DEADLINES = (Deadline(at(900), 1), Deadline(at(950), -1))
SEEN = (FactSeen(PASSPORT, FACTS), FactSeen("context", CONTEXT))
LETTERS = id_text(ID)
FIRST_TASK, SECOND_TASK, ACTION = (
    correlation_id(LETTERS, *each) for each in (
        ("MissingDocument", "passport", 1), ("MissingDocument", "passport", 2), ("Action", "OPEN:welcome", 1),
    )
)  # fmt: skip


def started(**given: Any) -> e.LifecycleStarted:
    return e.LifecycleStarted("onboarding", 1, FIRST, "c-7", CONTEXT, at(0), "ada", **given)


def entered(state: str, source: str, second: int, cause: Any = "auto", **given: Any) -> e.StateEntered:
    return e.StateEntered(state, source, cause, at(second), "ada", **given)


def asked(correlation: str, attempt: int, second: int, **given: Any) -> e.TaskRequested:
    return e.TaskRequested(
        correlation, "passport", "MissingDocument", "document.solicit", attempt, at(second), "perdure", at(800), 2,
        **given,
    )  # fmt: skip


def result(correlation: str, status: Any, received: int, second: int, error: str = "") -> e.TaskResultReceived:
    return e.TaskResultReceived(
        correlation, status, received, 1, (f"document://default/{received}",), error, BROUGHT, at(second), "portal",
        "result/k1",
    )  # fmt: skip


LIFECYCLES: dict[str, tuple[tuple[str, int, tuple[Any, ...]], ...]] = {
    "asked, answered in pieces, proposed, moved and erased": (
        ("StartLifecycle", at(0), (
            started(behind=("rita",), depth=2),
            entered("OPEN", "", 0, "start", reason="asked", deadlines=DEADLINES, interest=(PASSPORT,), facts=FACTS),
        )),
        ("Look", at(1), (
            e.FactsJudged(at(1), BLOCKED, at(500), FACTS),
            asked(FIRST_TASK, 1, 1, behind=("rita",), facts=FACTS),
            e.TaskRequested(ACTION, "OPEN:welcome", "Action", "mail.send", 1, at(1), "ada", 0, 1),
        )),
        ("ReceiveResult", at(2), (result(FIRST_TASK, "partial", 1, 2),)),
        ("ReceiveResult", at(3), (result(FIRST_TASK, "failed", 2, 3, "blurred"),)),
        ("Look", at(4), (e.FactsJudged(at(4), BLOCKED, 0, LATER), asked(SECOND_TASK, 2, 4))),
        ("ExpireTask", at(800), (e.TaskClosed(SECOND_TASK, "expired", "nothing came in time", at(800)),)),
        ("PassDeadline", at(950), (e.DeadlinePassed(at(950), at(951), BLOCKED, FACTS),)),
        ("Look", at(952), (e.InterestChanged((PASSPORT, RECORD), at(952), FACTS),)),
        ("Propose", at(953), (
            e.TransitionProposed("DONE", "olga", ("olga", "rita"), "all is there", at(953), FACTS, 2, SEEN),
        )),
        ("Transit", at(954), (
            entered("DONE", "OPEN", 954, "manual", reason="all is there", facts=FACTS),
            e.LifecycleEnded("completed", at(954), "bob", "all is there"),
        )),
        ("Erase", at(999), (e.DataErased(at(999), "perdure", "retention"),)),
    ),
    "stuck, looked at again, migrated and cancelled": (
        ("StartLifecycle", at(0), (started(), entered("OPEN", "", 0, "start", interest=(RECORD,)))),
        ("Look", at(1), (e.LifecycleStuck("restless", "it moved a hundred times", at(1), FACTS),)),
        ("AskLook", at(2), (e.LookAsked(at(2), "olga"),)),
        ("Migrate", at(3), (
            e.LifecycleMigrated(2, SECOND, at(3), "olga", "new rules"),
            entered("OPEN", "OPEN", 3, "migration", deadlines=DEADLINES[:1], interest=(PASSPORT,)),
        )),
        ("Look", at(4), (e.FactsJudged(at(4), BLOCKED, 0, FACTS), asked(FIRST_TASK, 1, 4))),
        ("Cancel", at(5), (
            e.TaskClosed(FIRST_TASK, "cancelled", "the lifecycle ended", at(5)),
            e.LifecycleEnded("cancelled", at(5), "olga", "withdrawn"),
        )),
    ),
}  # fmt: skip
DEFINITIONS: dict[str, tuple[tuple[str, int, tuple[Any, ...]], ...]] = {
    "deployed twice, retired, taken again": (
        ("DeployLifecycle", at(0), (
            v.LifecycleDeployed("onboarding", 1, FIRST, "2026-01", at(0), "ada", "client.created"),
        )),
        ("DeployLifecycle", at(1), (v.LifecycleDeployed("onboarding", 2, SECOND, "", at(1), "ada"),)),
        ("RetireLifecycle", at(2), (v.LifecycleRetired(2, "wrong", at(2), "bob"),)),
        ("DeployLifecycle", at(3), (v.LifecycleDeployed("onboarding", 2, SECOND, "", at(3), "ada"),)),
    ),
}  # fmt: skip
TAGS_OF_LIFECYCLES = {
    1: "LifecycleStarted", 2: "StateEntered", 3: "FactsJudged", 4: "TaskRequested", 5: "TaskResultReceived",
    6: "TaskClosed", 7: "TransitionProposed", 8: "DeadlinePassed", 9: "LifecycleEnded", 10: "LifecycleMigrated",
    11: "LifecycleStuck", 12: "LookAsked", 13: "DataErased", 14: "InterestChanged",
}  # fmt: skip
TAGS_OF_LIFECYCLE_DEFINITIONS = {1: "LifecycleDeployed", 2: "LifecycleRetired"}
"""Every number ever used. A line is added with an entry and never changed or removed, also when the entry goes."""
