"""What runs of our own have in common: ids kept as acknowledged, and work that goes on until the kill."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from bench.load import Load, Sample, drain_all

DEFINITIONS = Path(__file__).resolve().parent.parent / "definitions"


class Acknowledgements:
    """Ids whose result the caller has been given, on disk before anything else happens.

    Written without a buffer of ours: the process is killed, the operating system is not.
    """

    def __init__(self, path: str | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._file = os.open(path, flags, 0o600) if path else None

    def add(self, *ids: str) -> None:
        if self._file is not None:
            os.write(self._file, "".join(f"{one}\n" for one in ids).encode())


async def until_killed(load: Load, sample: Sample, one: Callable[[int], Awaitable[None]]) -> None:
    """Give the sample away, then go on under load so that the kill meets commits in flight."""
    if not load.until_killed:
        return
    print(msgspec.json.encode(sample).decode(), flush=True)
    await drain_all(load.concurrency, one, 1_000_000)


def keys_file(load: Load) -> Path:
    assert load.acknowledged is not None
    return Path(f"{load.acknowledged}.keys")


def require(holds: bool, found: object) -> None:
    if not holds:
        raise SystemExit(f"Expected to measure finished work, but got {found!r}.")
