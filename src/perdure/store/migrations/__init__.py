"""Forward-only migrations: numbered files, the same numbers and titles in both dialects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from perdure.errors import StoreSettingError

if TYPE_CHECKING:
    from perdure.store.queries import Dialect
    from perdure.store.sqlite.connection import Connection


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


def migrate_sqlite(connection: Connection, path: str) -> int:
    """Bring a file up to date under its write lock; returns how many steps ran."""
    if not pending("sqlite", _version(connection), path):
        return 0
    connection.execute("BEGIN IMMEDIATE")
    try:
        steps = pending("sqlite", _version(connection), path)
        for step in steps:
            for statement in statements(step.script):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {step.number}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return len(steps)


def _version(connection: Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def statements(script: str) -> list[str]:
    """A script's statements; none of ours holds a semicolon inside."""
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]
