"""Forward-only migrations: numbered files, the same numbers and titles in both dialects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from perdure.errors import StoreSettingError
from perdure.store.queries import Dialect, load_queries

if TYPE_CHECKING:
    from perdure.store.sqlite.connection import Connection


SCHEMA = "schema"
"""The name of the setting that holds the number of the schema."""


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    title: str
    script: str


def migrations(dialect: Dialect) -> list[Migration]:
    """Every migration of a dialect in order."""
    folder = Path(__file__).parent / dialect
    found = []
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".sql"):
            number, title = file.name.removesuffix(".sql").split("_", 1)
            found.append(Migration(int(number), title, file.read_text("utf-8")))
    return found


def newest(dialect: Dialect) -> int:
    return migrations(dialect)[-1].number


def pending(dialect: Dialect, current: int, place: str) -> list[Migration]:
    """What is still to run; a schema from the future is refused."""
    known = migrations(dialect)
    if current > known[-1].number:
        raise StoreSettingError(
            "open", "store", place, f"its schema is {current} and this release knows {known[-1].number}",
            "Use the release that wrote it, or a newer one.",
        )  # fmt: skip
    return [migration for migration in known if migration.number > current]


def migrate_sqlite(connection: Connection, path: str, up_to: int = 2**31) -> int:
    """Bring a file up to date under its write lock, or to an older schema, and fence off whoever has it open.

    Returns how many steps ran.
    """
    if not pending("sqlite", _version(connection), path):
        return 0
    queries = load_queries("sqlite")
    connection.execute("BEGIN IMMEDIATE")
    try:
        before = _version(connection)
        steps = [each for each in pending("sqlite", before, path) if each.number <= up_to]
        if before and steps:
            connection.execute(queries["fence_everyone"])
        for step in steps:
            for statement in statements(step.script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {step.number}")
            connection.execute(queries["put_meta"], {"name": SCHEMA, "value": str(step.number)})
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return len(steps)


def _version(connection: Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def statements(script: str) -> list[str]:
    """A script's statements: each ends with a semicolon at the end of a line, and holds none there inside."""
    lines = [line.rstrip() for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in f"{chr(10).join(lines)}\n".split(";\n") if part.strip()]


def outgrown(place: str, known: int) -> StoreSettingError:
    """Why a process that had the store open before it was upgraded can write nothing more."""
    return StoreSettingError(
        "write to", "store", place, f"it was upgraded since, and this process knows schema {known}",
        "Stop this process and start the release that upgraded the store.",
    )  # fmt: skip
