"""The context of a workflow, as its code sees it: variables read, variables set, and what the instance is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from perdure.errors import BusinessError
from perdure.verbs import Call

SHARED = "workflow-variable"
"""The entity of variables that outlive an instance."""
GLOBAL = "global"
"""Who owns the variables of no workflow."""


class WorkflowContext(Mapping[str, Any]):
    """The variables of one instance while one of its tasks runs. What is set is kept when the task has completed."""

    def __init__(self, call: Call, workflow_id: str, workflow_version: str, actor: str) -> None:
        self.call = call
        self.instance_id = call.call_id
        self.workflow_id, self.workflow_version, self.actor = workflow_id, workflow_version, actor
        self._seen: dict[str, Any] = dict(call.args)
        self.changes: dict[str, Any] = {}

    @property
    def variables(self) -> dict[str, Any]:
        """All of them by name, as they are now."""
        return {**self._seen, **self.changes}

    def get_variable(self, name: str, default: Any = None) -> Any:
        return self.variables.get(name, default)

    def set_variable(self, name: str, value: Any, actor: str = "", variable_type: str | None = None) -> None:
        """Set a variable; its author is the agent of the task, and its type that of the value."""
        self.changes[name] = value

    async def get_shared(self, name: str, default: Any = None, owner: str = "") -> Any:
        """A variable of the workflow, or else a global one, as it is now; `owner` names one workflow, or `global`."""
        for each in (owner,) if owner else (self.workflow_id, GLOBAL):
            try:
                found = await self.call.entities.read(SHARED, {"owner": each, "name": name})
            except BusinessError as error:
                if error.code != "not_found":
                    raise
            else:
                return found.get("value")
        return default

    def __getitem__(self, name: str) -> Any:
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)


class WorkflowAgent:
    """A base for agents: subclass it, and write methods that take the inputs and return the outputs.

    `last_execution_cost` is recorded with the attempt, in the unit that prices are counted in.
    """

    agent_id: str = ""

    def __init__(self, agent_id: str = "", workflow_instance: WorkflowContext | None = None, **kept: Any) -> None:
        self.agent_id = agent_id or self.agent_id or type(self).__name__
        self.workflow_instance = workflow_instance
        self.last_execution_cost: float | str | None = None
        self.last_execution_duration: float | None = None
        for name, value in kept.items():
            setattr(self, name, value)

    async def execute(self, task_input: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} has no execute: write it, or name another method")

    async def execute_as_service_task(self, task_input: dict[str, Any]) -> dict[str, Any]:
        """Run `execute`, and tell what it cost."""
        output = await self.execute(task_input)
        return {
            "success": True, "output": output, "cost": self.last_execution_cost,
            "duration_ms": self.last_execution_duration,
        }  # fmt: skip

    def set_workflow_variable(self, name: str, value: Any) -> None:
        """Set a variable of the workflow that this agent works for; outside of one nothing happens."""
        if self.workflow_instance is not None:
            self.workflow_instance.set_variable(name, value, actor=self.agent_id)

    def get_workflow_variable(self, name: str, default: Any = None) -> Any:
        return default if self.workflow_instance is None else self.workflow_instance.get_variable(name, default)
