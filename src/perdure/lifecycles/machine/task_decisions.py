"""Decisions about pending tasks: results count once, in any order, and none counts after its task is over."""

from __future__ import annotations

from perdure.errors import Rejection
from perdure.journal import Decision, Origin
from perdure.lifecycles.machine import commands as c
from perdure.lifecycles.machine import entries as e
from perdure.lifecycles.machine.incidents import IN_VAIN
from perdure.lifecycles.machine.state import Instance, Task, TaskStatus

MAX_ERROR = 2000


def closing(state: Instance, reason: str, now: int, *, with_actions: bool = False) -> tuple[e.TaskClosed, ...]:
    """All open tasks end: nothing stays decidable after what it was for is over. Actions go on unless told to end."""
    return tuple(
        e.TaskClosed(task.correlation_id, "cancelled", reason, now)
        for task in state.open_tasks()
        if with_actions or not task.is_action
    )


def decide_result(
    letters: str, state: Instance, command: c.ReceiveResult, origin: Origin, now: int
) -> Decision | Rejection:
    task = state.task(command.correlation_id)
    if task is None:
        return Rejection("not_found", "complete", "task", command.correlation_id[:200], "there is no such task")
    if not task.is_open:
        return Decision((), "over", keeps=False)
    if command.base != state.context:
        return Rejection("wrong_state", "complete", "task", command.correlation_id, "its context changed meanwhile")
    received = task.received + sum(each.status == "completed" for each in command.items)
    failed = task.failed + sum(each.status == "failed" for each in command.items)
    error = command.error or next((each.error for each in command.items if each.error), "")
    cargo = tuple(each.cargo_ref for each in command.items if each.status == "completed" and each.cargo_ref)
    status = _status(task, command, received, failed)
    result = e.TaskResultReceived(
        command.correlation_id, status, received, failed, cargo, error[:MAX_ERROR], command.context, now,
        origin.principal, command.message_id,
    )  # fmt: skip
    return Decision((result,), status)


def _status(task: Task, command: c.ReceiveResult, received: int, failed: int) -> TaskStatus:
    """Where a task stands with one more result: a bundle counts up to what is expected."""
    if command.status != "completed":
        return command.status
    if received >= task.expected or not command.items:
        return "completed"
    return "failed" if received + failed >= task.expected else "partial"


def decide_close(letters: str, state: Instance, command: c.CloseTask, now: int) -> Decision | Rejection:
    task = state.task(command.correlation_id)
    if task is None:
        return Rejection("not_found", "close", "task", command.correlation_id[:200], "there is no such task")
    if not task.is_open:
        return Decision((), "over")
    return Decision(
        (e.TaskClosed(task.correlation_id, command.status, command.reason[:MAX_ERROR], now),), command.status
    )


def failed_task(letters: str, state: Instance, number: int) -> Task | Rejection:
    """The task of that number, which failed or expired and was not asked for again since."""
    task = next((each for each in state.tasks if each.number == number), None)
    if task is None:
        return Rejection("not_found", "find", "task", f"{letters}:{number}", "there is no such task")
    if task.status not in IN_VAIN:
        return Rejection("wrong_state", "change", "task", task.correlation_id, f"it is {task.status}")
    if any(each.key == task.key and each.number > number for each in state.tasks):
        return Rejection("wrong_state", "change", "task", task.correlation_id, "it was asked for again since")
    return task


def decide_dismissal(letters: str, state: Instance, command: c.DismissTask, now: int) -> Decision | Rejection:
    task = failed_task(letters, state, command.number)
    if isinstance(task, Rejection):
        return task
    if not task.is_action:
        fact, hint = f"'{task.key}' blocks the instance as long as it is not met", "Retry it, or cancel the instance."
        return Rejection("wrong_state", "dismiss", "task", task.correlation_id, fact, hint)
    if not command.reason.strip():
        return Rejection("invalid", "dismiss", "task", task.correlation_id, "it needs a reason")
    reason = f"dismissed: {command.reason}"[:MAX_ERROR]
    return Decision((e.TaskClosed(task.correlation_id, "cancelled", reason, now),), "dismissed")


def decide_expiry(state: Instance, command: c.ExpireTask, now: int) -> Decision | Rejection:
    task = next((each for each in state.tasks if each.number == command.number), None)
    if task is None or not task.is_open or task.expires_at != command.due:
        return Decision((), "over")
    return Decision((e.TaskClosed(task.correlation_id, "expired", "nothing came in time", now),), "expired")
