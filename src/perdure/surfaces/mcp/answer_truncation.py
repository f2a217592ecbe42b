"""Answer truncation: long values are cut, and the cut says how to get the rest."""

from __future__ import annotations

from typing import Any

import msgspec

SHORT_TEXT = 300
LONG_TEXT = 1_000
IN_LISTS = 1_000
"""Characters of JSON that a value may have beside others."""
ALONE = 16_000
"""Characters of JSON that a value may have by itself."""
WHOLE = 120_000
"""Characters of JSON that any answer may have."""


class Cut(msgspec.Struct, frozen=True):
    """Stands for a value that is too large to show: how it begins, and how to read the rest."""

    is_cut: bool
    characters: int
    beginning: str
    rest: str


def short(text: str, most: int = SHORT_TEXT) -> str:
    """A text that ends in an ellipsis where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def fitted(value: Any, most: int, rest: str) -> Any:
    """The value, or what stands for it; `rest` says how the whole of it is read."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = as_json(value)
    if len(text) <= most:
        return value
    return msgspec.to_builtins(Cut(True, len(text), text[: min(most, 400)], rest))


def as_json(value: Any) -> str:
    """A value as the protocol sends it."""
    return msgspec.json.encode(value).decode()


def reading(id: str, step: str, of: str) -> str:
    """How a value that was cut is read."""
    named = f", step='{step}'" if step else ""
    return f"Use read_value with id='{id}'{named}, of='{of}'."
