"""The handler registry finds the function of each verb, only inside packages that the local configuration names."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sysconfig
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import msgspec

from perdure.errors import DefinitionError, Problem
from perdure.verbs.agent_handlers import MarkedAgent, is_agent
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.definition import BUILT_IN_HANDLERS, VerbDefinition, same_verb_name
from perdure.verbs.handlers import VerbMark, marks_of
from perdure.verbs.near_names import did_you_mean

_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
MAX_MODULES = 5000


class Handler(msgspec.Struct, frozen=True):
    """A function or an agent bound to a verb; `built_in` names one that the platform provides itself."""

    name: str
    function: Any
    is_async: bool = False
    built_in: bool = False
    is_agent: bool = False


class HandlerRegistry:
    """Functions by verb (`@verb`, `bind`) and by the handler names that definitions use."""

    def __init__(self) -> None:
        self._by_verb: dict[tuple[str, int | None], Handler] = {}
        self._by_name: dict[str, Handler] = {}
        self._packages: tuple[str, ...] = ()

    @classmethod
    def collect(
        cls, packages: Sequence[str], catalogue: Catalogue, bound: Mapping[str, Any] | None = None
    ) -> HandlerRegistry:
        """Imports the named packages with all their modules; raises DefinitionError with every problem.

        `bound` adds functions and agents by verb or handler name, as `bind` does.
        """
        registry = cls()
        for name, function in (bound or {}).items():
            registry.bind(name, function)
        registry._packages = tuple(packages)
        problems: list[Problem] = []
        for module in imported_modules(packages, problems):
            problems.extend(registry._collect_marked(module, catalogue))
        for each in catalogue.every_version():
            problems.extend(registry._collect_named(each.definition))
        if problems:
            raise DefinitionError(problems)
        return registry

    def bind(self, name: str, function: Any, version: int | None = None) -> None:
        """Binds a function, or an agent, to a verb name, or to a handler name such as `bloomberg::query`."""
        key = (same_verb_name(name), version)
        handler = _handler(name, function)
        taken = self._by_name.get(name) if "::" in name else self._by_verb.get(key)
        if taken is not None and taken.function is not function:
            raise DefinitionError([_duplicate(name, taken.function, function)])
        if "::" in name:
            self._by_name[name] = handler
        else:
            self._by_verb[key] = handler

    def resolve(self, verb: Verb) -> Handler | None:
        """The handler of a verb: the one its definition names, else the one marked or bound for it."""
        named = verb.definition.execution.handler
        if named in BUILT_IN_HANDLERS:
            return Handler(named, None, built_in=True)
        if named is not None and named in self._by_name:
            return self._by_name[named]
        key = same_verb_name(verb.name)
        return self._by_verb.get((key, verb.version)) or self._by_verb.get((key, None))

    @property
    def names(self) -> Collection[str]:
        """The handler names that are bound, as definitions use them."""
        return self._by_name.keys()

    def serves(self, verb: Verb) -> bool:
        """Whether a verb finds its handler, or needs none."""
        execution = verb.definition.execution
        return self.resolve(verb) is not None or (execution.kind != "sync" and execution.handler is None)

    def function(self, name: str) -> Any:
        """A function by its dotted name below the listed packages, or None."""
        found = (_attribute(path) for path in self._paths(name))
        return next((each for each in found if callable(each)), None)

    def missing(self, catalogue: Catalogue) -> list[Problem]:
        """A problem for every verb that could not run: a sync one without, or any with a handler not found."""
        found: list[Problem] = []
        for each in catalogue.every_version():
            if not self.serves(each):
                reason = f"the verb '{each.name}' has no handler"
                hint = f'Write @verb("{each.name}") above a function of a package listed under handlers.'
                found.append(_problem(each.definition, "handler.missing", reason, hint))
        return found

    def _collect_marked(self, module: ModuleType, catalogue: Catalogue) -> Iterable[Problem]:
        for name, value in sorted(vars(module).items()):
            # An agent is a value, not something defined in a module; found in two, it is the same one.
            if getattr(value, "__module__", None) == module.__name__ or isinstance(value, MarkedAgent):
                for mark in marks_of(value):
                    yield from self._bind_marked(f"{module.__name__}.{name}", mark, value, catalogue)

    def _bind_marked(self, place: str, mark: VerbMark, function: Any, catalogue: Catalogue) -> Iterable[Problem]:
        if catalogue.find(mark.name, mark.version) is None:
            hint = did_you_mean(mark.name, catalogue.names())
            wanted = mark.name if mark.version is None else f"{mark.name} version {mark.version}"
            reason = f"{place} is marked for the verb '{wanted}', which is not declared"
            yield Problem("handler.unknown_verb", *_place(function), place, reason, hint)
            return
        key = (same_verb_name(mark.name), mark.version)
        taken = self._by_verb.get(key)
        if taken is not None and taken.function is not function:
            yield _duplicate(mark.name, taken.function, function)
        else:
            self._by_verb[key] = _handler(place, function)

    def _collect_named(self, definition: VerbDefinition) -> Iterable[Problem]:
        name = definition.execution.handler
        if name is None or name in BUILT_IN_HANDLERS or name in self._by_name:
            return
        candidates = self._paths(name)
        for path in candidates:
            function = _attribute(path)
            if callable(function) or is_agent(function):
                self._by_name[name] = _handler(path, function)
                return
        listed = ", ".join(self._packages) or "none"
        if not candidates:
            reason = f"the handler '{name}' of '{definition.name}' is outside the listed packages ({listed})"
            yield _problem(definition, "handler.outside", reason, "List its package under handlers.")
        elif not self._is_marked(definition):
            reason = f"the handler '{name}' of '{definition.name}' was not found (looked for {', '.join(candidates)})"
            yield _problem(definition, "handler.not_found", reason)

    def _is_marked(self, definition: VerbDefinition) -> bool:
        key = same_verb_name(definition.name)
        return (key, definition.version) in self._by_verb or (key, None) in self._by_verb

    def _paths(self, name: str) -> list[str]:
        """Full dotted paths below the listed packages that a handler name may mean."""
        dotted = name.replace("::", ".")
        if not all(part.isidentifier() for part in dotted.split(".")) or "." not in dotted:
            return []
        full = [dotted] if any(_is_below(dotted, package) for package in self._packages) else []
        return full + [f"{package}.{dotted}" for package in self._packages if "::" in name]


def _is_below(dotted: str, package: str) -> bool:
    return dotted.startswith(f"{package}.")


def imported_modules(packages: Sequence[str], problems: list[Problem], word: str = "handler") -> Iterable[ModuleType]:
    """The packages with all their modules; what cannot be imported is a problem of the `word`."""
    for package in packages:
        root = _imported(package, problems, word)
        if root is None:
            continue
        yield root
        below = pkgutil.walk_packages(getattr(root, "__path__", ()), f"{package}.", onerror=lambda _: None)
        for count, found in enumerate(below):
            if count >= MAX_MODULES:
                reason = f"the package '{package}' has more than {MAX_MODULES} modules"
                problems.append(Problem(f"{word}.too_many", package, 1, 1, f"{word}s", reason))
                break
            if found.name.rpartition(".")[2] == "__main__":
                continue
            if (module := _imported(found.name, problems, word)) is not None:
                yield module


def _imported(name: str, problems: list[Problem], word: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception as error:  # a user's module may raise anything while it is imported
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        reason = f"the {word} module '{name}' cannot be imported: {type(error).__name__}: {said}"
        problems.append(Problem(f"{word}.import", *_raised_at(name, error), f"{word}s", reason[:500]))
        return None


def _raised_at(name: str, error: Exception) -> tuple[str, int, int]:
    """The line of the user's own code at which a module could not be imported; its name where there is none."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 1, error.offset or 1
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        file = frame.f_code.co_filename
        if not file.startswith(("<", *_LIBRARIES)) and file != __file__:
            return file, line, 1
    return name, 1, 1


def _attribute(path: str) -> Any:
    module_name, _, attribute = path.rpartition(".")
    try:
        # The package was imported before; only its own modules can be found here.
        module = importlib.import_module(module_name)
    except ImportError:
        return None
    return getattr(module, attribute, None)


def _handler(name: str, function: Any) -> Handler:
    if is_agent(function):
        return Handler(name, function, is_async=True, is_agent=True)
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    return Handler(name, function, is_async=inspect.iscoroutinefunction(called))


def _duplicate(name: str, first: Any, second: Any) -> Problem:
    reason = f"the verb '{name}' has two handlers: {_described(first)} and {_described(second)}"
    return Problem("handler.duplicate", *_place(second), name, reason, "Keep one of them.")


def _described(function: Any) -> str:
    file, line, _ = _place(function)
    name = f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"
    return f"{name} ({file}:{line})"


def _place(function: Any) -> tuple[str, int, int]:
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return (code.co_filename, code.co_firstlineno, 1) if code is not None else ("<python>", 1, 1)


def _problem(definition: VerbDefinition, code: str, reason: str, hint: str = "") -> Problem:
    return Problem(code, definition.file, definition.line, 1, f"{definition.name} execution.handler", reason, hint)
