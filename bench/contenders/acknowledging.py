"""What runs of our own have in common: ids kept as acknowledged, and work that goes on until the kill."""

from __future__ import annotations

import mmap
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from bench.load import Load, Sample, drain_all

DEFINITIONS = Path(__file__).resolve().parent.parent / "definitions"


MAPPED_BYTES = 64 * 1024 * 1024
"""Room for the ids of a run: pages that are never touched take none."""


class Acknowledgements:
    """Ids whose result the caller has been given, in the file before anything else happens.

    Written through a map of it: the process is killed, the operating system is not. A write of its own for each id
    would be measured with what it is to watch, and no peer has one.
    """

    def __init__(self, path: str | None) -> None:
        self._map: mmap.mmap | None = None
        self._end = 0
        if path:
            self._map, self._end = _mapped(path)

    def add(self, *ids: str) -> None:
        if self._map is None:
            return
        for one in ids:
            begin, self._end = self._end, self._end + len(one) + 1
            self._map[begin : self._end - 1] = one.encode()
            self._map[self._end - 1] = ord("\n")  # last: a line without it was never acknowledged


def _mapped(path: str) -> tuple[mmap.mmap, int]:
    """The map of a file, and where its lines end; looking for that in the map would take memory for all of it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.ftruncate(file, MAPPED_BYTES)
        written = os.pread(file, os.lseek(file, 0, os.SEEK_HOLE), 0)
        return mmap.mmap(file, MAPPED_BYTES), written.rfind(b"\n") + 1
    finally:
        os.close(file)


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
