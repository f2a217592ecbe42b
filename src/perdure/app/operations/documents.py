"""Operations on documents: hand them in, decide on them, find them, read them, erase them.

The right to decide on a document (`document.verify`, `document.reject`) is not the right to hand one in, and the right
to read content (`document.content`) is not the right to see that a document exists.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from perdure.access.signed_tokens import LINK_SECONDS, ContentLink, link_token
from perdure.app.calls.views import EventView
from perdure.app.documents.submissions import MAX_NOTE, Submission
from perdure.app.documents.views import (
    BlobView,
    CollectedView,
    ContentView,
    DocumentItem,
    DocumentTypeView,
    DocumentView,
    ReasonView,
    reason_view,
    type_view,
)
from perdure.app.documents.waivers import Waivers
from perdure.app.lists.cursors import Page
from perdure.app.operations.operation import Context, Reached, Request, Route, operation
from perdure.app.operations.request_content import stored
from perdure.app.operations.request_fields import ById, Id, Limit, Nothing, Number, Paged, Query, Word
from perdure.app.operations.requests import check_answerer
from perdure.errors import RejectedError, Rejection
from perdure.sources import SECOND, iso
from perdure.verbs.document_types import LARGEST_BLOB

TAG = "documents"
CONTENT = "/content/"
"""The place, below `/api`, of content that a link opens."""

TypeName = Annotated[str, Meta(max_length=64, description="The name of a declared document type.")]
Subject = Annotated[str, Meta(max_length=500, description="The id of whoever or whatever the document is about.")]
Status = Annotated[
    Literal["", "pending", "verified", "rejected", "expired", "superseded"], Meta(description="Only in this status.")
]
Day = Annotated[str, Meta(max_length=10, description="A date: `2031-05-01`. A version expires when `valid_to` begins.")]
Blob = Annotated[str, Meta(max_length=80, description="Content that was uploaded: `sha256:` and 64 hex digits.")]
Note = Annotated[str, Meta(max_length=MAX_NOTE, description="Words for whoever looks at the decision later.")]
Code = Annotated[str, Meta(max_length=64, description="The code of a rejection reason.")]


def _verb(name: str) -> Reached:
    """A narrowed key must reach the verb that does the same."""

    async def verbs(context: Context, request: Any) -> list[str]:
        return [name]

    return Reached(verbs)


FIND, CREATE, RECEIVE, VERIFY = map(_verb, ("document.find", "document.create", "document.receive", "document.verify"))
REJECT, SUPERSEDE, ERASE = map(_verb, ("document.reject", "document.supersede", "document.erase"))
WAIVE = _verb("document.waive")


class ListDocuments(Paged, frozen=True):
    """Filters of a list of documents; `text` looks for words in their data, extracted fields, type and subject."""

    subject: Subject = ""
    type: TypeName = ""
    status: Status = ""
    correlation_id: Word = ""
    text: Query = ""


class VersionContent(Request, frozen=True, kw_only=True):
    """The content of a version: structured data, a blob, or both."""

    data: dict[str, Any] | None = None
    blob: Blob = ""
    media_type: Word = ""
    name: Word = ""
    source: Word = "upload"
    source_ref: Word = ""
    valid_from: Day = ""
    valid_to: Day = ""
    correlation_id: Word = ""


class CreateDocument(VersionContent, frozen=True, kw_only=True):
    """A document, and its first version where content is given."""

    type: TypeName
    subject: Subject = ""
    parent: Word = ""


class ReceiveVersion(VersionContent, frozen=True, kw_only=True):
    """One more version of a document."""

    id: Id


class UploadBlob(Request, frozen=True):
    """Content as the body of the request."""


class ReceiveContent(Request, frozen=True):
    """One more version of a document whose blob is the body of the request."""

    id: Id
    name: Word = ""
    source: Word = "upload"
    source_ref: Word = ""
    valid_from: Day = ""
    valid_to: Day = ""
    correlation_id: Word = ""


class VerifyVersion(Request, frozen=True):
    """The version that was looked at; a newer one makes the decision void."""

    id: Id
    version: Number
    note: Note = ""


class RejectVersion(Request, frozen=True):
    """The version that was looked at, and why it is refused."""

    id: Id
    version: Number
    reason: Code
    note: Note = ""


class SupersedeDocument(Request, frozen=True):
    """The document that takes the place of another."""

    id: Id
    by: Id
    note: Note = ""


class WaiveDocument(Request, frozen=True):
    """The type and the subject of a document that is done without, and why."""

    type: TypeName
    subject: Subject
    reason: Note
    valid_to: Day = ""
    correlation_id: Word = ""


class ReadVersion(Request, frozen=True):
    """A version of a document."""

    id: Id
    version: Number


class EraseDocument(Request, frozen=True):
    """Why the data is erased; the journal keeps it."""

    id: Id
    reason: Word


class CollectBlobs(Request, frozen=True):
    """Whether to count only."""

    dry: bool = False


class ListEvents(Request, frozen=True):
    """The journal of a document after a record."""

    id: Id
    after: int = 0
    limit: Limit = 200


class Download(msgspec.Struct, frozen=True):
    """The blob of a version: its name, its description, and its bytes as they are read."""

    name: str
    blob: BlobView
    content: AsyncIterator[bytes]


class LinkView(msgspec.Struct, frozen=True):
    """A link to the blob of a version that works for a short time, for whoever has it."""

    link: str
    expires_at: str | None


@operation("document.list", Route("GET", "/document-types"), tag=TAG, scope=FIND)
async def list_document_types(context: Context, request: Nothing) -> Page[DocumentTypeView]:
    """Every declared type of documents."""
    types = context.runtime.catalogue.documents
    return Page([type_view(types[name]) for name in sorted(types)])


@operation("document.list", Route("GET", "/rejection-reasons"), tag=TAG, scope=FIND)
async def list_rejection_reasons(context: Context, request: Nothing) -> Page[ReasonView]:
    """The catalogue of rejection reasons: words for clients and operators, and what comes next."""
    reasons = context.runtime.catalogue.reasons
    return Page([reason_view(reasons[code]) for code in sorted(reasons)])


@operation("document.list", Route("GET", "/documents"), tag=TAG, scope=FIND)
async def list_documents(context: Context, request: ListDocuments) -> Page[DocumentItem]:
    """Documents, newest first, by subject, type, status, correlation and words."""
    return await context.perdure._documents.find(
        subject=request.subject, type=request.type, status=request.status, correlation_id=request.correlation_id,
        text=request.text, limit=request.limit, after=request.after,
    )  # fmt: skip


@operation("document.create", Route("POST", "/documents", 201), tag=TAG, scope=CREATE, repeat="domain")
async def create_document(context: Context, request: CreateDocument) -> DocumentView:
    """Create a document, with a first version where content is given."""
    await check_answerer(context, "document.create", request.correlation_id)
    given = _submission(request) if request.data is not None or request.blob else None
    return await context.perdure._documents.create(
        request.type, request.subject, parent=request.parent, source=request.source,
        correlation_id=request.correlation_id, submission=given, key=context.idempotency_key,
    )  # fmt: skip


@operation("document.upload", Route("POST", "/blobs", 201, streams=True), tag=TAG, scope=RECEIVE, repeat="domain")
async def upload_blob(context: Context, request: UploadBlob) -> BlobView:
    """Store content as it comes. It is collected unless a version refers to it within an hour."""
    return await stored(context)


@operation("document.receive", Route("POST", "/documents/{id}/versions", 201), tag=TAG, scope=RECEIVE, repeat="domain")
async def receive_version(context: Context, request: ReceiveVersion) -> DocumentView:
    """Add a version to a document: structured data, uploaded content, or both."""
    await check_answerer(context, "document.receive", request.correlation_id)
    return await context.perdure._documents.receive(request.id, _submission(request), key=context.idempotency_key)


@operation(
    "document.receive",
    Route("POST", "/documents/{id}/content", 201, streams=True),
    tag=TAG,
    scope=RECEIVE,
    repeat="domain",
)
async def receive_content(context: Context, request: ReceiveContent) -> DocumentView:
    """Add a version whose blob is the body of the request, streamed as it comes."""
    await check_answerer(context, "document.receive", request.correlation_id)
    documents = context.perdure._documents
    most = documents.type((await documents.get(request.id)).type).max_bytes
    content = await stored(context, min(most, LARGEST_BLOB))
    given = Submission(
        blob=content.blob, media_type=context.media_type, name=request.name or context.file_name, source=request.source,
        source_ref=request.source_ref, valid_from=request.valid_from, valid_to=request.valid_to,
        correlation_id=request.correlation_id,
    )  # fmt: skip
    return await documents.receive(request.id, given, key=context.idempotency_key)


@operation("document.read", Route("GET", "/documents/{id}"), tag=TAG, scope=FIND)
async def show_document(context: Context, request: ById) -> DocumentView:
    """A document with all its versions, without their content."""
    return await context.perdure._documents.get(request.id)


@operation("document.read", Route("GET", "/documents/{id}/events"), tag=TAG, scope=FIND)
async def list_document_events(context: Context, request: ListEvents) -> Page[EventView]:
    """The journal of a document: who handed in, decided, read and erased what, and when."""
    found: list[EventView] = []
    async for event in context.perdure._documents.events(request.id, after=request.after):
        if len(found) >= request.limit and event.sequence != found[-1].sequence:
            return Page(found, str(found[-1].sequence))
        found.append(event)
    return Page(found)


@operation("document.content", Route("GET", "/documents/{id}/versions/{version}"), tag=TAG, scope=FIND)
async def read_content(context: Context, request: ReadVersion) -> ContentView:
    """The data and extracted fields of a version; the journal keeps who read them."""
    return await context.perdure._documents.content(request.id, request.version)


@operation("document.content", Route("GET", "/documents/{id}/versions/{version}/blob"), tag=TAG, scope=FIND)
async def download_blob(context: Context, request: ReadVersion) -> Download:
    """The blob of a version as an attachment; the journal keeps who read it."""
    named, blob, content = await context.perdure._documents.download(request.id, request.version)
    return Download(named.name, blob, content)


@operation("document.content", Route("POST", "/documents/{id}/versions/{version}/link"), tag=TAG, scope=FIND)
async def link_content(context: Context, request: ReadVersion) -> LinkView:
    """A link to the blob of a version for five minutes; each use of it is an event of the document."""
    if not context.secret:
        fact = "no server signs links here"
        raise RejectedError(Rejection("wrong_state", "link", "document", request.id, fact, "Ask a server."))
    await context.perdure._documents.check_link(request.id, request.version)
    expires_at = context.runtime.sources.now() + LINK_SECONDS * SECOND
    who = context.principal
    link = ContentLink(context.origin.tenant, request.id, request.version, who.name, expires_at, who.key)
    return LinkView(f"/api{CONTENT}{link_token(context.secret, link)}", iso(expires_at))


@operation("document.verify", Route("POST", "/documents/{id}/verify"), tag=TAG, scope=VERIFY)
async def verify_document(context: Context, request: VerifyVersion) -> DocumentView:
    """Take a version as evidence. Groups and four eyes are as its type declares."""
    return await context.perdure._documents.verify(request.id, request.version, request.note)


@operation("document.reject", Route("POST", "/documents/{id}/reject"), tag=TAG, scope=REJECT)
async def reject_document(context: Context, request: RejectVersion) -> DocumentView:
    """Refuse a version, or take its verification back, for a coded reason."""
    return await context.perdure._documents.reject(request.id, request.version, request.reason, request.note)


@operation("document.supersede", Route("POST", "/documents/{id}/supersede"), tag=TAG, scope=SUPERSEDE)
async def supersede_document(context: Context, request: SupersedeDocument) -> DocumentView:
    """Let another document of the same subject and type take the place of this one."""
    return await context.perdure._documents.supersede(request.id, request.by, request.note)


@operation("document.waive", Route("POST", "/documents/waive"), tag=TAG, scope=WAIVE)
async def waive_document(context: Context, request: WaiveDocument) -> DocumentView:
    """Do without a document, for a reason. Groups are as its type declares; under four eyes a second person agrees."""
    await check_answerer(context, "document.waive", request.correlation_id)
    return await Waivers(context.runtime, context.origin).waive(
        request.type, request.subject, request.reason, valid_to=request.valid_to,
        correlation_id=request.correlation_id,
    )  # fmt: skip


@operation("document.erase", Route("POST", "/documents/{id}/erase"), tag=TAG, scope=ERASE)
async def erase_document(context: Context, request: EraseDocument) -> DocumentView:
    """Erase the data and the blobs of a document; its history stays."""
    return await context.perdure._documents.erase(request.id, request.reason)


@operation("document.collect", Route("POST", "/blobs/collect"), tag=TAG, scope=ERASE)
async def collect_blobs(context: Context, request: CollectBlobs) -> CollectedView:
    """Remove blobs of the tenant that no document refers to and that are older than an hour; `dry` counts only."""
    return await context.perdure._documents.collect(dry=request.dry)


def _submission(request: VersionContent) -> Submission:
    return Submission(
        data=request.data, blob=request.blob, media_type=request.media_type, name=request.name, source=request.source,
        source_ref=request.source_ref, valid_from=request.valid_from, valid_to=request.valid_to,
        correlation_id=request.correlation_id,
    )  # fmt: skip
