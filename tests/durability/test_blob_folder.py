"""The folder of blobs under a living process: nothing is acknowledged once its path leads elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from shutil import rmtree

import pytest

from perdure.blobs.folder_storage import FolderStorage
from perdure.errors import StoreUnavailableError

pytestmark = pytest.mark.req("T7")


async def content(data: bytes) -> AsyncIterator[bytes]:
    yield data


def moved(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def replaced(folder: Path) -> None:
    moved(folder)
    folder.mkdir()


@pytest.mark.parametrize("harm", [moved, replaced, rmtree])
async def test_nothing_is_acknowledged_once_the_folder_is_not_there(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    folder = tmp_path / "blobs"
    storage = FolderStorage(folder, lambda: 0)
    stored = await storage.put("default", content(b"one"), 100)
    harm(folder)
    with pytest.raises(StoreUnavailableError, match="Put it back or mount it again"):
        await storage.put("default", content(b"two"), 100)
    with pytest.raises(StoreUnavailableError):
        await storage.objects.create("uploads/a", b"x")
    with pytest.raises(StoreUnavailableError):
        await storage.describe("default", stored.hash)
    with pytest.raises(StoreUnavailableError):
        [each async for each in storage.read("default", stored.hash, stored.parts)]
    assert not folder.exists() or list(folder.iterdir()) == [], "no other folder is begun"


async def test_a_folder_that_vanishes_while_content_comes_acknowledges_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "blobs"
    storage = FolderStorage(folder, lambda: 0)
    await storage.put("default", content(b"one"), 100)

    async def slow() -> AsyncIterator[bytes]:
        yield b"two"
        moved(folder)
        yield b"three"

    with pytest.raises(StoreUnavailableError):
        await storage.put("default", slow(), 100)


async def test_a_folder_that_is_put_back_is_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "blobs"
    storage = FolderStorage(folder, lambda: 0)
    stored = await storage.put("default", content(b"one"), 100)
    moved(folder)
    with pytest.raises(StoreUnavailableError):
        await storage.put("default", content(b"two"), 100)
    folder.with_name("elsewhere").rename(folder)
    again = await storage.put("default", content(b"two"), 100)
    assert [each async for each in storage.read("default", stored.hash, stored.parts)] == [b"one"]
    assert await storage.check("default", again.hash) == ""
