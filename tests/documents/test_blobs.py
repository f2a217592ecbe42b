"""Blobs: streamed, checked before they are given, collected when nothing refers to them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from perdure.blobs.content_parts import PART_BYTES
from perdure.blobs.folder_storage import FolderStorage, tenant_folder
from perdure.blobs.media_types import agrees, media_type_of
from perdure.errors import BlobDamagedError, RejectedError
from perdure.testing import Sandbox
from tests.documents.papers import JPEG, PDF, PNG, opened

NOW = 1_700_000_000_000_000


def files(folder: Path) -> list[Path]:
    return [each for each in (folder / "blobs").rglob("*") if each.is_file()]


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def with_letter(perdure: Sandbox, content: bytes = PDF) -> str:
    blob = await perdure.documents.upload(content)
    return (await perdure.documents.create("letter", "anna", blob=blob.blob)).id


@pytest.mark.req("T8")
async def test_content_is_read_back_in_parts_from_any_of_them(tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path / "blobs", lambda: NOW)
    content = b"".join(bytes([number]) * (PART_BYTES // 2 + 1) for number in range(5))
    stored = await storage.put("t", pieces(content[:10], content[10:PART_BYTES], content[PART_BYTES:]), len(content))
    assert (stored.size, len(stored.parts)) == (len(content), 3)
    read = [part async for part in storage.read("t", stored.hash, stored.parts)]
    assert b"".join(read) == content and max(map(len, read)) == PART_BYTES
    assert (
        b"".join([part async for part in storage.read("t", stored.hash, stored.parts, 2)]) == content[2 * PART_BYTES :]
    )
    assert await storage.describe("t", stored.hash) == stored
    assert await storage.describe("other", stored.hash) is None
    with pytest.raises(RejectedError, match="more than 9 bytes"):
        await storage.put("t", pieces(b"0123456789"), 9)
    assert len(files(tmp_path)) == 1, "what was refused leaves nothing"


@pytest.mark.req("T8")
@pytest.mark.parametrize("tenant", ["../../etc", "a/b", "..", "\u202e", "con"])
async def test_names_come_from_hashes_alone(tenant: str, tmp_path: Path) -> None:
    storage = FolderStorage(tmp_path / "blobs", lambda: NOW)
    stored = await storage.put(tenant, pieces(b"content"), 100)
    (path,) = files(tmp_path)
    assert path.relative_to(tmp_path / "blobs").parts[0] == tenant_folder(tenant)
    assert path.parent.name + path.name == stored.hash.hex()
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.req("T8")
async def test_a_blob_changed_on_disk_is_never_served(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as perdure:
        id = await with_letter(perdure)
        (path,) = files(tmp_path)
        path.write_bytes(PDF.replace(b"x", b"y", 1))
        with pytest.raises(BlobDamagedError, match="part 1 of 1 is not what was stored"):
            _ = [part async for part in perdure.documents.download(id, 1)]
        path.write_bytes(PDF + b"more")
        with pytest.raises(BlobDamagedError):
            _ = [part async for part in perdure.documents.download(id, 1)]
        path.unlink()
        with pytest.raises(BlobDamagedError, match="missing"):
            _ = [part async for part in perdure.documents.download(id, 1)]


@pytest.mark.req("T8")
async def test_blobs_that_nothing_refers_to_are_collected_after_a_while(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as perdure:
        await with_letter(perdure)
        await perdure.documents.upload(PNG)
        other = perdure.acting(tenant="other")
        await other.documents.upload(PDF)
        assert (await perdure.documents.collect()).blobs == 0, "their commits may be under way"
        await perdure.advance("PT2H")
        dry = await perdure.documents.collect(dry=True)
        assert (dry.blobs, dry.bytes, dry.removed, len(files(tmp_path))) == (2, len(PNG) + len(PDF), False, 3)
        await perdure.documents.upload(PNG)
        assert (await perdure.documents.collect()).blobs == 1, "one was put there again"
        assert len(files(tmp_path)) == 2


@pytest.mark.parametrize(
    ("head", "found", "said"),
    [
        (PDF, "application/pdf", "application/pdf"),
        (PNG, "image/png", "image/png"),
        (JPEG, "image/jpeg", "image/jpeg"),
        (b"a,b\n1,2\n", "text/plain", "text/csv"),
        (b'{"a": 1}', "application/json", "application/ld+json"),
        (b"<svg onload=x>", "image/svg+xml", "image/svg+xml"),
        (b"MZ\x90\0", "application/x-msdownload", "application/octet-stream"),
        (b"\0\1\2", "application/octet-stream", "application/octet-stream"),
        ("Grüße".encode()[:3], "application/octet-stream", ""),
    ],
)
def test_a_media_type_is_found_in_the_content(head: bytes, found: str, said: str) -> None:
    assert media_type_of(head, head).media_type == found
    assert not said or agrees(said, found)
    assert not agrees("image/gif", found)


@pytest.mark.both_stores
async def test_erasing_a_document_takes_its_data_words_and_blobs_away(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        blob = await perdure.documents.upload(PDF)
        made = await perdure.documents.create(
            "passport", "anna", data={"name": "Schmidt"}, blob=blob.blob, name="pass.pdf"
        )
        shared = await with_letter(perdure)
        await perdure.advance("PT2H")
        await perdure.documents.erase(made.id, "asked for by the client")
        assert len(files(tmp_path)) == 1, "another document needs the same content"
        assert await perdure.documents.find(text="schmidt") == []
        with pytest.raises(RejectedError, match="its data was erased"):
            await perdure.documents.content(made.id, 1)
        held = await perdure.documents.get(made.id)
        assert held.erased_at and held.versions[0].blob is not None
        await perdure.documents.erase(shared, "too")
        assert files(tmp_path) == []
        assert (await perdure.documents.erase(shared, "again")).erased_at


@pytest.mark.req("T11")
async def test_data_is_erased_when_its_retention_ends(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as perdure:
        made = await perdure.documents.create("passport", "anna", data={"name": "Schmidt"})
        officer = perdure.acting(principal="olga", groups=["compliance"])
        await perdure.advance("P2Y")
        assert (await perdure.documents.get(made.id)).erased_at is None, "nothing is over yet"
        await officer.documents.reject(made.id, 1, "BLURRED")
        await perdure.advance("P364D")
        await perdure.documents.receive(made.id, data={"name": "Schmidt"})
        await perdure.advance("P30D")
        assert (await perdure.documents.get(made.id)).erased_at is None, "a new version begins anew"
        await officer.documents.reject(made.id, 2, "BLURRED")
        await perdure.advance("P366D")
        assert (await perdure.documents.get(made.id)).erased_at is not None
