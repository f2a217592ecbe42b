"""Paths of the contract profile: identifiers joined by dots, and what they reach in plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

ROOTS = ("state", "request", "result")
MAX_PATH_LENGTH = 500
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Missing(msgspec.Struct, frozen=True):
    """Of which there is one: what a path reaches where nothing is."""


MISSING: Final = Missing()


class Path(msgspec.Struct, frozen=True):
    """A path as written. `fault` says what is wrong with it, empty when it follows the grammar; then `parts` are its
    identifiers, the first of which is its root."""

    text: str
    parts: tuple[str, ...] = ()
    fault: str = ""

    @property
    def root(self) -> str:
        return self.parts[0] if self.parts else ""

    @property
    def inner(self) -> tuple[str, ...]:
        """The identifiers below the root."""
        return self.parts[1:]

    def __str__(self) -> str:
        return self.text


def parse_path(text: str) -> Path:
    """`identifier ( "." identifier )*`, where an identifier is `[A-Za-z_][A-Za-z0-9_]*`; nothing else is a path."""
    if len(text) > MAX_PATH_LENGTH:
        return Path(text, (), f"it has {len(text):,} characters and may have {MAX_PATH_LENGTH}")
    parts = tuple(text.split("."))
    odd = next((part for part in parts if not _IDENTIFIER.fullmatch(part)), None)
    if odd is None:
        return Path(text, parts)
    if not text:
        return Path(text, (), "it is empty")
    if "[" in text:
        return Path(text, (), "it indexes a list, which paths cannot")
    return Path(text, (), f"'{odd[:40]}' is not an identifier" if odd else "a dot has no identifier beside it")


def read_path(data: Mapping[str, Any], parts: tuple[str, ...]) -> Any:
    """The value that is there, or MISSING; a null is a value that is not there."""
    found: Any = data
    for part in parts:
        if not isinstance(found, Mapping) or part not in found:
            return MISSING
        found = found[part]
    return MISSING if found is None else found


def write_path(data: Mapping[str, Any], parts: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The data with the value there: objects on the way are created, and replace whatever else stood there.

    MISSING takes away what is there and creates nothing.
    """
    first, rest = parts[0], parts[1:]
    changed = dict(data)
    inner = changed.get(first)
    if not rest:
        if isinstance(value, Missing):
            changed.pop(first, None)
        else:
            changed[first] = value
    elif isinstance(inner, Mapping):
        changed[first] = write_path(inner, rest, value)
    elif not isinstance(value, Missing):
        changed[first] = write_path({}, rest, value)
    return changed
