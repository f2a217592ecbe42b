"""Mirrors: which variables the conditions in text read, and of what type the flags are that follow them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from perdure.bpmn.conditions.tree import Foreign
from perdure.errors import DefinitionError, Problem
from perdure.verb_contract import FlagType
from perdure.workflows.nodes import CatchEvent, ExclusiveGateway, MessageEvent, StartEvent
from perdure.workflows.places import problem
from perdure.workflows.variables import Mirror, flag_name, flag_types, mirrored

if TYPE_CHECKING:
    from perdure.workflows.workflow import Workflow

_DECLARED: dict[str, FlagType] = {"string": "string", "integer": "integer", "boolean": "boolean"}


def mirrors_of(workflow: Workflow) -> tuple[Mirror, ...]:
    """Every flag that follows a variable; DefinitionError where a condition cannot be one."""
    found: dict[str, Mirror] = {}
    problems: list[Problem] = []
    for gateway in workflow.graph.of_type(ExclusiveGateway):
        for route, text in gateway.conditions.items():
            if isinstance(text, str):
                problems.extend(_read(workflow, gateway, route, text, found))
    for event in events_of(workflow):
        if isinstance(event, MessageEvent) and event.correlation:
            flag = key_flag(event)
            found[flag] = Mirror(flag, (event.correlation,), "string", is_key=True)
    if problems:
        raise DefinitionError(problems)
    return tuple(found.values())


def events_of(workflow: Workflow) -> Iterator[CatchEvent]:
    """Every event, wherever it stands."""
    for node in workflow.graph.nodes.values():
        if isinstance(node, CatchEvent):
            yield node
        if isinstance(node, StartEvent) and node.event is not None:
            yield node.event
        yield from getattr(node, "events", {}).values()
    for boundary in workflow.graph.boundaries:
        yield boundary.event


def key_flag(event: MessageEvent) -> str:
    """The flag that holds the key of a wait."""
    return flag_name(("key", event.correlation))


def _read(
    workflow: Workflow, gateway: ExclusiveGateway, route: str, text: str, found: dict[str, Mirror]
) -> Iterator[Problem]:
    condition, paths = mirrored(text)
    where = f"{gateway.id}.{route}"
    if isinstance(condition, Foreign):
        hint = "Write 'approved == true' with and, or, not; or give a function."
        yield problem(gateway.place, "condition", where, f"'{text}' is no condition: {condition.fact}", hint)
        return
    for flag, type in flag_types(condition):
        path = paths.get(flag)
        if path is None:
            continue
        variable = workflow.variables.get(path[0])
        own = _DECLARED.get(variable.type) if variable is not None and len(path) == 1 else None
        known = found.setdefault(flag, Mirror(flag, path, own or type))
        if known.type != type:
            fact = f"'{'.'.join(path)}' is of type {known.type}, and '{text}' compares it with {type}"
            yield problem(gateway.place, "condition", where, fact, "Compare it with a value of its type.")
        elif known.path != path:
            fact = f"'{'.'.join(path)}' and '{'.'.join(known.path)}' would be one flag"
            yield problem(gateway.place, "condition", where, fact, "Name one of them differently.")
