"""Operations on uploads in several requests: begin, send from an offset, ask for the offset, finish.

The meaning is that of the core of tus 1.0: the server knows the offset, bytes are taken at that offset alone, and
whatever came stays when a connection breaks. An upload belongs to whoever began it.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from perdure.app.documents.views import BlobView, UploadView, upload_view
from perdure.app.operations.documents import RECEIVE, TAG, Blob
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_content import begun, content_of
from perdure.app.operations.request_fields import BIGGEST, ById, Id
from perdure.blobs.partial_uploads import PartialUploads
from perdure.payload import parse_digest
from perdure.sources import id_text, parse_id
from perdure.verbs.document_types import LARGEST_BLOB

Size = Annotated[int, Meta(ge=1, le=LARGEST_BLOB, description="The bytes of the whole content.")]
Offset = Annotated[int, Meta(ge=0, le=BIGGEST, description="The byte that the body begins with: the `offset` so far.")]


class BeginUpload(Request, frozen=True):
    """Content that comes in several requests."""

    size: Size


class SendPart(Request, frozen=True):
    """Content from an offset on, as the body of the request."""

    id: Id
    offset: Offset = 0


class FinishUpload(Request, frozen=True):
    """The upload, and its SHA-256 where the sender knows it."""

    id: Id
    sha256: Blob = ""


@operation("document.upload", Route("POST", "/uploads", 201), tag=TAG, scope=RECEIVE)
async def begin_upload(context: Context, request: BeginUpload) -> UploadView:
    """Begin an upload that may come in several requests. It has to be finished within a day."""
    id = id_text(context.runtime.sources.new_id())
    return upload_view(await _uploads(context).begin(*_who(context), id, request.size, context.runtime.sources.now()))


@operation("document.upload", Route("GET", "/uploads/{id}"), tag=TAG, scope=RECEIVE)
async def show_upload(context: Context, request: ById) -> UploadView:
    """How far an upload came: `offset` is the byte to go on from."""
    return upload_view(await _uploads(context).show(*_who(context), _id(request.id), context.runtime.sources.now()))


@operation(
    "document.upload", Route("POST", "/uploads/{id}/parts", streams=True), tag=TAG, scope=RECEIVE, repeat="domain"
)
async def send_part(context: Context, request: SendPart) -> UploadView:
    """Take the body at the offset that is next. What came before a connection broke is kept."""
    content = content_of(context)
    found = await _uploads(context).send(
        *_who(context), _id(request.id), request.offset, content, context.runtime.sources.now()
    )
    return upload_view(found)


@operation("document.upload", Route("POST", "/uploads/{id}/finish", 201), tag=TAG, scope=RECEIVE, repeat="domain")
async def finish_upload(context: Context, request: FinishUpload) -> BlobView:
    """Store the content of an upload once all of it came; asked again, the answer is the same."""
    uploads, now = _uploads(context), context.runtime.sources.now()
    if not context.is_owner:
        allowance, kept = context.runtime.document_duties.allowance, begun(context)
        allowance.take(kept, (await uploads.show(*_who(context), _id(request.id), now)).opened.size)
    found = await uploads.finish(*_who(context), _id(request.id), request.sha256, now)
    if not context.is_owner:
        allowance.stored(kept, parse_digest(found.blob))
    return BlobView(found.blob, found.size, found.media_type)


def _uploads(context: Context) -> PartialUploads:
    return context.runtime.document_duties.uploads


def _who(context: Context) -> tuple[str, str]:
    return context.origin.tenant, context.principal.name


def _id(text: str) -> str:
    """The id as it is written in names: nothing else gets into one."""
    return id_text(parse_id(text, "upload"))
