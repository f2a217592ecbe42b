"""Blobs: streamed, checked before they are given, collected when nothing refers to them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from perdure.blobs.media_types import agrees, media_type_of
from perdure.errors import RejectedError
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
