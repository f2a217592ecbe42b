"""Why a backup or a restore is refused, in one sentence each; and the check every restored store must pass."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from perdure.errors import RejectedError, Rejection
from perdure.sources import SystemSources
from perdure.store.audit.store_verification import check_heads
from perdure.store.ports import Driver, Row
from perdure.store.store import Store

EMPTY_BUT_FOR = ("meta", "worker", "serves", "definition", "quarantine")


def exists_already(path: Path) -> RejectedError:
    fact = "there is a file of that name"
    return RejectedError(Rejection("already_exists", "write", "backup", str(path), fact, "Choose another name."))


def not_empty(place: str) -> RejectedError:
    hint = "Restore under another name, or add --force to put the backup in its place."
    return RejectedError(Rejection("already_exists", "restore into", "store", place, "it is not empty", hint))


def damaged_backup(source: Path, fact: str, hint: str = "Nothing was changed. Take an older backup.") -> RejectedError:
    return RejectedError(Rejection("invalid", "restore", "backup", str(source), fact, hint))


def refuse_live(workers: Iterable[Row], place: str) -> None:
    """Raise when a lease (number, host, process, until, whether it has run out) has not run out."""
    live = [f"{host} {process}" for _, host, process, _, is_lapsed in workers if not is_lapsed]
    if live:
        fact = f"processes are at work on it: {', '.join(live[:5])}"
        hint = "Stop them and try again; a process that died lets go when its lease runs out."
        raise RejectedError(Rejection("blocked", "restore into", "store", place, fact, hint))


async def make_ready(driver: Driver, source: Path, hint: str = "Nothing was changed. Take an older backup.") -> None:
    """Bring a restored store up to date, check every head, fence off whoever worked on the original."""
    await driver.open()
    try:
        report = await check_heads(Store(driver, SystemSources()))
        if not report.is_clean:
            fact = f"{len(report.findings)} things in it are damaged; {report.findings[0].sentence.rstrip('.')}"
            raise damaged_backup(source, fact, hint)
        await driver.write("fence_everyone")
    finally:
        await driver.close()
