"""Handlers of the verbs that a workflow compiles to: code invoked with variables, its results kept with their flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from perdure.errors import BusinessError, ContractError
from perdure.verbs import Call, Result
from perdure.verbs.agent_handlers import MarkedAgent, agent, is_agent
from perdure.workflows.code import agent_of, at_once, invoked, is_coroutine_code, short_name
from perdure.workflows.context import WorkflowAgent, WorkflowContext
from perdure.workflows.nodes import DEFAULT_TIMEOUT, Condition, ExclusiveGateway, InclusiveGateway, ServiceTask
from perdure.workflows.variables import Mirror, flag_name

TASK_FAILED = "workflow.task_failed"
"""The business error of a task whose last attempt failed, in a workflow that can undo what it did."""
Handler = Callable[[Call], Any]


class Whose(NamedTuple):
    """The workflow that a handler works for, and the flags that follow its variables."""

    id: str
    version: str
    mirrors: tuple[Mirror, ...] = ()
    undoes: bool = False

    def context(self, call: Call, actor: str) -> WorkflowContext:
        return WorkflowContext(call, self.id, self.version, actor)

    def result(self, kept: Mapping[str, Any]) -> Result:
        """What is kept, with the flags that follow it."""
        flags = {
            mirror.flag: value
            for mirror in self.mirrors
            if mirror.path[0] in kept and (value := mirror.value(kept)) is not None
        }
        return Result(dict(kept), flags)


def service_handler(task: ServiceTask, whose: Whose) -> Any:
    """Invokes the agent with the inputs and keeps the outputs."""
    outputs = task.output_variables
    if is_agent(task.agent) and not isinstance(task.agent, WorkflowAgent):
        return _marked(task, lambda found: whose.result(_kept(found, outputs)))
    make, _ = agent_of(task)
    actor = short_name(task.agent)
    seconds = (task.timeout or DEFAULT_TIMEOUT).total_seconds()
    attempts = task.retry_policy.max_attempts if task.retry_policy is not None else 1

    def begun(call: Call) -> tuple[WorkflowContext, Callable[..., Any], dict[str, Any]]:
        context = whose.context(call, actor)
        return context, make(context), {name: call.args.get(name) for name in task.input_variables}

    def ended(call: Call, context: WorkflowContext, method: Any, found: Any) -> Result:
        _tell_cost(call, method, actor)
        return whose.result({**context.changes, **_kept(found, outputs)})

    async def run(call: Call) -> Result:
        method = None
        try:
            context, method, inputs = begun(call)
            found = await invoked(method, inputs, seconds)
        except Exception as error:
            _tell_cost(call, method, actor)
            failed = _failed(error, call, attempts, task, whose)
            if failed is error:
                raise
            raise failed from error
        return ended(call, context, method, found)

    def run_plain(call: Call) -> Result:
        method = None
        try:
            context, method, inputs = begun(call)
            found = at_once(method(inputs), task.id)
        except Exception as error:
            _tell_cost(call, method, actor)
            failed = _failed(error, call, attempts, task, whose)
            if failed is error:
                raise
            raise failed from error
        return ended(call, context, method, found)

    return run if _is_async(task) else run_plain


def _is_async(task: ServiceTask) -> bool:
    code = task.agent
    if isinstance(code, type) or not callable(code) or hasattr(code, task.method):
        code = getattr(code, task.method, code)
    return is_coroutine_code(code)


def _marked(task: ServiceTask, keep: Callable[[Any], Result]) -> MarkedAgent:
    found = task.agent
    if not isinstance(found, MarkedAgent):
        return agent(task.id, found, output=keep)
    before = found.output
    own = MarkedAgent(found.inner, name=found.name, prices=found.prices, prompt=found.prompt)
    own.output = lambda said: keep(before(said) if before is not None else said)
    return own


def _kept(found: Any, outputs: Sequence[str]) -> dict[str, Any]:
    """Of what was returned, the outputs by name; a single output may be returned as it is."""
    if isinstance(found, Result):
        found = found.data
    if isinstance(found, Mapping):
        named = {name: found[name] for name in outputs if name in found}
        if named or len(outputs) != 1 or not found:
            return named
    if len(outputs) == 1 and found is not None:
        return {outputs[0]: found}
    return {}


def _failed(error: Exception, call: Call, attempts: int, task: ServiceTask, whose: Whose) -> Exception:
    """What a failed attempt counts as: the last one undoes the workflow, where it can be undone."""
    if isinstance(error, BusinessError | ContractError):
        return error
    if whose.undoes and call.attempt >= attempts:
        return BusinessError(TASK_FAILED, f"'{task.id}' failed: {type(error).__name__}: {error}"[:1000])
    return error


def _tell_cost(call: Call, method: Any, actor: str) -> None:
    cost = getattr(getattr(method, "__self__", None), "last_execution_cost", None)
    if cost is not None:
        call.used(actor, input_tokens=0, output_tokens=0, cost=str(cost))


def context_handler(code: Callable[..., Any], whose: Whose, output: str, actor: str = "") -> Handler:
    """Invokes a function with the context, and keeps what it returns in one variable; empty for none."""
    actor = actor or short_name(code)

    def ended(context: WorkflowContext, found: Any) -> Result:
        own = {output: found} if output and found is not None else {}
        return whose.result({**context.changes, **own})

    async def run(call: Call) -> Result:
        context = whose.context(call, actor)
        return ended(context, await invoked(code, context, DEFAULT_TIMEOUT.total_seconds()))

    def run_plain(call: Call) -> Result:
        context = whose.context(call, actor)
        return ended(context, at_once(code(context), output or actor))

    return run if is_coroutine_code(code) else run_plain


def answer_handler(variable: str, fields: Sequence[str], whose: Whose) -> Handler:
    """Keeps the answer to a user task as one variable."""

    def run(call: Call) -> Result:
        return whose.result({variable: {name: call.args[name] for name in fields if name in call.args}})

    return run


def message_handler(outputs: Sequence[str], whose: Whose) -> Handler:
    """Keeps what a message brings, as far as outputs name it."""

    def run(call: Call) -> Result:
        return whose.result({name: call.args[name] for name in outputs if name in call.args})

    return run


def returned_handler(outputs: Sequence[str], whose: Whose) -> Handler:
    """Lets flags follow what a called workflow brought back; the variables themselves are there already."""

    def run(call: Call) -> Result:
        return Result({}, whose.result({name: call.args[name] for name in outputs if name in call.args}).flags)

    return run


def failed_handler(called: str) -> Handler:
    """Fails as the last attempt of a task does, so that everything before it is undone."""

    def run(call: Call) -> Result:
        raise BusinessError(TASK_FAILED, f"'{called}' failed: the workflow that it called was undone")

    return run


def decide_handler(gateway: ExclusiveGateway, whose: Whose, text_holds: Mapping[str, Callable[..., bool]]) -> Handler:
    """Evaluates the conditions of a gateway in their order, and sets its flags."""
    conditions: dict[str, Condition] = {
        route: text_holds.get(route, condition) for route, condition in gateway.conditions.items()
    }
    is_inclusive = isinstance(gateway, InclusiveGateway)

    def verdict(met: list[str]) -> Result:
        if is_inclusive:
            return Result({}, {route_flag(gateway.id, route): route in met for route in gateway.conditions})
        route = met[0] if met else gateway.default_path
        if not route:
            asked = ", ".join(gateway.conditions)
            raise ContractError(
                f"No path matched in gateway '{gateway.id}': none of {asked} holds, and it has no default"
            )
        return Result({}, {gateway_flag(gateway.id): route})

    async def run(call: Call) -> Result:
        context, met = whose.context(call, gateway.id), []
        for route, condition in conditions.items():
            assert not isinstance(condition, str)
            if await invoked(condition, context, DEFAULT_TIMEOUT.total_seconds()):
                met.append(route)
                if not is_inclusive:
                    break
        return verdict(met)

    return run


def gateway_flag(gateway: str) -> str:
    """The flag that says which way an exclusive gateway goes."""
    return flag_name((gateway, "route"))


def route_flag(gateway: str, route: str) -> str:
    """The flag that says whether an inclusive gateway goes a way."""
    return flag_name((gateway, "is", route))
