"""The human tasks of steps: who takes one, hands it on and answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

from msgspec.structs import replace

from perdure import people
from perdure.errors import Rejection
from perdure.journal import Decision, Origin
from perdure.people import HumanTask, Person
from perdure.runbooks import commands as c
from perdure.runbooks import entries as e
from perdure.runbooks.state import Runbook, Step, with_step

AGENT = "agent:"
"""How the names of agents begin: none of them answers for a person."""


def handle(state: Runbook, command: c.HandleTask, origin: Origin, now: int) -> Decision | Rejection:
    """Take it, give it back, delegate or reassign it."""
    step = state.steps[command.step - 1] if 1 <= command.step <= len(state.steps) else None
    task = step.open_task if step is not None else None
    if task is None:
        return people.over(command.act, "?")
    who = Person(origin.principal, origin.groups, command.override)
    after = _handled(task, command, who)
    if isinstance(after, Rejection):
        return after
    if after == task:
        return Decision((), "replayed")
    if command.act in ("claim", "unclaim"):
        return Decision((e.TaskClaimed(command.step, now, after.claimed_by, command.override),))
    is_delegated = command.act == "delegate"
    handed = e.TaskHanded(
        command.step, now, origin.principal, command.to, command.groups, is_delegated, command.override
    )
    return Decision((handed,))


def _handled(task: HumanTask, command: c.HandleTask, who: Person) -> HumanTask | Rejection:
    match command.act:
        case "claim":
            return people.claim(task, who, "?")
        case "unclaim":
            return people.unclaim(task, who, "?")
        case "delegate":
            return people.delegate(task, who, command.to, "?")
        case "reassign":
            return people.reassign(task, who, command.to, command.groups, "?")
        case _:
            assert_never(command.act)


def answered(step: Step, command: c.Complete, origin: Origin, now: int) -> tuple[e.Entry, ...] | Rejection:
    """What an answer is recorded as, before what it leads to; nothing when the wait is no task."""
    task = step.open_task
    if command.accepts and not (task is not None and step.proposal):
        return Rejection("wrong_state", "accept", "task", "?", "nothing is proposed there", "Answer it yourself.")
    if task is None or command.is_expired:
        return ()
    if step.proposal and origin.principal.startswith(AGENT):
        fact = f"an agent proposed it, and '{origin.principal}' is an agent"
        return Rejection("forbidden", "complete", "task", "?", fact, "A person has to decide.")
    after = people.answer(task, Person(origin.principal, origin.groups, command.override), now, "?")
    if isinstance(after, Rejection):
        return after
    return (e.TaskAnswered(command.step, now, origin.principal, command.accepts, command.override),)


# --- how entries change it --------------------------------------------------------------------------------------------


def _changed(state: Runbook, number: int, **changes: Any) -> Runbook:
    step = replace(state.steps[number - 1], **changes)
    return replace(state, steps=with_step(state.steps, number, step))


def _task(state: Runbook, number: int) -> HumanTask:
    return state.steps[number - 1].task or HumanTask()


def _proposed(state: Runbook, entry: e.ProposalMade) -> Runbook:
    return _changed(state, entry.step, proposal=entry.proposal)


def _opened(state: Runbook, entry: e.TaskOpened) -> Runbook:
    task = HumanTask(groups=entry.groups, opened_at=entry.at, requester=entry.requester, title=entry.title)
    return _changed(state, entry.step, task=task)


def _claimed(state: Runbook, entry: e.TaskClaimed) -> Runbook:
    status: Any = "claimed" if entry.by else "open"
    return _changed(state, entry.step, task=replace(_task(state, entry.step), state=status, claimed_by=entry.by))


def _handed(state: Runbook, entry: e.TaskHanded) -> Runbook:
    task = people.handed(_task(state, entry.step), entry.to, entry.groups)
    if entry.is_delegated:
        task = replace(task, delegated_by=(*task.delegated_by, entry.by))
    return _changed(state, entry.step, task=task)


def _answered(state: Runbook, entry: e.TaskAnswered) -> Runbook:
    return _changed(state, entry.step, task=people.ended(_task(state, entry.step), "completed", entry.at, entry.by))


TASK_TABLE: dict[type, Callable[[Runbook, Any], Runbook]] = {
    e.ProposalMade: _proposed,
    e.TaskOpened: _opened,
    e.TaskClaimed: _claimed,
    e.TaskHanded: _handed,
    e.TaskAnswered: _answered,
}
