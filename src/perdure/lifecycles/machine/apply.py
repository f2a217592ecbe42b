"""Application of entries to a lifecycle instance: pure, without definitions, facts or clocks."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from perdure.errors import InvariantBroken
from perdure.lifecycles.machine import entries as e
from perdure.lifecycles.machine.state import (
    MAX_CLOSED_TASKS,
    MAX_HISTORY,
    STATE_VERSION,
    Instance,
    Move,
    Proposal,
    Stuck,
    Task,
)


def apply(state: Instance | None, entry: e.LifecycleEntry) -> Instance:
    if isinstance(entry, e.LifecycleStarted):
        return Instance(
            STATE_VERSION, entry.lifecycle, entry.number, entry.hash, entry.subject, entry.context, entry.at, entry.by,
            behind=entry.behind, depth=entry.depth,
        )  # fmt: skip
    if state is None:
        raise InvariantBroken("apply", "entry", type(entry).__name__, "no instance was started")
    state = replace(state, round=state.round + 1)
    if isinstance(entry, e.TaskRequested | e.TaskResultReceived | e.TaskClosed):
        return _of_task(state, entry)
    if isinstance(entry, e.LifecycleEnded | e.LifecycleMigrated | e.LifecycleStuck | e.DataErased):
        return _of_whole(state, entry)
    match entry:
        case e.StateEntered():
            return _entered(state, entry)
        case e.FactsJudged():
            return replace(
                state, is_due=False, hops=0, blocked=entry.blocked, facts=entry.facts, recheck_at=entry.recheck_at
            )  # fmt: skip
        case e.InterestChanged():
            return replace(state, interest=entry.interest, is_due=True)
        case e.TransitionProposed():
            return replace(state, proposal=_proposal(entry))
        case e.DeadlinePassed():
            left = tuple(each for each in state.deadlines if each.at != entry.due)
            blocked = entry.blocked or state.blocked
            return replace(state, deadlines=left, is_overdue=True, blocked=blocked, facts=entry.facts)
        case e.LookAsked():
            return replace(state, is_due=True, hops=0, stuck=None)
        case _:
            assert_never(entry)


def _of_whole(
    state: Instance, entry: e.LifecycleEnded | e.LifecycleMigrated | e.LifecycleStuck | e.DataErased
) -> Instance:
    match entry:
        case e.LifecycleEnded():
            return replace(
                state, status=entry.status, ended_at=entry.at, is_due=False, interest=(), deadlines=(), recheck_at=0,
                blocked=(), facts=b"", proposal=None, stuck=None,
            )  # fmt: skip
        case e.LifecycleMigrated():
            return replace(state, number=entry.number, hash=entry.hash)
        case e.LifecycleStuck():
            return replace(state, is_due=False, stuck=Stuck(entry.code, entry.text, entry.at))
        case e.DataErased():
            return replace(state, context=b"", facts=b"", is_erased=True)
        case _:
            assert_never(entry)


def _of_task(state: Instance, entry: e.TaskEntry) -> Instance:
    if isinstance(entry, e.TaskRequested):
        return _requested(state, entry)
    task = _task(state, entry.correlation_id)
    if isinstance(entry, e.TaskClosed):
        error = entry.reason if entry.status != "completed" else ""
        changed = replace(task, status=entry.status, closed_at=entry.at, error=error)
        is_due = not state.is_over and (state.is_due or entry.status != "cancelled")
        return replace(_with_task(state, changed), is_due=is_due)
    closed_at = 0 if entry.status == "partial" else entry.at
    changed = replace(
        task, status=entry.status, received=entry.received, failed=entry.failed, closed_at=closed_at,
        cargo=(*task.cargo, *entry.cargo), error=entry.error,
    )  # fmt: skip
    return replace(_with_task(state, changed), context=entry.context, is_due=not state.is_over)


def _entered(state: Instance, entry: e.StateEntered) -> Instance:
    move = Move(entry.source, entry.state, entry.cause, entry.at, entry.by, entry.reason, entry.facts)
    return replace(
        state, state=entry.state, entered_at=entry.at, visit=state.visit + 1, is_due=True,
        hops=state.hops + 1 if entry.cause == "auto" else 0, interest=entry.interest, deadlines=entry.deadlines,
        recheck_at=0, is_overdue=False, blocked=(), facts=b"", proposal=None, stuck=None,
        history=(*state.history, move)[-MAX_HISTORY:],
    )  # fmt: skip


def _proposal(entry: e.TransitionProposed) -> Proposal:
    return Proposal(
        entry.target, entry.by, entry.names, entry.reason, entry.at, entry.number, entry.seen, entry.facts
    )  # fmt: skip


def _requested(state: Instance, entry: e.TaskRequested) -> Instance:
    number = max((task.number for task in state.tasks), default=0) + 1
    task = Task(
        number, entry.correlation_id, entry.key, entry.blocker, entry.verb, entry.attempt, state.visit, entry.at,
        entry.by, entry.expires_at, entry.expected, behind=entry.behind,
    )  # fmt: skip
    closed = [each for each in state.tasks if not each.is_open and each.visit != state.visit]
    forgotten = {each.number for each in closed[: max(0, len(closed) - MAX_CLOSED_TASKS)]}
    tasks = (*(each for each in state.tasks if each.number not in forgotten), task)
    return replace(state, tasks=tasks, asked={**state.asked, entry.key: entry.attempt})


def _task(state: Instance, correlation_id: str) -> Task:
    task = state.task(correlation_id)
    if task is None:
        raise InvariantBroken("apply", "entry of task", correlation_id, "it was never asked for")
    return task


def _with_task(state: Instance, changed: Task) -> Instance:
    return replace(state, tasks=tuple(changed if each.number == changed.number else each for each in state.tasks))
