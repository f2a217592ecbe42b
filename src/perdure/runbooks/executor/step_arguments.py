"""Arguments of a step: references resolved from results, conditions evaluated, locks named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, assert_never

from perdure.runbooks.plan import All, Condition, Either, Not, Path, Reference, StepPlan, Test
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.text_templates import substitute

ValueOf = Callable[[str], Any]
"""The result of a step by its name."""


class UnresolvedError(Exception):
    """A reference leads to nothing; its text says where."""


class LackingError(Exception):
    """Arguments that a decision must have are not there at a resume."""

    def __init__(self, missing: list[str]) -> None:
        super().__init__(f"it was not asked: there is no value yet for {', '.join(missing)}")


def arguments(step: StepPlan, value_of: ValueOf) -> dict[str, Any]:
    """The step's arguments with every reference replaced by what it refers to."""
    args: Any = step.args
    for reference in step.references:
        args = _placed(args, reference.at, dig(value_of(reference.step), reference))
    return dict(args)


def known_arguments(step: StepPlan, value_of: ValueOf) -> tuple[dict[str, Any], frozenset[str]]:
    """The step's arguments of which everything is known, and the names of the others."""
    lacks: set[str] = set()
    args: Any = step.args
    for reference in step.references:
        try:
            args = _placed(args, reference.at, dig(value_of(reference.step), reference))
        except UnresolvedError:
            lacks.add(str(reference.at[0]))
    return {name: value for name, value in args.items() if name not in lacks}, frozenset(lacks)


def dig(value: Any, reference: Reference | Test) -> Any:
    for position, key in enumerate(reference.path):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, dict) and isinstance(key, str) and argument_name(key) in value:
            value = value[argument_name(key)]
        elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
            value = value[key]
        else:
            missing = path_text(reference.path[: position + 1])
            raise UnresolvedError(f"the result of '{reference.step}' has no '{missing}'")
    return value


def path_text(path: Path) -> str:
    return ".".join(str(each) for each in path)


def _placed(into: Any, at: Path, value: Any) -> Any:
    """A copy of `into` with a value at a place in it."""
    if not at:
        return value
    key, rest = at[0], at[1:]
    if isinstance(into, dict):
        return {**into, key: _placed(into.get(key), rest, value)}
    if isinstance(into, list) and isinstance(key, int) and 0 <= key < len(into):
        return [*into[:key], _placed(into[key], rest, value), *into[key + 1 :]]
    raise UnresolvedError(f"there is no place '{path_text(at)}' in its arguments")


def holds(condition: Condition, value_of: ValueOf) -> bool:
    """How a condition comes out; UnresolvedError when it needs a field that did not arrive."""
    match condition:
        case Test():
            return _test(condition, value_of)
        case Not():
            return not holds(condition.of, value_of)
        case All():
            return all(holds(each, value_of) for each in condition.of)
        case Either():
            return any(holds(each, value_of) for each in condition.of)
        case _:
            assert_never(condition)


def _test(test: Test, value_of: ValueOf) -> bool:
    found = dig(value_of(test.step), test)
    match test.operator:
        case None:
            return bool(found)
        case "==":
            return _is_same(found, test.value)
        case "!=":
            return not _is_same(found, test.value)
        case "in":
            return any(_is_same(found, each) for each in test.value)
        case _:
            return _compared(found, test.operator, test.value, test.step)


def _is_same(found: Any, value: Any) -> bool:
    """Equal as JSON is: true is not 1."""
    return isinstance(found, bool) == isinstance(value, bool) and bool(found == value)


def _compared(found: Any, operator: str, value: Any, step: str) -> bool:
    numbers = not isinstance(found, bool) and isinstance(found, int | float) and isinstance(value, int | float)
    if not numbers and not (isinstance(found, str) and isinstance(value, str)):
        raise UnresolvedError(f"{found!r} of '{step}' cannot be compared with {value!r} by {operator}")
    return bool(
        {"<": found < value, "<=": found <= value, ">": found > value, ">=": found >= value}[operator]
    )  # fmt: skip


def locks(writes: tuple[str, ...], args: Mapping[str, Any]) -> tuple[str, ...]:
    """What a step changes, in the order locks are taken."""

    def value_of(name: str) -> str:
        value = args.get(name, args.get(argument_name(name)))
        if value is None or isinstance(value, dict | list):
            raise UnresolvedError(f"what it changes is named by '{name}', which has no single value")
        return ("true" if value else "false") if isinstance(value, bool) else str(value)

    return tuple(sorted({substitute(template, value_of) for template in writes}))
