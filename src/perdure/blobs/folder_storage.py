"""Blobs in a local folder: written beside, made durable, then renamed to the place of their hash.

| place | holds |
|---|---|
| `<tenant's digest>/<2 letters>/<62 letters>` | a blob |
| `incoming/<letters>` | content that is still coming |
| `<tenant's digest>/<2 letters>/<62 letters>.leaving` | a blob that is about to be removed |
| `uploads/…` | parts of unfinished uploads |
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from perdure.blobs.content_parts import PART_BYTES, Digests, checked, damaged
from perdure.blobs.watched_folder import WatchedFolder
from perdure.documents.ports import BlobFound, BlobStored, ObjectFound
from perdure.errors import StoreFullError, StoreUnavailableError
from perdure.sources import Micros, fresh_secret

INCOMING = "incoming"
LEAVING = ".leaving"
_FOLDER = re.compile(r"[0-9a-f]{32}")
_START = re.compile(r"[0-9a-f]{2}")
_REST = re.compile(r"[0-9a-f]{62}")
T = TypeVar("T")


class FolderStorage:
    """Implements `Blobs`. Whoever can read the folder can read the content: it is made for its owner alone."""

    def __init__(self, folder: Path, now: Callable[[], Micros], *, is_temporary: bool = False) -> None:
        """`now` is the clock that the age of blobs is counted by. A temporary folder is removed at the end."""
        self._folder = folder
        self._watched = WatchedFolder(folder)
        self._now = now
        self._is_temporary = is_temporary
        self.objects = FolderObjects(folder, self._done)

    async def put(self, tenant: str, content: AsyncIterator[bytes], most: int) -> BlobStored:
        digests = Digests(most)
        incoming = self._folder / INCOMING
        path = incoming / fresh_secret().hex()
        file = await self._done(lambda: _begin(self._folder, path))
        try:
            async for data in content:
                digests.take(data)
                await self._done(lambda data=data: file.write(data))  # type: ignore[misc]
            stored = digests.stored()
            await self._done(lambda: _finish(file, path, self._place(tenant, stored.hash), self._now()))
            return stored
        finally:
            file.close()
            with suppress(OSError):
                path.unlink()

    async def read(self, tenant: str, hash: bytes, parts: Sequence[bytes], first: int = 0) -> AsyncIterator[bytes]:
        path = self._place(tenant, hash)
        async for part in checked(self._chunks(path, hash, first), hash, tuple(parts[first:])):
            yield part

    async def _chunks(self, path: Path, hash: bytes, first: int) -> AsyncIterator[bytes]:
        """Part by part, each opened for itself: nothing is left open by a reader that goes away."""
        place = first * PART_BYTES
        try:
            while data := await asyncio.to_thread(_part, path, place):
                yield data
                place += len(data)
        except FileNotFoundError as error:
            await self._done(lambda: None)  # of a folder that is not there, nothing is missing
            raise damaged(hash, "it is missing") from error

    async def check(self, tenant: str, hash: bytes) -> str:
        return await self._done(lambda: _fault(self._place(tenant, hash), hash))

    async def describe(self, tenant: str, hash: bytes) -> BlobStored | None:
        path = self._place(tenant, hash)
        return await self._done(lambda: _described(path, hash, self._now()))

    def folder(self, tenant: str) -> str:
        return tenant_folder(tenant)

    async def remove(self, folder: str, hash: bytes, stored_before: Micros) -> bool:
        path = _inside(self._folder / folder, hash)
        return await self._done(lambda: _remove(path, stored_before))

    async def listed(self) -> AsyncIterator[BlobFound]:
        for found in await self._done(lambda: list(_listed(self._folder))):
            yield found

    async def tidy(self, before: Micros) -> int:
        return await self._done(lambda: _tidy(self._folder, before))

    async def close(self) -> None:
        if self._is_temporary:
            await asyncio.to_thread(shutil.rmtree, self._folder, True)

    def _place(self, tenant: str, hash: bytes) -> Path:
        return _inside(self._folder / tenant_folder(tenant), hash)

    async def _done(self, work: Callable[[], T]) -> T:
        """Work on files, in a thread; a disk that refuses is told apart from one that is full."""

        def watched() -> T:
            self._watched.check()
            done = work()
            self._watched.check()
            return done

        try:
            return await asyncio.to_thread(watched)
        except OSError as error:
            place, fact = str(self._folder), str(error.strerror or error)
            if error.errno == 28:
                raise StoreFullError("write to", "folder of blobs", place, fact, "Free some space.") from error
            hint = "Check that the folder exists and is writable."
            raise StoreUnavailableError("use", "folder of blobs", place, fact, hint) from error


class FolderObjects:
    """Implements `SmallObjects`: each one a file, written beside and linked to its name, which only one can be."""

    def __init__(self, folder: Path, done: Callable[[Callable[[], Any]], Awaitable[Any]]) -> None:
        self._folder = folder
        self._done = done

    async def create(self, name: str, data: bytes) -> bool:
        written: bool = await self._done(lambda: _create(self._folder, name, data))
        return written

    async def fetch(self, name: str) -> bytes | None:
        found: bytes | None = await self._done(lambda: _fetched(self._folder / name))
        return found

    async def listed(self, prefix: str) -> list[ObjectFound]:
        found: list[ObjectFound] = await self._done(lambda: list(_objects(self._folder, prefix)))
        return found

    async def delete(self, name: str) -> None:
        await self._done(lambda: _delete(self._folder, name))


def tenant_folder(tenant: str) -> str:
    """The folder of a tenant: made from its name, and safe whatever that is."""
    return sha256(b"perdure\0blobs\0" + tenant.encode()).hexdigest()[:32]


def _inside(folder: Path, hash: bytes) -> Path:
    letters = hash.hex()
    return folder / letters[:2] / letters[2:]


def _begin(folder: Path, path: Path) -> BinaryIO:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


def _finish(file: BinaryIO, path: Path, place: Path, now: Micros) -> None:
    """Durable in its place when this returns: the bytes, the name, and the folders on the way to it."""
    file.flush()
    os.utime(file.fileno(), ns=(now * 1000, now * 1000))
    os.fsync(file.fileno())
    for folder in (place.parent.parent, place.parent):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
            _sync(folder.parent)
    path.rename(place)
    _sync(place.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _part(path: Path, place: int) -> bytes:
    with path.open("rb") as file:
        file.seek(place)
        return file.read(PART_BYTES)


def _described(path: Path, hash: bytes, now: Micros) -> BlobStored | None:
    """Read once more; whoever is about to refer to a blob keeps it from being collected as long as a new one."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    digests = Digests(path.stat().st_size)
    with file:
        os.utime(file.fileno(), ns=(now * 1000, now * 1000))
        while data := file.read(PART_BYTES):
            digests.take(data)
    stored = digests.stored() if digests.size else None
    return stored if stored is not None and stored.hash == hash else None


def _fault(path: Path, hash: bytes) -> str:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return "missing"
    actual = sha256()
    with file:
        while data := file.read(PART_BYTES):
            actual.update(data)
    return "" if actual.digest() == hash else "changed"


def _remove(path: Path, stored_before: Micros) -> bool:
    """Moved aside first: content that is put there meanwhile gets the place for itself."""
    leaving = path.with_name(path.name + LEAVING)
    try:
        path.rename(leaving)
    except FileNotFoundError:
        return False
    if _moment(leaving) >= stored_before:
        leaving.rename(path)
        return False
    leaving.unlink()
    return True


def _moment(path: Path) -> Micros:
    return path.stat().st_mtime_ns // 1000


def _listed(folder: Path) -> Iterator[BlobFound]:
    for tenant in _named(folder, _FOLDER):
        for start in _named(tenant, _START):
            for path in start.iterdir():
                name = path.name.removesuffix(LEAVING)
                if not _REST.fullmatch(name):
                    continue
                if path.name != name:
                    # Somebody died while removing it: whether it is needed is asked again.
                    path = path.rename(path.with_name(name))
                with suppress(FileNotFoundError):
                    found = path.stat()
                    yield BlobFound(tenant.name, bytes.fromhex(start.name + name), found.st_size, _moment(path))


def _named(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(each for each in folder.iterdir() if pattern.fullmatch(each.name) and each.is_dir())


def _tidy(folder: Path, before: Micros) -> int:
    removed = 0
    incoming = folder / INCOMING
    for path in list(incoming.iterdir()) if incoming.is_dir() else []:
        with suppress(FileNotFoundError):
            if _moment(path) < before:
                path.unlink()
                removed += 1
    return removed


def _create(folder: Path, name: str, data: bytes) -> bool:
    place, beside = folder / name, folder / INCOMING / fresh_secret().hex()
    file = _begin(folder, beside)
    try:
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.hardlink_to(beside)
        _sync(place.parent)
    except FileExistsError:
        return False
    finally:
        beside.unlink()
    return True


def _fetched(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _objects(folder: Path, prefix: str) -> Iterator[ObjectFound]:
    found = [path for path in (folder / prefix).rglob("*") if path.is_file()]
    for path in sorted(found):
        with suppress(FileNotFoundError):
            yield ObjectFound(path.relative_to(folder).as_posix(), path.stat().st_size)


def _delete(folder: Path, name: str) -> None:
    """The file, and the folders above it that hold nothing more."""
    place = folder / name
    place.unlink(missing_ok=True)
    for above in place.parents:
        if above == folder:
            break
        try:
            above.rmdir()
        except OSError:
            break
