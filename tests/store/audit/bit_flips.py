"""Single bits of stored rows, changed with plain SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

TABLES = ("aggregate", "journal", "payload", "parked", "timer", "job", "incident", "seal")
MEANINGLESS = {("aggregate", "number"), ("payload", "number"), ("parked", "number"), ("journal", "position")}
"""Numbers the database hands out to order rows; nothing is decided by them alone."""
OWNER = {"aggregate": "id", "seal": "number"}


class HasColumn(Protocol):
    @property
    def column(self) -> str: ...


C = TypeVar("C", bound=HasColumn)


class Cell(NamedTuple):
    """One column of one row, with the whole row to find it again."""

    table: str
    column: str
    row: dict[str, object]

    @property
    def owner(self) -> object:
        return self.row[OWNER.get(self.table, "aggregate")]


def cells(path: Path) -> Iterator[Cell]:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    try:
        for table in TABLES:
            for row in connection.execute(f"SELECT * FROM {table}").fetchall():
                values = dict(row)
                yield from (Cell(table, name, values) for name in values if (table, name) not in MEANINGLESS)
    finally:
        connection.close()


def chosen(cells: Sequence[C], every: int) -> Iterator[tuple[int, C]]:
    """Cells of one table with their numbers: all of the first row, and of the others every so many, on diagonals."""
    width = len({cell.column for cell in cells})
    for number, cell in enumerate(cells):
        row, column = divmod(number, width)
        if row == 0 or (row + column) % every == 0:
            yield number, cell


def flip(path: Path, cell: Cell, place: int) -> bool:
    """Turn over one bit of a cell; False when the database itself refuses the change as a duplicate."""
    new, expression = flipped(cell.row[cell.column], place)
    where = " AND ".join(f"{name} IS ?" for name in cell.row)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        sql = f"UPDATE {cell.table} SET {cell.column} = {expression} WHERE {where}"
        assert connection.execute(sql, (new, *cell.row.values())).rowcount == 1
    except sqlite3.IntegrityError:
        return False
    finally:
        connection.close()
    return True


def flipped(value: object, place: int) -> tuple[object, str]:
    if isinstance(value, int):
        return value ^ (1 << (place % 62)), "?"
    assert isinstance(value, (str, bytes))
    data = bytearray(value.encode() if isinstance(value, str) else value)
    if data:
        data[(place // 8) % len(data)] ^= 1 << (place % 8)
    else:
        data.append(place % 256)
    return bytes(data), "CAST(? AS TEXT)" if isinstance(value, str) else "?"
