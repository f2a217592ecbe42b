"""Incidents of a lifecycle instance: what does not go on until a person acts, as its state alone tells.

| code | what is stuck | a way on |
|---|---|---|
| lifecycle.interest, .restless, .unreachable | the instance | look again once it is mended, migrate, cancel |
| lifecycle.resolution | a blocker: its last task failed or expired, and none is under way | retry the task |
| lifecycle.action | an action failed | retry the task, dismiss |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from perdure.lifecycles.machine.state import Instance, Task

RESOLUTION, ACTION = "lifecycle.resolution", "lifecycle.action"
IN_VAIN = ("failed", "expired")


class Incident(NamedTuple):
    """`number` is that of the task, 0 where the whole instance is stuck."""

    number: int
    code: str
    text: str
    at: int


def incidents_of(state: Instance) -> Iterator[Incident]:
    if state.stuck is not None:
        yield Incident(0, state.stuck.code, state.stuck.text, state.stuck.at)
    newest: dict[str, Task] = {task.key: task for task in state.tasks}
    blocked = {each.key for each in state.blocked}
    for task in newest.values():
        if task.status not in IN_VAIN:
            continue
        text = f"{task.key} ({task.verb}) {task.status}: {task.error}"
        if task.is_action:
            yield Incident(task.number, ACTION, text, task.closed_at)
        elif not state.is_over and not state.is_due and task.visit == state.visit and task.key in blocked:
            yield Incident(task.number, RESOLUTION, text, task.closed_at)
