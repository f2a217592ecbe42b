"""Documents of a server: the operations, and files sent and received in pieces.

| what happens | what becomes of it |
|---|---|
| a connection breaks, or the server is restarted, while a file is sent | it goes on where it was |
| the program is killed while a file is sent | `upload(…, resume=id)` goes on, within a day |
| the file changed meanwhile | refused when it is finished: its digest is not that of what came |
| a connection breaks while a file is received | an error and no file: each read is an event, asked for once |
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from perdure.app.documents.views import BlobView, UploadView
from perdure.app.facade.content_files import Content, HashedFile, Progress, pieces, written
from perdure.app.facade.documents import DocumentDesk
from perdure.app.operations import documents as operations
from perdure.app.operations import uploads
from perdure.app.operations.request_fields import ById
from perdure.client.asynchronous.transport import Transport
from perdure.errors import RejectedError, Rejection

SENT_BYTES = 4 * 1024 * 1024
"""Bytes of one request."""
Begun = Callable[[str], None]


class ClientDocuments(DocumentDesk):
    """Reached as `client.documents`."""

    _performer: Transport

    def __init__(self, performer: Transport) -> None:
        super().__init__(performer)

    async def upload(
        self, content: Content, *, progress: Progress | None = None, resume: str = "", begun: Begun | None = None
    ) -> BlobView:
        """Store content; `blob` of the answer is what a version refers to.

        A file or bytes go on where they were when a connection breaks; a stream, whose size nobody knows, is sent once.
        `begun` hears the id that `resume` takes to go on with an upload of an earlier program. `progress` hears how far
        it came.
        """
        if not isinstance(content, bytes | Path):
            return await self._performer.send(
                operations.upload_blob, operations.UploadBlob(), pieces(content, progress)
            )
        file = HashedFile(content)
        try:
            return await self._sent(file, await self._opened(file, resume), progress, begun)
        finally:
            file.close()

    async def _opened(self, file: HashedFile, resume: str) -> UploadView:
        if not resume:
            if not file.size:
                fact, hint = "it is empty", "Send a file with something in it."
                raise RejectedError(Rejection("invalid", "store", "content", "blob", fact, hint))
            return await self._performer.ask(uploads.begin_upload, uploads.BeginUpload(file.size))
        found = await self._performer.ask(uploads.show_upload, ById(resume))
        if found.size != file.size:
            fact = f"it was begun with {found.size:,} bytes and the file has {file.size:,}"
            raise RejectedError(Rejection("invalid", "go on with", "upload", resume, fact, "Upload the file anew."))
        return found

    async def _sent(
        self, file: HashedFile, upload: UploadView, progress: Progress | None, begun: Begun | None
    ) -> BlobView:
        if begun is not None:
            begun(upload.id)
        while upload.offset < upload.size:
            data = await file.read(upload.offset, SENT_BYTES)
            upload = await self._part(upload, data)
            if progress is not None:
                progress(upload.offset, upload.size)
        await file.read(upload.size, 0)
        return await self._performer.ask(uploads.finish_upload, uploads.FinishUpload(upload.id, file.digest))

    async def _part(self, upload: UploadView, data: bytes) -> UploadView:
        """Send a part; where the server has it already, because its answer was lost, go on behind it."""
        end = upload.offset + len(data)
        while True:
            rest = data[upload.offset - end :]
            try:
                return await self._performer.send(uploads.send_part, uploads.SendPart(upload.id, upload.offset), rest)
            except RejectedError as refused:
                if refused.rejection.code != "wrong_state":
                    raise
                found = await self._performer.ask(uploads.show_upload, ById(upload.id))
                if not upload.offset < found.offset <= end:
                    raise
                if found.offset == end:
                    return found
                upload = found

    async def download(self, id: str, version: int) -> AsyncIterator[bytes]:
        """The blob of a version as it comes; the journal keeps who read it."""
        async for data in self._performer.download(operations.download_blob, operations.ReadVersion(id, version)):
            yield data

    async def save(self, id: str, version: int, file: Path, *, progress: Progress | None = None) -> BlobView:
        """Write the blob of a version to a file, which is whole or not there."""
        view = await self.get(id)
        blob = next((each.blob for each in view.versions if each.number == version), None)
        if blob is None:
            fact, hint = f"version {version} has no file", "See `perdure documents show`."
            raise RejectedError(Rejection("not_found", "download", "document", id[:80], fact, hint))
        await written(self.download(id, version), file, blob.blob, blob.size, progress)
        return blob
