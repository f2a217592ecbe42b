"""Tools about documents: agents find them and read who decided what. Handing in and deciding is asked for by verbs."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from perdure.app.documents.views import ContentView, DocumentItem, DocumentView
from perdure.app.operations import documents
from perdure.app.operations.request_fields import ById
from perdure.surfaces.mcp.shared_schemas import Limit
from perdure.surfaces.mcp.tool import Tool, ToolSession

DocumentId = Annotated[str, Meta(description="The id of a document, without `document://`.", max_length=80)]


class FindDocuments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[
        str, Meta(description="Words in data, extracted fields, type and subject: `anna schm* -draft`.", max_length=400)
    ] = ""
    subject: Annotated[str, Meta(description="Whom or what they are about.", max_length=200)] = ""
    type: Annotated[str, Meta(description="Only of this type.", max_length=200)] = ""
    status: documents.Status = ""
    limit: Limit = 20


class DocumentPage(msgspec.Struct, frozen=True):
    """Documents, newest first."""

    items: list[DocumentItem]
    next: str | None = None


class DocumentStatusOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: DocumentId


class ReadDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: DocumentId
    version: Annotated[int, Meta(description="The number of a version, as document_status shows it.", ge=1)]


async def find_documents(desk: ToolSession, asked: FindDocuments) -> DocumentPage:
    """Find documents by words, subject, type and status; what is in them is not told."""
    request = documents.ListDocuments(
        subject=asked.subject, type=asked.type, status=asked.status, text=asked.text, limit=asked.limit
    )
    page = await desk.perform(documents.list_documents, request)
    return DocumentPage(page.items, page.next)


async def document_status(desk: ToolSession, asked: DocumentStatusOf) -> DocumentView:
    """A document with its versions: their status, who decided, and why one was rejected."""
    return await desk.perform(documents.show_document, ById(asked.id))


async def read_document(desk: ToolSession, asked: ReadDocument) -> ContentView:
    """The data and extracted fields of one version. Reading is an event that the document's history keeps."""
    return await desk.perform(documents.read_content, documents.ReadVersion(asked.id, asked.version))


TOOLS = (
    Tool(
        title="Find documents", operation="document.list", takes=FindDocuments, gives=DocumentPage,
        act=find_documents, is_reading=True,
    ),
    Tool(
        title="Status of a document", operation="document.read", takes=DocumentStatusOf, gives=DocumentView,
        act=document_status, is_reading=True,
    ),
    Tool(
        title="Read a document", operation="document.content", takes=ReadDocument, gives=ContentView,
        act=read_document,
    ),
)  # fmt: skip
