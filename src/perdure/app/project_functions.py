"""Functions that a project brings along as verbs: their declarations join the catalogue, they become handlers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from perdure.errors import DefinitionError, Problem
from perdure.verbs import Catalogue, HandlerRegistry
from perdure.verbs.definition import same_verb_name
from perdure.verbs.function_verbs import FunctionVerb, function_verb, is_declared


class ProjectFunctions:
    """Verbs of functions that `@durable` and `@sync` declare."""

    def __init__(self, verbs: Iterable[FunctionVerb] = ()) -> None:
        self._verbs = list(verbs)

    @classmethod
    def load(cls, given: Sequence[Any]) -> ProjectFunctions:
        """Functions, modules of them, Python files, and folders of such files."""
        found = dict.fromkeys(function for each in given for function in _functions(each))
        problems, verbs = list[Problem](), list[FunctionVerb]()
        for function in found:
            try:
                verbs.append(function_verb(function))
            except DefinitionError as error:
                problems.extend(error.problems)
        if problems:
            raise DefinitionError(problems)
        return cls(verbs)

    def extend(self, catalogue: Catalogue) -> Catalogue:
        """The catalogue with these verbs; a name that another verb has is refused."""
        if not self._verbs:
            return catalogue
        verbs = [verb.definition for verb in catalogue.every_version()]
        known = {(same_verb_name(each.name), each.version): each for each in verbs}
        problems = list[Problem]()
        for each in (each.definition for each in self._verbs):
            other = known.setdefault((same_verb_name(each.name), each.version), each)
            if other is each:
                verbs.append(each)
            elif other != each:
                reason = f"the verb '{each.name}' is declared in {other.file} on line {other.line} as well"
                problems.append(
                    Problem("function.verb", each.file, each.line, 1, each.name, reason, "Keep one of them.")
                )
        if problems:
            raise DefinitionError(problems)
        return Catalogue(verbs, catalogue.entities, catalogue.definitions, catalogue.documents, catalogue.reasons)

    def bind(self, registry: HandlerRegistry) -> HandlerRegistry:
        """The registry, with the functions as handlers of their verbs."""
        for each in self._verbs:
            registry.bind(each.definition.name, each.handler, each.definition.version)
        return registry


def _functions(given: Any) -> Iterator[Any]:
    if is_declared(given):
        yield given
    elif isinstance(given, ModuleType):
        yield from (each for each in vars(given).values() if is_declared(each))
    elif isinstance(given, str | Path):
        yield from _in_place(Path(given))
    else:
        reason = f"{given!r} declares no verb"[:300]
        hint = "Give a function under @durable or @sync, or a Python file with some."
        raise DefinitionError([Problem("function.given", "<python>", 1, 1, "functions", reason, hint)])


def _in_place(place: Path) -> Iterator[Any]:
    from perdure.workflows.files import imported  # noqa: PLC0415  only who names files needs it

    if not place.exists():
        raise DefinitionError([Problem("file.missing", str(place), 1, 1, "", "there is no such file or folder")])
    folder = place if place.is_dir() else place.parent
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    for file in files:
        yield from _functions(imported(file, folder))
