"""Data merge: a job returns changes of its outputs, never a whole payload."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, Literal, NoReturn, assert_never

from orjson import loads

from perdure.errors import MergeConflictError, SchemaViolationError
from perdure.payload.canonical_json import canonical, flat
from perdure.payload.json_faults import Path, pointer, refuse, within_depth
from perdure.payload.json_reader import Settled, settled

Data = dict[str, Any]
MergeRule = Literal["any", "all", "sum", "max"]
"""How values that concurrent branches write to one path become one; none depends on who came first."""

_MISSING = object()
_PLAIN = frozenset({str, bool, type(None)})


def merge(data: Mapping[str, Any], patch: Mapping[str, Any], *, declared: Collection[str] | None = None) -> Data:
    """New data with the patch laid over it: objects merge, lists and scalars replace, None sets null.

    With `declared`, a patch of any other top-level field is refused.
    """
    if declared is not None and (others := [name for name in patch if name not in declared]):
        known = ", ".join(sorted(declared)) or "none"
        refuse((others[0],), "it is not a declared output", f"Declared outputs: {known}.")
    return _lay_over(data, patch, ())


def merge_settled(data: Mapping[str, Any], patch: Mapping[str, Any]) -> Settled:
    """New data as `merge` makes it, settled."""
    written = flat({**data, **patch})
    if written is None:
        return settled(_lay_over(data, patch, ()))
    return written, loads(written)  # without objects inside, nothing is merged below the top


def changed_paths(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """The JSON pointers at which two data differ, sorted; a list counts as one value."""
    return tuple(sorted(pointer(path) for path in _differences(old, new, ())))


def is_untouched(base: Mapping[str, Any], current: Mapping[str, Any], names: Collection[str]) -> bool:
    """Whether the fields of these names are in both data the same."""
    for name in names:
        before, now = base.get(name, _MISSING), current.get(name, _MISSING)
        if before is not now and not _same(before, now):
            return False
    return True


def merge_concurrent(
    base: Mapping[str, Any], changes: Sequence[tuple[str, Mapping[str, Any]]], rules: Mapping[str, MergeRule]
) -> Data:
    """The patches of concurrent branches, each `(verb, patch)`, merged onto what they all started from.

    A path changed by two branches needs a rule under its JSON pointer, or MergeConflictError names both verbs.
    `any`, `all` and `max` look at every value written; `sum` adds each branch's difference to the base.
    An empty object says only that an object is there, so it agrees with any other object at or under its path.
    The result does not depend on the order of the changes.
    """
    ruled: dict[Path, list[Any]] = {}
    free: dict[Path, Any] = {}
    owners: dict[Path, str] = {}
    empty: dict[Path, str] = {}
    for verb, patch in changes:
        for path, value in _leaves(patch, ()):
            if pointer(path) in rules:
                ruled.setdefault(path, []).append(value)
            elif not _would_change(_at(base, path), value):
                continue
            elif value == {}:
                empty.setdefault(path, verb)
                continue
            elif path in free:
                _conflict(path, owners[path], verb)
            else:
                free[path] = value
            owners.setdefault(path, verb)
    _refuse_containment(owners, empty)
    combined = {path: _combine(rules[pointer(path)], _at(base, path), values, path) for path, values in ruled.items()}
    result = dict(base)
    for path, value in ({path: {} for path in empty} | free | combined).items():
        result = _lay_over(result, _nest(path, value), ())
    return result


def ruled_part(data: Mapping[str, Any], patch: Mapping[str, Any], rules: Mapping[str, MergeRule]) -> Data | None:
    """What data holds at those paths of a patch that have a rule; None when none of its paths has one."""
    found: Data = {}
    is_ruled = False
    for path, _ in _leaves(patch, ()):
        if pointer(path) in rules:
            is_ruled, present = True, _at(data, path)
            if present is not _MISSING and present is not None:
                found = _lay_over(found, _nest(path, present), ())
    return found if is_ruled else None


def _lay_over(data: Mapping[str, Any], patch: Mapping[str, Any], path: Path) -> Data:
    merged = {**data, **patch}
    for name, value in patch.items():
        if isinstance(value, dict):
            below, present = (*path, name), data.get(name)
            within_depth(below)
            merged[name] = _lay_over(present if isinstance(present, dict) else {}, value, below)
    return merged


def _differences(old: Any, new: Any, path: Path) -> Iterator[Path]:
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        if not _same(old, new):
            yield path
        return
    within_depth(path)
    for name in {**old, **new}:
        yield from _differences(old.get(name, _MISSING), new.get(name, _MISSING), (*path, name))


def _same(left: Any, right: Any) -> bool:
    """Equal as JSON: 1 and 1.0 are, 1 and true are not."""
    if left is _MISSING or right is _MISSING:
        return left is right
    if type(left) is type(right) and type(left) in _PLAIN:
        return bool(left == right)
    return canonical(left) == canonical(right)


def _would_change(present: Any, value: Any) -> bool:
    """Whether laying a leaf over what is there changes it; an empty object over an object does not."""
    return not (value == {} and isinstance(present, Mapping)) and not _same(present, value)


def _leaves(patch: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if not isinstance(patch, Mapping) or not patch:
        if path:
            yield path, patch
        return
    within_depth(path)
    for name, value in patch.items():
        yield from _leaves(value, (*path, name))


def _at(data: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(data, Mapping) or name not in data:
            return _MISSING
        data = data[name]
    return data


def _nest(path: Path, value: Any) -> Data:
    for name in reversed(path):
        value = {name: value}
    nested: Data = value
    return nested


def _refuse_containment(owners: Mapping[Path, str], empty: Mapping[Path, str]) -> None:
    """One patch never writes a path and something inside it, so two that do are of two branches."""
    for path, verb in owners.items():
        _refuse_around(path[:-1], verb, owners)
    for path, verb in empty.items():
        _refuse_around(path, verb, owners)


def _refuse_around(path: Path, verb: str, owners: Mapping[Path, str]) -> None:
    for length in range(1, len(path) + 1):
        if path[:length] in owners:
            _conflict(path[:length], owners[path[:length]], verb)


def _conflict(path: Path, first: str, second: str) -> NoReturn:
    where = pointer(path)
    verbs = sorted((first, second))
    fact = f"the concurrent verbs '{verbs[0]}' and '{verbs[1]}' both change it and no merge rule is declared"
    rule = f"payload: {{merge: {{{where}: sum}}}}"
    hint = f"Let them write different fields, or write `{rule}` (or any, all, max) on the durable verb."
    raise MergeConflictError("merge", "path", where, fact, hint, path=where, verbs=tuple(verbs))


def _combine(rule: MergeRule, base: Any, values: list[Any], path: Path) -> Any:
    match rule:
        case "any":
            return any(_expect(values, (bool,), rule, path))
        case "all":
            return all(_expect(values, (bool,), rule, path))
        case "max":
            return max(_expect(values, (int, float), rule, path))
        case "sum":
            start = 0 if base is _MISSING or base is None else base
            return _sum(_expect([start, *values], (int, float), rule, path))
        case _:
            assert_never(rule)


def _sum(numbers: list[Any]) -> int | float:
    start, *values = numbers
    differences = [value - start for value in values]
    if all(type(number) is int for number in numbers):
        return int(start + sum(differences))
    return fsum([start, *differences])


def _expect(values: list[Any], kinds: tuple[type, ...], rule: str, path: Path) -> list[Any]:
    for value in values:
        if type(value) not in kinds:
            wanted = " or ".join(kind.__name__ for kind in kinds)
            fact = f"the merge rule '{rule}' takes {wanted}, not {type(value).__name__}"
            raise SchemaViolationError("merge", "path", pointer(path), fact, path=pointer(path))
    return values
