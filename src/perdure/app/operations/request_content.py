"""Content that came with a request, stored within what its tenant and its sender may store for nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

from perdure.app.documents.views import BlobView
from perdure.app.operations.operation import Context
from perdure.blobs.content_allowance import KeptContent
from perdure.errors import RejectedError, Rejection
from perdure.payload import parse_digest
from perdure.verbs.document_types import LARGEST_BLOB


async def stored(context: Context, most: int = LARGEST_BLOB, most_of_client: int = 0) -> BlobView:
    """Store the content of a request; the owner of the store may store as much as there is room for."""
    documents, content = context.perdure._documents, content_of(context)
    if context.is_owner:
        return await documents.store_blob(content, most)
    allowance, kept = context.runtime.document_duties.allowance, begun(context)
    found = await documents.store_blob(allowance.counted(content, kept, most_of_client), most)
    allowance.stored(kept, parse_digest(found.blob))
    return found


def begun(context: Context) -> KeptContent:
    """Content that is about to come."""
    return context.runtime.document_duties.allowance.begin(context.origin.tenant, context.principal.name)


def content_of(context: Context) -> AsyncIterator[bytes]:
    """The content that came with a request."""
    if context.content is None:
        fact = "no content came with the request"
        raise RejectedError(Rejection("invalid", "store", "content", "blob", fact, "Send it as the body."))
    return context.content
