"""`WorkflowTransaction`: tasks that are done together or undone together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.workflows.nodes import CompensationHandler, ServiceTask
from perdure.workflows.places import caller, refusal


class WorkflowTransaction:
    """A sequence of tasks with what undoes each. A failure undoes those that completed, last first, and goes on when
    an undoing fails; the instance ends `compensated`."""

    def __init__(self) -> None:
        self.tasks: list[ServiceTask] = []

    def execute_task(
        self, task: ServiceTask, compensation: CompensationHandler | Callable[..., Any] | None = None
    ) -> WorkflowTransaction:
        """Add a task; it runs when a workflow that holds the transaction comes to it."""
        place = caller()
        handler = compensation if isinstance(compensation, CompensationHandler) else None
        if handler is not None and handler.task_id != task.id:
            fact = f"the compensation is for '{handler.task_id}'"
            raise refusal(place, "compensation", task.id, fact, f"Write task_id='{task.id}'.")
        if compensation is not None:
            task.compensation = handler.compensate if handler is not None else compensation  # type: ignore[assignment]
            task.order = handler.order if handler is not None else 0
        orders = [each.order for each in self.tasks if each.order]
        if handler is not None and handler.order and any(each <= handler.order for each in orders):
            fact = f"its order is {handler.order}, and '{self.tasks[-1].id}' before it has {orders[-1]}"
            hint = "What completes last is undone first: give each later task a lower order, or none."
            raise refusal(place, "compensation", task.id, fact, hint)
        self.tasks.append(task)
        return self
