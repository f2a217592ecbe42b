"""Named queries as the server prepares them: numbered parameters, and columns of a batch as arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from perdure.store.postgres.binary_format import ARRAYS, Encoder
from perdure.store.queries import load_queries

_PARAMETER = re.compile(r"%\((\w+)\)s(?:::(\w+)\[\])?")


class Statement(msgspec.Struct, frozen=True):
    """One query. `columns` encode a batch's rows column by column; empty where it takes single values."""

    name: bytes
    sql: bytes
    parameters: tuple[str, ...]
    columns: tuple[Encoder, ...]


def load_statements() -> Mapping[str, Statement]:
    return {name: compiled(name, text) for name, text in load_queries("postgres").items()}


def compiled(name: str, text: str) -> Statement:
    """A query with `$1`, `$2`, … in the order its parameters first appear."""
    numbers: dict[str, int] = {}
    columns: list[Encoder] = []

    def number(match: re.Match[str]) -> str:
        parameter, element = match.group(1), match.group(2)
        if parameter not in numbers:
            numbers[parameter] = len(numbers) + 1
            if element:
                columns.append(ARRAYS[element])
        return f"${numbers[parameter]}" + (f"::{element}[]" if element else "")

    sql = _PARAMETER.sub(number, text)
    return Statement(name.encode(), sql.encode(), tuple(numbers), tuple(columns))
