"""Documents for whoever has the store open: the operations, and files streamed in and out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from perdure.app.documents.documents import Documents
from perdure.app.documents.views import BlobView
from perdure.app.facade.content_files import Content, Progress, pieces, written
from perdure.app.facade.documents import DocumentDesk
from perdure.app.facade.performer import Performer


class LocalDocuments(DocumentDesk):
    """`perdure.documents`: also uploads and downloads."""

    def __init__(self, performer: Performer, documents: Documents) -> None:
        super().__init__(performer)
        self._documents = documents

    async def upload(self, content: Content, *, progress: Progress | None = None) -> BlobView:
        """Store the content of a file; `blob` of the answer is what a version refers to."""
        return await self._documents.store_blob(pieces(content, progress))

    async def download(self, id: str, version: int) -> AsyncIterator[bytes]:
        """The blob of a version, part by part; the journal keeps who read it."""
        _, _, content = await self._documents.download(id, version)
        async for part in content:
            yield part

    async def save(self, id: str, version: int, file: Path, *, progress: Progress | None = None) -> BlobView:
        """Write the blob of a version to a file, which is whole or not there."""
        _, blob, content = await self._documents.download(id, version)
        await written(content, file, blob.blob, blob.size, progress)
        return blob
