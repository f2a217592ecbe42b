"""Names of a program from ids and names of a model: readable, ASCII, unique, none of them reserved."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"[A-Za-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TAKEN = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | {"self", "cls", "process"}
MAX_LENGTH = 60


def words(text: str) -> list[str]:
    """The words of a name or id, in lower case."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return [part.lower() for word in _WORD.findall(plain) for part in _CAMEL.split(word) if part]


def snake(text: str) -> str:
    """`Reserve stock` and `ReserveStock` become `reserve_stock`; empty where no letter is left."""
    name = "_".join(words(text))[:MAX_LENGTH].strip("_")
    if name[:1].isdigit():
        name = f"n{name}"
    return f"{name}_" if name in _TAKEN else name


def pascal(text: str) -> str:
    """`stock.reserve.v1` becomes `StockReserveV1`."""
    name = "".join(word[:1].upper() + word[1:] for word in words(text))[:MAX_LENGTH]
    return f"N{name}" if name[:1].isdigit() else name


def unique_names(wanted: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A name for each id; where two ids want one name, the later gets its id behind it, or a number."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for id, name in wanted:
        name = name or snake(id) or "element"
        chosen, number = name, 1
        if chosen in taken:
            chosen = f"{name}_{snake(id)}"
        while chosen in taken:
            number += 1
            chosen = f"{name}_{number}"
        taken.add(chosen)
        found[id] = chosen
    return found


def is_python_name(text: str) -> bool:
    """Whether a part of a path can be the name of a field."""
    return text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("__")
