"""A disk that forgets at a power cut whatever was written and not synced, under a real SQLite."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from perdure.store.sqlite.connection import Connection, Cursor

BUSY_MILLISECONDS = 15_000
Write = tuple[int, bytes | None]
"""An offset with its bytes, or a new size with None."""


class Platter:
    """One file: what is certainly on the disk, and what was written since and may be lost."""

    def __init__(self) -> None:
        self.durable: bytearray | None = None
        self.pending: list[Write] = []

    def sync(self) -> None:
        self.durable = _applied(self.durable or bytearray(), self.pending)
        self.pending = []

    def after_cut(self, kept: list[Write]) -> bytes | None:
        """A file that was never synced may not even exist."""
        if self.durable is None and not kept:
            return None
        return bytes(_applied(bytearray(self.durable or b""), kept))


class Disk:
    """Files by name. `on_write` is told of every write and every sync, before it happens."""

    def __init__(self) -> None:
        self.platters: dict[str, Platter] = {}
        self.operations = 0
        self.on_operation: Callable[[], None] = lambda: None

    def platter(self, name: str) -> Platter:
        return self.platters.setdefault(name, Platter())

    def operate(self) -> None:
        self.operations += 1
        self.on_operation()

    def cut(self, chance: random.Random) -> dict[str, bytes]:
        """The files as they are found after a power cut now; each may have kept some of what was not synced."""
        found: dict[str, bytes] = {}
        for name, platter in self.platters.items():
            content = platter.after_cut(_kept(platter.pending, chance))
            if content is not None:
                found[name] = content
        return found


def _applied(content: bytearray, writes: list[Write]) -> bytearray:
    for offset, data in writes:
        if data is None:
            del content[offset:]
            continue
        content.extend(bytes(max(0, offset - len(content))))
        content[offset : offset + len(data)] = data
    return content


def _kept(pending: list[Write], chance: random.Random) -> list[Write]:
    """Nothing, the first few with the last one torn, or any of them: a disk promises no order."""
    match chance.randrange(3):
        case 0:
            return []
        case 1:
            kept = pending[: chance.randint(0, len(pending))]
            offset, data = kept[-1] if kept else (0, None)
            return kept if data is None else [*kept[:-1], (offset, data[: chance.randint(0, len(data))])]
        case _:
            return [write for write in pending if chance.random() < 0.5]


class _File(apsw.VFSFile):  # type: ignore[misc, unused-ignore]
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        text = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._platter = disk.platter(text) if text else Platter()

    def xWrite(self, data: Any, offset: int) -> None:
        self._disk.operate()
        self._platter.pending.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.operate()
        self._platter.pending.append((newsize, None))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._disk.operate()
        super().xSync(flags)
        self._platter.sync()


class _Files(apsw.VFS):  # type: ignore[misc, unused-ignore]
    def __init__(self, name: str, disk: Disk) -> None:
        super().__init__(name, base="")
        self._disk = disk

    def xOpen(self, name: Any, flags: list[int]) -> _File:
        return _File(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self._disk.platters.pop(filename, None)


@contextmanager
def forgetful_disk() -> Iterator[tuple[Disk, Callable[[str], Connection]]]:
    """A disk, and how to connect to a file on it."""
    disk = Disk()
    name = f"forgetful-{id(disk)}"
    files = _Files(name, disk)
    try:
        yield disk, lambda path: _Connection(apsw.Connection(path, vfs=name))
    finally:
        files.unregister()


class Room:
    """How many bytes files may take up together, and how many they do."""

    def __init__(self, bytes: int) -> None:
        self.bytes = bytes
        self._sizes: dict[str, int] = {}

    def size(self, name: str) -> int:
        return self._sizes.get(name, 0)

    def write(self, name: str, end: int) -> None:
        if sum(self._sizes.values()) - self.size(name) + max(end, self.size(name)) > self.bytes:
            raise apsw.FullError("database or disk is full")
        self._sizes[name] = max(end, self.size(name))

    def cut(self, name: str, size: int) -> None:
        self._sizes[name] = size


class _BoundedFile(apsw.VFSFile):  # type: ignore[misc, unused-ignore]
    def __init__(self, room: Room, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._room = room
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else name or ""

    def xWrite(self, data: Any, offset: int) -> None:
        self._room.write(self._name, offset + len(data))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._room.cut(self._name, newsize)


class _BoundedFiles(apsw.VFS):  # type: ignore[misc, unused-ignore]
    def __init__(self, name: str, room: Room) -> None:
        super().__init__(name, base="")
        self._room = room

    def xOpen(self, name: Any, flags: list[int]) -> _BoundedFile:
        return _BoundedFile(self._room, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self._room.cut(filename, 0)


@contextmanager
def bounded_disk(bytes: int) -> Iterator[tuple[Room, Callable[[str], Connection]]]:
    """A disk with room for so many bytes, and how to connect to a file on it."""
    room = Room(bytes)
    name = f"bounded-{id(room)}"
    files = _BoundedFiles(name, room)
    try:
        yield room, lambda path: _Connection(apsw.Connection(path, vfs=name))
    finally:
        files.unregister()


class _Cursor:
    def __init__(self, inner: apsw.Cursor, rowcount: int) -> None:
        self.fetchone, self.fetchall, self.rowcount = inner.fetchone, inner.fetchall, rowcount


class _Connection:
    """An apsw connection that looks like the standard library's, errors included."""

    def __init__(self, inner: apsw.Connection) -> None:
        self._inner = inner
        inner.set_busy_timeout(BUSY_MILLISECONDS)

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        try:
            return _Cursor(self._inner.execute(sql, parameters), self._inner.changes())
        except apsw.Error as error:
            raise sqlite3.OperationalError(str(error)) from error

    def close(self) -> None:
        self._inner.close()


def restore(files: dict[str, bytes], folder: Path) -> Path:
    """Write what was found after a cut to a folder; returns the database's file there."""
    folder.mkdir()
    for name, content in files.items():
        (folder / Path(name).name).write_bytes(content)
    return folder / "store.db"
