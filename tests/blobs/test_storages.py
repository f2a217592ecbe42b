"""Storages of blobs: what every one of them promises, a folder, a bucket in memory and a real server alike."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from perdure.blobs.content_parts import PART_BYTES
from perdure.blobs.folder_storage import tenant_folder
from perdure.documents.ports import Blobs, BlobStored
from perdure.errors import BlobDamagedError, RejectedError
from perdure.sources import SECOND
from perdure.testing.virtual_clock import VirtualSources
from tests.blobs.places import Place, blob_names

HOUR = 3600 * SECOND
LONG = b"".join(bytes([number]) * (PART_BYTES // 2 + 1) for number in range(5))


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def cut_off() -> AsyncIterator[bytes]:
    """Content of several parts whose sender goes away."""
    yield b"x" * (PART_BYTES * 3)
    raise ConnectionError("gone")


async def stored(storage: Blobs, content: bytes, tenant: str = "t") -> BlobStored:
    return await storage.put(tenant, pieces(content[:10], content[10:PART_BYTES], content[PART_BYTES:]), len(content))


async def read(storage: Blobs, blob: BlobStored, first: int = 0) -> list[bytes]:
    return [part async for part in storage.read("t", blob.hash, blob.parts, first)]


@pytest.mark.req("T8")
@pytest.mark.parametrize("content", [b"short", LONG[: 2 * PART_BYTES], LONG])
async def test_content_is_read_back_in_parts_from_any_of_them(blob_place: Place, content: bytes) -> None:
    storage = blob_place.opened(VirtualSources())
    blob = await stored(storage, content)
    parts = await read(storage, blob)
    assert (blob.size, b"".join(parts)) == (len(content), content) and max(map(len, parts)) <= PART_BYTES
    assert b"".join(await read(storage, blob, len(parts) - 1)) == content[(len(parts) - 1) * PART_BYTES :]
    assert await storage.describe("t", blob.hash) == blob
    assert await storage.describe("other", blob.hash) is None, "a hash opens nothing of another tenant"
    assert await blob_names(blob_place) == [_name("t", blob)]
    assert await stored(storage, content) == blob and len(await blob_names(blob_place)) == 1


@pytest.mark.req("T8")
async def test_content_that_is_refused_or_cut_off_leaves_no_blob(blob_place: Place) -> None:
    storage = blob_place.opened(VirtualSources())
    with pytest.raises(RejectedError, match="more than 9 bytes"):
        await storage.put("t", pieces(b"0123456789"), 9)
    with pytest.raises(RejectedError, match="more than 9,000,000 bytes"):
        await storage.put("t", pieces(LONG), 9_000_000)
    with pytest.raises(RejectedError, match="it is empty"):
        await storage.put("t", pieces(b""), 9)
    with pytest.raises(ConnectionError):
        await storage.put("t", cut_off(), len(LONG) * 2)
    assert await blob_place.names() == []


@pytest.mark.req("T8")
@pytest.mark.parametrize("tenant", ["../../etc", "a/b", "..", "\u202e", "con"])
async def test_names_come_from_hashes_alone(tenant: str, blob_place: Place) -> None:
    storage = blob_place.opened(VirtualSources())
    blob = await storage.put(tenant, pieces(b"content"), 100)
    assert await blob_names(blob_place) == [_name(tenant, blob)]


@pytest.mark.req("T8")
@pytest.mark.parametrize("how", ["changed", "truncated", "lengthened", "missing", "swapped", "emptied"])
@pytest.mark.parametrize("content", [b"short", LONG[: 2 * PART_BYTES]])
async def test_a_blob_that_was_tampered_with_is_found_and_never_given(
    how: str, content: bytes, blob_place: Place
) -> None:
    storage = blob_place.opened(VirtualSources())
    blob, other = await stored(storage, content), await stored(storage, b"another")
    name = _name("t", blob)
    if how == "missing":
        await blob_place.delete(name)
    else:
        forged = {
            "changed": b"\xff" + content[1:], "truncated": content[:-1], "lengthened": content + b"\0",
            "swapped": await blob_place.read(_name("t", other)), "emptied": b"",
        }  # fmt: skip
        await blob_place.write(name, forged[how])
    assert await storage.check("t", blob.hash) == ("missing" if how == "missing" else "changed")
    assert await storage.describe("t", blob.hash) is None
    given = list[bytes]()
    with pytest.raises(BlobDamagedError):
        async for part in storage.read("t", blob.hash, blob.parts):
            given.append(part)
    assert content.startswith(b"".join(given)), "a damaged part is given to nobody"
    assert await stored(storage, content) == blob and b"".join(await read(storage, blob)) == content, "mended"


@pytest.mark.req("T8")
async def test_a_blob_is_removed_unless_it_was_put_or_looked_at_since(blob_place: Place) -> None:
    clock = VirtualSources()
    storage = blob_place.opened(clock)
    blob, folder, begun = await stored(storage, b"content"), tenant_folder("t"), clock.now()
    found = [each async for each in storage.listed()]
    assert [(each.folder, each.hash, each.size) for each in found] == [(folder, blob.hash, 7)]
    assert found[0].stored_at >= begun and not await storage.remove(folder, blob.hash, begun)
    clock.move_to(clock.now() + HOUR)
    await storage.describe("t", blob.hash)
    assert not await storage.remove(folder, blob.hash, clock.now() - HOUR // 2), "somebody is about to refer to it"
    clock.move_to(clock.now() + HOUR)
    await stored(storage, b"content")
    assert not await storage.remove(folder, blob.hash, clock.now() - HOUR // 2), "it was put there again"
    clock.move_to(clock.now() + HOUR)
    assert await storage.remove(folder, blob.hash, clock.now() - HOUR // 2)
    assert not await storage.remove(folder, blob.hash, clock.now()) and await storage.describe("t", blob.hash) is None
    clock.move_to(clock.now() + HOUR)
    await storage.tidy(clock.now())
    assert await blob_place.names() == [], "nothing is left of it, marks neither"


async def test_small_objects_are_created_once(blob_place: Place) -> None:
    objects = blob_place.opened(VirtualSources()).objects
    assert await objects.create("uploads/a/1", b"one") and not await objects.create("uploads/a/1", b"two")
    assert await objects.create("uploads/a/2", b"three") and await objects.create("uploads/b/1", b"x")
    assert await objects.fetch("uploads/a/1") == b"one" and await objects.fetch("uploads/a/9") is None
    assert await objects.listed("uploads/a") == [("uploads/a/1", 3), ("uploads/a/2", 5)]
    for name in ("uploads/a/1", "uploads/a/1", "uploads/a/2"):
        await objects.delete(name)
    assert [each.name for each in await objects.listed("uploads")] == ["uploads/b/1"]


def _name(tenant: str, blob: BlobStored) -> str:
    letters = blob.hash.hex()
    return f"{tenant_folder(tenant)}/{letters[:2]}/{letters[2:]}"
