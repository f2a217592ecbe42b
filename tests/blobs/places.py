"""Places that blobs are kept in, for tests of whatever must hold in each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from perdure.blobs.folder_storage import FolderStorage
from perdure.documents.ports import Blobs
from perdure.testing.virtual_clock import VirtualSources


class Place(Protocol):
    """A place, seen by whoever can reach behind the platform's back."""

    setting: str

    def opened(self, clock: VirtualSources) -> Blobs: ...

    async def names(self) -> list[str]:
        """The names of all that is kept, in their order."""
        ...

    async def write(self, name: str, data: bytes) -> None: ...

    async def read(self, name: str) -> bytes: ...

    async def delete(self, name: str) -> None: ...


class FolderPlace:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.setting = str(folder)

    def opened(self, clock: VirtualSources) -> Blobs:
        return FolderStorage(self._folder, clock.now)

    async def names(self) -> list[str]:
        return sorted(str(each.relative_to(self._folder)) for each in self._folder.rglob("*") if each.is_file())

    async def write(self, name: str, data: bytes) -> None:
        (self._folder / name).write_bytes(data)

    async def read(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    async def delete(self, name: str) -> None:
        (self._folder / name).unlink()


class BucketPlace:
    """A bucket of any object store."""

    def __init__(self, store: Any, setting: str) -> None:
        self._store = store
        self.setting = setting

    def opened(self, clock: VirtualSources) -> Blobs:
        from perdure.blobs.bucket_storage import BucketStorage  # noqa: PLC0415

        return BucketStorage(self._store, self.setting, clock.now)

    async def names(self) -> list[str]:
        return sorted([each["path"] async for page in self._store.list() for each in page])

    async def write(self, name: str, data: bytes) -> None:
        await self._store.put_async(name, data)

    async def read(self, name: str) -> bytes:
        return bytes(await (await self._store.get_async(name)).bytes_async())

    async def delete(self, name: str) -> None:
        await self._store.delete_async(name)


async def blob_names(place: Place) -> list[str]:
    """The names of blobs: a tenant's folder, two letters, the others."""
    return [name for name in await place.names() if len(name.split("/")[0]) == 32]
