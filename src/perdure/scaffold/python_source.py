"""Python as text: literals, calls and docstrings in the form that formatters leave alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

WIDTH = 120
INDENT = "    "


def quoted(text: str) -> str:
    """A string literal, in single quotes where that saves escapes."""
    written = json.dumps(text, ensure_ascii=False)
    if '"' in text and "'" not in text:
        return "'" + written[1:-1].replace('\\"', '"') + "'"
    return written


def in_docstring(text: str, most: int = 60) -> str:
    """One line of a docstring that no text from a model ends or escapes."""
    plain = " ".join(text.replace("\\", "/").replace('"', "'").split())
    plain = "".join(sign for sign in plain if sign.isprintable())
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    return [INDENT * depth + line if line else line for line in lines]


def call(head: str, arguments: Sequence[str], tail: str = "", *, at: int = 0, brackets: str = "()") -> list[str]:
    """A call on one line where it fits at that depth, else one argument a line."""
    opening, closing = brackets[0], brackets[1]
    line = f"{head}{opening}{', '.join(arguments)}{closing}{tail}"
    if len(INDENT) * at + len(line) <= WIDTH and "\n" not in line:
        return [line]
    return [
        f"{head}{opening}",
        *(INDENT + line for each in arguments for line in _last_comma(each)),
        f"{closing}{tail}",
    ]


def _last_comma(argument: str) -> list[str]:
    lines = argument.split("\n")
    return [*lines[:-1], f"{lines[-1]},"]


def imported(module: str, names: Sequence[str], at: int = 0) -> list[str]:
    """An import on one line where it fits, else one name a line."""
    names = sorted(names, key=lambda name: (not name.isupper(), name[:1].islower(), name.lower()))
    line = f"from {module} import {', '.join(names)}"
    if len(INDENT) * at + len(line) <= WIDTH:
        return [line]
    return [f"from {module} import (", *(f"{INDENT}{name}," for name in names), ")"]
