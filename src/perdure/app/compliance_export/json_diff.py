"""The difference of two JSON values, path by path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perdure.app.compliance_export.document import Change
from perdure.payload import pointer

MAX_CHANGES = 1_000
"""Changes told of one crossing; those beyond are counted. The data itself is always whole in the document."""

Path = tuple[str | int, ...]
_ABSENT = object()


def differences(before: Any, after: Any) -> tuple[list[Change], int]:
    """The changes in the order of their paths, and how many more there are."""
    told: list[Change] = []
    omitted = 0
    for change in _walk(before, after, ()):
        if len(told) < MAX_CHANGES:
            told.append(change)
        else:
            omitted += 1
    return told, omitted


def given(value: Any) -> tuple[list[Change], int]:
    """Data where there was none: each of its fields was added."""
    return differences({}, value) if isinstance(value, dict) else differences(_ABSENT, value)


def _walk(before: Any, after: Any, path: Path) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            yield from _walk(before.get(name, _ABSENT), after.get(name, _ABSENT), (*path, name))
    elif isinstance(before, list) and isinstance(after, list):
        for place in range(max(len(before), len(after))):
            yield from _walk(_at(before, place), _at(after, place), (*path, place))
    elif before is _ABSENT:
        yield Change(path=_shown(path), kind="added", after=after)
    elif after is _ABSENT:
        yield Change(path=_shown(path), kind="removed", before=before)
    elif type(before) is not type(after) or before != after:
        yield Change(path=_shown(path), kind="changed", before=before, after=after)


def _at(values: list[Any], place: int) -> Any:
    return values[place] if place < len(values) else _ABSENT


def _shown(path: Path) -> str:
    return pointer(path) if path else ""
