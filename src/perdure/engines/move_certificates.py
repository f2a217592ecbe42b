"""Move certificates: what an instance was when it changed its engine, replayed before and hashed for both journals."""

from __future__ import annotations

from typing import Literal

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.engine import MovePlan
from perdure.engines.embedded.ports import EngineStore
from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.payload import canonical, digest, digest_text
from perdure.sources import Id, id_text

PAGE = 500
Shadow = Literal["", "equal"]


def move_plan(machine: InstanceMachine, aggregate: Aggregate, carrier: str, to: str, shadow: Shadow = "") -> MovePlan:
    """What a move would take along; RejectedError where there is nothing to be moved, or it stays where it is."""
    state: Instance = aggregate.state
    letters = id_text(aggregate.id)
    if state.status in ENDED:
        raise _refused(letters, f"it is {state.status}")
    if carrier == to:
        raise _refused(letters, f"the engine '{to}' carries it already")
    leased = [node.element for node in state.nodes.values() if node.job is not None and node.job.worker]
    if leased:
        raise _refused(letters, f"a worker has the job of '{leased[0]}'", "Wait until it has ended.")
    rows = machine.rows(aggregate.id, state)
    return MovePlan(
        letters, state.process, carrier, to, aggregate.version, state.status,
        tuple(f"{row.kind}:{row.name}" for row in rows.parked), len(rows.timers), len(rows.jobs), shadow,
    )  # fmt: skip


def certificate_of(machine: InstanceMachine, aggregate: Aggregate, plan: MovePlan, at: int) -> bytes:
    """The hash of what is moved: state, data, and the end of the journal's chain, with where it goes."""
    state: Instance = aggregate.state
    written = {
        "instance": plan.instance, "from": plan.carrier, "to": plan.to, "version": plan.version, "at": at,
        "state": digest_text(digest(machine.encode(state))), "data": digest_text(state.head),
        "journal": digest_text(aggregate.head), "shadow": plan.shadow,
    }  # fmt: skip
    return digest(canonical(written))


def replayed(machine: InstanceMachine, bodies: list[bytes]) -> Instance | None:
    """The state that a journal leads to."""
    state: Instance | None = None
    for body in bodies:
        for entry in machine.records.decode(body).entries:
            state = machine.apply(state, entry)
    return state


async def journal_of(store: EngineStore, id: Id, version: int) -> list[bytes]:
    """The bodies of the records of an instance up to a version."""
    found: list[bytes] = []
    while len(found) < version:
        rows = await store.records(id, len(found), min(PAGE, version - len(found)))
        if not rows:
            break
        found.extend(row.body for row in rows)
    return found


def check_replay(aggregate: Aggregate, expected: bytes, found: bytes, where: str) -> None:
    """Refuse a move whose journal does not lead to the state there is."""
    if expected != found:
        fact = f"its journal, replayed on '{where}', leads to {digest_text(found)} and not to {digest_text(expected)}"
        hint = "See `perdure audit verify` before it is moved."
        raise _refused(id_text(aggregate.id), fact, hint)


def _refused(id: str, fact: str, hint: str = "") -> RejectedError:
    return RejectedError(Rejection("wrong_state", "move", INSTANCE, id, fact, hint))
