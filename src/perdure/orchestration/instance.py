"""`WorkflowInstance`: one run of a workflow, as the program that started it sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from perdure.app.workflows.views import ExecutionView, VariableView
from perdure.app.workflows.workflows import ARM

if TYPE_CHECKING:
    from perdure.app import Perdure
    from perdure.app.instances.views import InstanceView
    from perdure.app.tasks.views import TaskView

ProcessVariable = VariableView


class WorkflowInstance:
    """A handle: every answer is read from the store, so that it is true after any restart."""

    def __init__(self, perdure: Perdure, view: InstanceView, version: str) -> None:
        self._perdure, self.instance_id = perdure, view.id
        self.workflow_id, self.workflow_version = view.process, version
        self.arm = str(view.data.get(ARM, "")) if isinstance(view.data, dict) else ""
        """What a rollout chose, and by which rule; empty where none did."""

    async def view(self) -> InstanceView:
        """Everything about it: where it stands, what it waits for, its data, its incidents."""
        return await self._perdure.instances.get(self.instance_id)

    async def state(self) -> str:
        """`active`, `suspended`, `completed`, `failed`, `cancelled`, `compensated` or `compensation_failed`."""
        return (await self.view()).state

    async def wait(self, timeout_seconds: float | None = None) -> InstanceView:
        """Until it has ended, or the time is up."""
        return await self._perdure.instances.wait(self.instance_id, "end", timeout_seconds)

    async def get_variable(self, name: str, default: Any = None) -> Any:
        data = (await self.view()).data
        return data.get(name, default) if isinstance(data, dict) else default

    async def set_variable(self, name: str, value: Any, actor: str = "", reason: str = "") -> ProcessVariable:
        """Set a variable by hand, in the name of the actor; tasks that follow see it, and so do conditions."""
        perdure = self._perdure.acting(principal=actor) if actor else self._perdure
        return await perdure.workflows.set_variable(self.instance_id, name, value, reason)

    async def get_variable_history(self, name: str) -> Sequence[ProcessVariable]:
        """Every version of a variable, oldest first: its value, who wrote it and when."""
        return await self._perdure.workflows.variable_history(self.instance_id, name)

    async def variables(self) -> dict[str, ProcessVariable]:
        """The variables by name, as they are now."""
        return {each.name: each for each in await self._perdure.workflows.variables(self.instance_id)}

    async def executions(self) -> Sequence[ExecutionView]:
        """Every attempt of every task, oldest first."""
        return await self._perdure.workflows.executions(self.instance_id)

    async def tasks(self) -> list[TaskView]:
        """The open tasks of people, with their bodies and forms."""
        found = await self._perdure.tasks.list()
        return [await self._perdure.tasks.get(each.key) for each in found if each.instance == self.instance_id]

    async def suspend(self, reason: str = "") -> None:
        await self._perdure.instances.suspend(self.instance_id, reason)

    async def resume(self, shift_timers: bool = False) -> None:
        await self._perdure.instances.resume(self.instance_id, shift_timers=shift_timers)

    async def cancel(self, reason: str = "", compensate: bool = False) -> None:
        await self._perdure.instances.cancel(self.instance_id, reason, compensate=compensate)

    def __repr__(self) -> str:
        return f"WorkflowInstance({self.instance_id!r}, {self.workflow_id!r}, {self.workflow_version!r})"
