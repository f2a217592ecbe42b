"""Code of a workflow: how a function, a method or an agent is named, pinned by its source, and invoked."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable
from typing import Any

from perdure.errors import ContractError, Transient
from perdure.verbs.agent_handlers import is_agent
from perdure.workflows.context import WorkflowAgent, WorkflowContext
from perdure.workflows.nodes import ServiceTask
from perdure.workflows.places import refusal

_REST = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
_GIVEN = ("instance_id", "workflow_instance", "agent_id")


class Named:
    """Code by its name alone: a workflow that was read without its code can be drawn, hashed and written, not run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__qualname__ = name.rpartition(":")[2]

    def __call__(self, *arguments: Any) -> Any:
        raise ContractError(f"'{self.name}' was named and not loaded: its workflow was read without its code")


def code_name(code: Any) -> str:
    """`module:name` of something that can be found again under it; empty for lambdas and values."""
    if isinstance(code, Named):
        return code.name
    named = code if inspect.isroutine(code) or isinstance(code, type) else None
    module, name = getattr(named, "__module__", ""), getattr(named, "__qualname__", "")
    return f"{module}:{name}" if module and name and "<" not in name else ""


def short_name(code: Any) -> str:
    """What people call it: the name of the function or class."""
    name = getattr(code, "__qualname__", "") or getattr(code, "name", "") or type(code).__name__
    return str(name).rpartition(".")[2] if "<" in str(name) else str(name)


def source_hash(code: Any) -> str:
    """`sha256:` of its source text; of its compiled form where there is none, as at a prompt."""
    if isinstance(code, Named):
        return ""
    code = code if inspect.isroutine(code) or isinstance(code, type) else type(code)
    try:
        text = inspect.getsource(code)
    except (OSError, TypeError):
        inner = getattr(inspect.unwrap(code), "__code__", None)
        text = repr((inner.co_code, inner.co_consts, inner.co_names)) if inner is not None else repr(code)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def is_coroutine_code(code: Any) -> bool:
    called = code if inspect.isroutine(code) else getattr(code, "__call__", code)  # noqa: B004
    return inspect.iscoroutinefunction(code) or inspect.iscoroutinefunction(called)


def agent_of(task: ServiceTask) -> tuple[Callable[[WorkflowContext], Any], Any]:
    """What makes the callable of a task for one attempt, and the code it is pinned by.

    The callable takes the inputs. Of a class, an instance is made for every attempt.
    """
    agent = task.agent
    if isinstance(agent, Named):
        return (lambda context: agent), agent
    if isinstance(agent, type):
        return _of_class(task, agent), agent
    if inspect.isroutine(agent):
        wants_context = _first_is_context(agent)
        return (lambda context: lambda inputs: agent(context if wants_context else inputs)), agent
    method = getattr(agent, task.method, None)
    if method is not None and callable(method):
        return (lambda context: method), type(agent)
    fact = f"its agent is {type(agent).__name__}, which has no method '{task.method}'"
    raise task.refuse("agent", fact, "Give a class, an instance, a function, or method= with the name of one.")


def _of_class(task: ServiceTask, agent: type) -> Callable[[WorkflowContext], Any]:
    if not callable(getattr(agent, task.method, None)):
        known = [name for name, value in vars(agent).items() if callable(value) and not name.startswith("_")]
        fact = f"'{agent.__name__}' has no method '{task.method}'"
        raise task.refuse("agent", fact, f"It has: {', '.join(known) or 'none'}.")
    taken = _taken(task, agent)

    def make(context: WorkflowContext) -> Any:
        known = {"instance_id": context.instance_id, "workflow_instance": context, "agent_id": agent.__name__}
        own = getattr(agent, "agent_id", "")
        made = agent(**{name: known[name] for name in taken if name != "agent_id" or not own})
        return getattr(made, task.method)

    return make


def _taken(task: ServiceTask, agent: type) -> tuple[str, ...]:
    """The arguments its constructor takes of those that there are; one that needs more is refused."""
    try:
        parameters = inspect.signature(agent).parameters.values()
    except ValueError:
        return ()
    missing = [
        each.name
        for each in parameters
        if each.default is each.empty and each.name not in _GIVEN and each.kind not in _REST
    ]
    if missing:
        fact = f"'{agent.__name__}' needs {', '.join(missing)} to be made"
        raise task.refuse("agent", fact, f"Give an instance: agent={agent.__name__}({missing[0]}=…).")
    names = {each.name for each in parameters}
    takes_all = issubclass(agent, WorkflowAgent) or any(each.kind is each.VAR_KEYWORD for each in parameters)
    return tuple(name for name in _GIVEN if (takes_all and name != "instance_id") or name in names)


def _first_is_context(function: Any) -> bool:
    """Whether a function asks for the context: its first parameter is called so, or annotated as one."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except ValueError:
        return False
    return first is not None and (first.name in ("ctx", "context") or "WorkflowContext" in str(first.annotation))


def check_timeout(task: ServiceTask) -> None:
    """Only what can be stopped has a time limit: a plain function cannot be."""
    code = getattr(task.agent, task.method, task.agent) if not inspect.isroutine(task.agent) else task.agent
    if isinstance(task.agent, Named):
        return
    if task.timeout is not None and not is_agent(task.agent) and not is_coroutine_code(code):
        fact = f"it has a timeout, and '{short_name(code)}' is a plain function, which nothing can stop"
        raise refusal(task.place, "timeout", task.id, fact, "Write it as 'async def', or leave the timeout out.")


async def invoked(function: Callable[..., Any], argument: Any, seconds: float | None) -> Any:
    """What it returns; a coroutine is awaited, and stopped when its time is up."""
    found = function(argument)
    if not inspect.isawaitable(found):
        return found
    try:
        async with asyncio.timeout(seconds) as limit:
            return await found
    except TimeoutError as error:
        if limit.expired():
            raise Transient(f"it took longer than {seconds:g} seconds") from error
        raise


def at_once(found: Any, task: str) -> Any:
    """What a plain function returned; a coroutine that nobody would await is closed and told."""
    if inspect.iscoroutine(found):
        found.close()
        raise ContractError(
            f"the code of '{task}' is a plain function that returns a coroutine: write it as 'async def'"
        )
    return found
