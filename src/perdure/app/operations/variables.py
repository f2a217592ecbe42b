"""Operations on variables and executions of instances: what they hold, who wrote it, what each task did."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.instances.manual_changes import confirm_manual_change
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Id, Name, Word
from perdure.app.operations.verb_scopes import VERBS_OF_INSTANCE
from perdure.app.workflows.views import ExecutionView, VariableView

TAG = "instances"


class ShowVariables(Request, frozen=True):
    """An instance; with a `name`, every version of that variable, else the newest of each."""

    id: Id
    name: Word = ""


class SetVariable(Request, frozen=True):
    """A variable of an instance and its new value; the reason stays in the journal.

    Where the workflow can reach something grave, it is confirmed as the start of the workflow is.
    """

    id: Id
    name: Name
    value: Any
    reason: str = ""
    confirm: str = ""
    phrase: str = ""


class ShowExecutions(Request, frozen=True):
    """The instance whose tasks are asked about."""

    id: Id


class VariablesView(msgspec.Struct, frozen=True):
    """Variables of an instance, or the versions of one, oldest first."""

    variables: list[VariableView]


class ExecutionsView(msgspec.Struct, frozen=True):
    """Every attempt of every task of an instance, oldest first."""

    executions: list[ExecutionView]


@operation("instance.read", Route("GET", "/instances/{id}/variables"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def show_variables(context: Context, request: ShowVariables) -> VariablesView:
    """The variables of an instance with their versions, authors and times, read from its journal."""
    found = (await context.perdure.workflows.story(request.id)).variables
    if request.name:
        return VariablesView(found.get(request.name, []))
    return VariablesView([versions[-1] for versions in found.values()])


@operation("instance.modify", Route("PUT", "/instances/{id}/variables/{name}"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def set_variable(context: Context, request: SetVariable) -> VariableView:
    """Set a variable of a running instance, and the flag that follows it, in one commit."""
    carrier = await context.runtime.engine.carrier(request.id)
    carrier.capabilities.require("modify", "modify", request.id)
    aggregate = await context.runtime.instances.read(request.id, context.origin)
    change = {"variable": {request.name: request.value}}
    await confirm_manual_change(context, aggregate, change, request.confirm, request.phrase)
    return await context.perdure.workflows.write(request.id, request.name, request.value, request.reason)


@operation("instance.read", Route("GET", "/instances/{id}/executions"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def show_executions(context: Context, request: ShowExecutions) -> ExecutionsView:
    """What every task got and gave, its error, its attempt, what it cost and how long it took."""
    return ExecutionsView((await context.perdure.workflows.story(request.id)).executions)
