"""Operations on requests for documents: make a token for the client, show what is asked, take what is handed in.

Whoever shows the token of a request sees and answers that one. Everybody else names it, and needs the role and the
verbs of whoever asked.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from perdure.access.signed_tokens import RequestName, request_token
from perdure.app.documents.delivery_view import DeliveryView
from perdure.app.documents.requests import DocumentRequest, DocumentRequests
from perdure.app.documents.submissions import Submission
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_content import stored
from perdure.app.operations.request_fields import Word
from perdure.app.operations.verb_scopes import DISCOVERED
from perdure.blobs.content_allowance import MOST_OF_CLIENT
from perdure.documents.machine.document_state import Version
from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.lifecycles.machine.lifecycle_machine import LifecycleMachine
from perdure.sources import SECOND, id_text, iso
from perdure.verbs.document_types import LARGEST_BLOB

TAG, RECEIVE = "requests", "document.receive"
TOKEN_SECONDS = 14 * 86_400
"""How long a token works unless its request is over before."""
LONGEST_TOKEN_SECONDS = 366 * 86_400

CorrelationId = Annotated[str, Meta(max_length=1000, description="The correlation id; left out by who shows a token.")]


class NameRequest(Request, frozen=True):
    """A request for a document."""

    correlation_id: CorrelationId = ""


class MakeToken(Request, frozen=True):
    """A request, and how long its token works at most."""

    correlation_id: Annotated[str, Meta(max_length=1000)]
    expires_seconds: Annotated[int, Meta(ge=60, le=LONGEST_TOKEN_SECONDS)] = TOKEN_SECONDS


class SubmitData(Request, frozen=True):
    """Structured data, as the type of what is asked for declares it."""

    data: dict[str, Any]
    correlation_id: CorrelationId = ""


class SubmitContent(Request, frozen=True):
    """A file as the body of the request."""

    correlation_id: CorrelationId = ""
    name: Word = ""


class RequestToken(msgspec.Struct, frozen=True):
    """A token that shows and answers one request: `Authorization: Wait <token>`."""

    correlation_id: str
    token: str
    expires_at: str

    def __repr__(self) -> str:
        return f"RequestToken(correlation_id={self.correlation_id!r}, token=…)"


class ReceivedView(msgspec.Struct, frozen=True):
    """One thing that came for a request."""

    at: str
    media_type: str
    size: int | None = None


class RequestView(msgspec.Struct, frozen=True):
    """What a client is asked for, in plain words; `reason` says what was wrong with the last one."""

    correlation_id: str
    status: str
    title: str = ""
    text: str = ""
    reason: str = ""
    document_type: str = ""
    media_types: list[str] = []
    max_bytes: int = 0
    data_schema: dict[str, Any] | None = None
    due_at: str | None = None
    attempt: int = 1
    expected: int = 1
    received_count: int = 0
    received: list[ReceivedView] = []
    deliveries: list[DeliveryView] = []
    """What was sent to ask for it; the client is not told."""


class RequestReceipt(msgspec.Struct, frozen=True):
    """What was received, and where the request stands now."""

    correlation_id: str
    status: str
    version: int
    at: str
    media_type: str
    size: int | None
    name: str
    expected: int
    received_count: int


@operation(
    "request.token", Route("POST", "/document-requests/token"), tag=TAG, scope=DISCOVERED, repeat="domain"
)  # fmt: skip
async def make_request_token(context: Context, request: MakeToken) -> RequestToken:
    """A token for the client who was asked: it shows this request, takes what is handed in, and nothing else."""
    desk = DocumentRequests(context.runtime, context.origin)
    found = await _found(context, "request.token", request.correlation_id)
    await desk.check_open(found)
    if not context.secret:
        fact, hint = "nothing here signs tokens", "Ask a server."
        raise RejectedError(
            Rejection("wrong_state", "make a token for", "request", request.correlation_id, fact, hint)
        )  # fmt: skip
    principal = context.principal
    makers = tuple(dict.fromkeys((principal.name, *principal.behind, *found.askers)))
    return signed_token(context.secret, context.runtime.sources.now(), request.expires_seconds, found, makers, context)


def signed_token(
    secret: bytes, now: int, seconds: int, found: DocumentRequest, makers: tuple[str, ...], context: Context
) -> RequestToken:
    expires_at = now + seconds * SECOND
    expires_at = min(expires_at, found.due) if found.due else expires_at
    name = RequestName(context.origin.tenant, found.correlation_id, expires_at, makers)
    return RequestToken(found.correlation_id, request_token(secret, name), iso(expires_at) or "")


@operation("request.read", Route("GET", "/document-request"), tag=TAG, scope=DISCOVERED)
async def show_request(context: Context, request: NameRequest) -> RequestView:
    """What is asked for: title, words, what was wrong with the last one, accepted files, due date, and what came."""
    desk = DocumentRequests(context.runtime, context.origin)
    found = await _found(context, "request.read", request.correlation_id)
    if found.status == "over":
        return RequestView(found.correlation_id, "over", found.title)
    type = context.perdure._documents.type(found.type)
    return RequestView(
        found.correlation_id, found.status, found.title, found.text,
        await desk.last_reason(found) if found.status == "open" else "", type.name, list(type.media_types),
        type.max_bytes if type.media_types else 0, type.data_schema, iso(found.due or None), found.attempt,
        found.expected, found.received, [_received(version) for _, version in found.versions],
        await _deliveries(context, found),
    )  # fmt: skip


@operation(
    "request.submit", Route("POST", "/document-request/data", 201), tag=TAG, scope=DISCOVERED, repeat="domain"
)  # fmt: skip
async def submit_data(context: Context, request: SubmitData) -> RequestReceipt:
    """Hand in structured data for a request. The same again is the same version; after it the request is received."""
    found = await _found(context, "request.submit", request.correlation_id)
    return await _submitted(context, found, Submission(data=request.data))


@operation(
    "request.submit",
    Route("POST", "/document-request/content", 201, streams=True),
    tag=TAG,
    scope=DISCOVERED,
    repeat="domain",
)
async def submit_content(context: Context, request: SubmitContent) -> RequestReceipt:
    """Hand in a file for a request, streamed as it comes. The same again is the same version."""
    found = await _found(context, "request.submit", request.correlation_id)
    documents = context.perdure._documents
    if found.status == "over":
        await DocumentRequests(context.runtime, context.origin).check_open(found)
    most = min(documents.type(found.type).max_bytes, LARGEST_BLOB)
    most_of_client = max(MOST_OF_CLIENT, 2 * most) if context.principal.via == "wait" else 0
    content = await stored(context, most, most_of_client)
    given = Submission(blob=content.blob, media_type=context.media_type, name=request.name or context.file_name)
    return await _submitted(context, found, given)


async def _found(context: Context, operation: str, correlation_id: str) -> DocumentRequest:
    """The request that a token names, or that somebody names whose key reaches its verbs."""
    if context.principal.via == "wait" and not context.is_owner:
        name = context.asked
        if name is None or correlation_id not in ("", name.correlation_id):
            fact, hint = "this token is for another request", "Use the token that was given for this one."
            raise RejectedError(Rejection("forbidden", "answer", "request", correlation_id[:200], fact, hint))
        correlation_id = name.correlation_id
    desk = DocumentRequests(context.runtime, context.origin)
    if context.is_narrow:
        context.check_all(operation, await _verbs(context, await desk.holder(correlation_id)))
    return await desk.find(correlation_id)


async def check_answerer(context: Context, operation: str, correlation_id: str) -> None:
    """Refuse a narrow key that would end a request of verbs beyond it by a document that names the request."""
    if not context.is_narrow or not correlation_id:
        return
    try:
        holder = await DocumentRequests(context.runtime, context.origin).holder(correlation_id)
    except RejectedError:
        return  # somebody else's correlation id: it ends nothing here
    context.check_all(operation, await _verbs(context, holder))


async def _verbs(context: Context, holder: Aggregate) -> list[str]:
    """The verbs of whatever asks, and the verb that hands in."""
    letters = id_text(holder.id)
    if holder.kind != LifecycleMachine.kind:
        return [*await context.perdure.data_verbs.of_id(letters), RECEIVE]
    desk = context.perdure.lifecycle_operations
    _, definition = await desk.definition_of(letters)
    return [*await desk.verbs.of(definition), RECEIVE]


async def _submitted(context: Context, found: DocumentRequest, given: Submission) -> RequestReceipt:
    held = await DocumentRequests(context.runtime, context.origin).submit(found, given)
    what = _received(held.version)
    return RequestReceipt(
        found.correlation_id, held.status, held.version.number, what.at, what.media_type, what.size, given.name,
        found.expected, held.received,
    )  # fmt: skip


async def _deliveries(context: Context, found: DocumentRequest) -> list[DeliveryView]:
    if context.principal.via == "wait" and not context.is_owner:
        return []
    return await context.runtime.deliveries.views(context.origin.tenant, found.asked_at, found.correlation_id)


def _received(version: Version) -> ReceivedView:
    blob = version.blob
    at = iso(version.received_at) or ""
    return ReceivedView(at, blob.media_type, blob.size) if blob is not None else ReceivedView(at, "application/json")
