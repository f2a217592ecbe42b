"""Names: a text `$name` in a definition stands for a value of the instance's context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

NAME = re.compile(r"\$([A-Za-z_][A-Za-z0-9_:-]*(?:\.[A-Za-z0-9_-]+)*)")
BUILT_IN = ("subject", "instance_id", "lifecycle")
"""Names that every instance has, whatever its context holds."""

Names = Mapping[str, Any]


class UnknownName(Exception):
    """A name that the context does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def resolved(value: Any, names: Names) -> Any:
    """The value with its names replaced; raises UnknownName for the first that is not there."""
    if isinstance(value, str):
        match = NAME.fullmatch(value)
        return looked_up(match[1], names) if match else value
    if isinstance(value, list):
        return [resolved(each, names) for each in value]
    if isinstance(value, dict):
        return {key: resolved(each, names) for key, each in value.items()}
    return value


def looked_up(path: str, names: Names) -> Any:
    """The value behind a dotted path; raises UnknownName when there is none."""
    if path in names:
        found = names[path]
    else:
        found = names
        for word in path.split("."):
            if not isinstance(found, Mapping) or word not in found:
                raise UnknownName(path)
            found = found[word]
    if found is None:
        raise UnknownName(path)
    return found


def names_in(value: Any) -> Iterator[str]:
    """Every name that a value refers to."""
    if isinstance(value, str):
        match = NAME.fullmatch(value)
        if match:
            yield match[1]
    elif isinstance(value, list):
        for each in value:
            yield from names_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from names_in(each)
