"""Verb uses: every place of a definition that names a verb, with the arguments it gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from perdure.lifecycles.lint.rule import Part, Subject
from perdure.verbs.sexpr.forms import snake


class VerbUse(NamedTuple):
    part: Part
    what: str
    verb: str
    args: dict[str, Any]
    is_guard: bool = False
    is_resolution: bool = False


def verb_uses(subject: Subject) -> Iterator[VerbUse]:
    definition = subject.definition
    for state in definition.states:
        for each in state.requirements:
            if each.resolution is not None:
                part: Part = ("requirement", state.name, each.key)
                what = f"the resolution of '{each.key}'"
                yield VerbUse(part, what, each.resolution.verb, each.resolution.args, is_resolution=True)
    for at, action in enumerate(definition.actions):
        yield VerbUse(("action", str(at)), f"the action '{action.name}'", action.verb, action.params)
    for place, guard in subject.guards():
        if guard.kind == "custom":
            args = {snake(name): value for name, value in guard.params.get("args", {}).items()}
            yield VerbUse(place, "the guard", guard.params.get("verb", ""), args, is_guard=True)
