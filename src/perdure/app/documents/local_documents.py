"""Documents for whoever has the store open: the operations, and files streamed in and out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from perdure.app.documents.documents import Documents
from perdure.app.documents.views import BlobView
from perdure.app.facade.documents import DocumentDesk
from perdure.app.facade.performer import Performer

CHUNK = 1024 * 1024


class LocalDocuments(DocumentDesk):
    """`perdure.documents`: also uploads and downloads."""

    def __init__(self, performer: Performer, documents: Documents) -> None:
        super().__init__(performer)
        self._documents = documents

    async def upload(self, content: bytes | Path | AsyncIterator[bytes]) -> BlobView:
        """Store the content of a file; `blob` of the answer is what a version refers to."""
        return await self._documents.store_blob(_stream(content))

    async def download(self, id: str, version: int) -> AsyncIterator[bytes]:
        """The blob of a version, part by part; the journal keeps who read it."""
        _, _, content = await self._documents.download(id, version)
        async for part in content:
            yield part

    async def save(self, id: str, version: int, file: Path) -> BlobView:
        """Write the blob of a version to a file."""
        _, blob, content = await self._documents.download(id, version)
        with await asyncio.to_thread(file.open, "wb") as target:
            async for part in content:
                await asyncio.to_thread(target.write, part)
        return blob


async def _stream(content: bytes | Path | AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if isinstance(content, bytes):
        yield content
    elif isinstance(content, Path):
        with await asyncio.to_thread(content.open, "rb") as file:
            while data := await asyncio.to_thread(file.read, CHUNK):
                yield data
    else:
        async for data in content:
            yield data
