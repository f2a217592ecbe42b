"""Backups taken while work goes on, restored only when they are whole, and the state of a store at a glance."""

from __future__ import annotations

from pathlib import Path

from perdure.sources import Sources, SystemSources
from perdure.store.audit.store_verification import Progress
from perdure.store.backup.sqlite_backup import SqliteFiles
from perdure.store.backup.store_status import check
from perdure.store.driver_selection import POSTGRES_PREFIXES

__all__ = ["backup", "check", "restore"]


async def backup(url: str, destination: Path, progress: Progress | None = None) -> None:
    """Write everything acknowledged before now into one new file; work goes on meanwhile.

    A file that is there is never overwritten; one that appears is whole, checked and on disk.
    """
    tell = progress or _silence
    if url.startswith(POSTGRES_PREFIXES):
        from perdure.store.backup.postgres_backup import dump  # noqa: PLC0415  psycopg is loaded where it is used

        await dump(url, destination, tell)
    else:
        await SqliteFiles(url).backup(destination, tell)


async def restore(
    source: Path, url: str, force: bool = False, *, sources: Sources | None = None, progress: Progress | None = None
) -> None:
    """Put a backup in the place of a store that is empty or missing, or of any with `force`.

    Never while a process holds a lease there. The backup is checked first, brought up to the schema of this
    release, and owes nothing to the processes that ran on the original: they are fenced off.
    """
    tell = progress or _silence
    if url.startswith(POSTGRES_PREFIXES):
        from perdure.store.backup.postgres_backup import undump  # noqa: PLC0415  psycopg is loaded where it is used

        await undump(source, url, force, sources.now() if sources is not None else None, tell)
    else:
        await SqliteFiles(url).restore(source, force, (sources or SystemSources()).now(), tell)


def _silence(stage: str, done: int, total: int) -> None:
    return None
