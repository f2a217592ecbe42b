"""Variables and executions over the table of operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perdure.app.facade.performer import Desk
from perdure.app.operations import variables
from perdure.app.operations.variables import SetVariable, ShowExecutions, ShowVariables
from perdure.app.workflows.views import ExecutionView, VariableView


class WorkflowDesk(Desk):
    """What instances of workflows hold and did. Reached as `workflows`."""

    async def variables(self, instance: str) -> Sequence[VariableView]:
        """The variables of an instance as they are now."""
        return (await self._performer.ask(variables.show_variables, ShowVariables(instance))).variables

    async def variable_history(self, instance: str, name: str) -> Sequence[VariableView]:
        """Every version of a variable of an instance, oldest first: its value, who wrote it and when."""
        return (await self._performer.ask(variables.show_variables, ShowVariables(instance, name))).variables

    async def set_variable(
        self, instance: str, name: str, value: Any, reason: str = "", *, confirm: str = "", phrase: str = ""
    ) -> VariableView:
        """Set a variable of a running instance by hand, and the flag that follows it, in one commit.

        For whoever comes through a server, a workflow that reaches something grave needs `confirm`, as its start does.
        """
        request = SetVariable(instance, name, value, reason, confirm, phrase)
        return await self._performer.ask(variables.set_variable, request)

    async def executions(self, instance: str) -> Sequence[ExecutionView]:
        """Every attempt of every task, oldest first: what went in and came out, its error, cost and duration."""
        return (await self._performer.ask(variables.show_executions, ShowExecutions(instance))).executions
