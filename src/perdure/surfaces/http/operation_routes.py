"""Endpoints of the table of operations: the one place that knows both the rows and HTTP."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from perdure.access.principal import own_key
from perdure.app.calls.views import CallView
from perdure.app.documents.views import DocumentView
from perdure.app.instances.views import InstanceView
from perdure.app.operations.documents import Download
from perdure.app.operations.operation import ANY_VERSION, Context, Operation, Route
from perdure.app.operations.operation_execution import perform
from perdure.app.runbooks.drafts import DraftView
from perdure.app.runbooks.views import RunbookView
from perdure.errors import PerdureError, RejectedError
from perdure.surfaces.http.asgi import ASGIApp
from perdure.surfaces.http.authorization import perdure_for, required
from perdure.surfaces.http.content_response import content_response
from perdure.surfaces.http.content_upload import upload_of
from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.journal_streams import STREAMED, followed
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import Response, answer
from perdure.surfaces.http.long_poll import patiently, while_there
from perdure.surfaces.http.operation_responses import OWN, Own
from perdure.surfaces.http.problem_details import REUSED, REUSED_HINT, InvalidRequest, RefusedRequest
from perdure.surfaces.http.request_fields import fields_of, read_fields
from perdure.surfaces.http.server_sent_events import MEDIA

Row = Operation[Any, Any]
PREFIX = "/api"
VERSIONED = (CallView, InstanceView, RunbookView, DraftView, DocumentView)
"""Views of one thing, whose `sequence` is its tag."""
ADMITTED = frozenset({"call_verb", "start_runbook"})
"""The work that costs a server most: few at once while somebody looks."""
STREAM = {MEDIA: "Server-sent events: `id` is the cursor to go on from."}
_TAGS = re.compile(r'(W/)?"([^"]*)"')
_VERSION = re.compile(r"0|[1-9][0-9]{0,18}")


def endpoints(rows: Sequence[Row]) -> tuple[Endpoint, ...]:
    """An endpoint for every route of every row."""
    return tuple(_endpoint(row, each) for row in rows for each in row.routes)


def _endpoint(row: Row, place: Route) -> Endpoint:
    own = OWN.get(row.id, Own())
    # Where the body is content, fields travel as those of a GET do.
    fields = fields_of(row.request, "GET" if place.streams else place.method, place.path, needs_body=place.needs_body)
    is_streamed = row.id in STREAMED

    async def served(request: JsonRequest) -> ASGIApp:
        try:
            asked = await read_fields(request, fields)
            context = _context(request, row)
            if place.streams:
                content, media_type, file_name = await upload_of(request)
                context = replace(context, content=content, media_type=media_type, file_name=file_name)
            if is_streamed:
                asked, stream = await followed(request, context, row, asked)
                if stream is not None:
                    return stream
            found = await _performed(request, context, row, asked)
        except (PerdureError, InvalidRequest) as error:
            raise _refusal(request, row, own, error) from error
        if isinstance(found, Download):
            return await content_response(request, found)
        return own.response(request, asked, found) if own.response is not None else _answer(place, found)

    name, paths, media = place.name or row.id, (PREFIX + place.path,), STREAM if is_streamed else own.media
    told = (row.tag, row.text, row.answer, place.status, own.is_twofold, media)
    return Endpoint(
        name, place.method, paths, served, row.name, False, fields, row.repeat, row.guard, *told, streams=place.streams
    )  # fmt: skip


async def _performed(request: JsonRequest, context: Context, row: Row, asked: Any) -> Any:
    if row.id in ADMITTED:
        async with request.state.turnstile.turn():
            return await perform(context, row, asked)
    if row.computes:
        return await while_there(request, perform(context, row, asked))
    if request.scope["method"] == "GET" and getattr(asked, "until", None):
        return await patiently(request, context.principal, perform(context, row, asked))
    return await perform(context, row, asked)


def _refusal(request: JsonRequest, row: Row, own: Own, error: PerdureError | InvalidRequest) -> Exception:
    found = own.refusal(error) if own.refusal is not None else error
    is_taken = isinstance(found, RejectedError) and found.rejection.code == "already_exists"
    if is_taken and row.repeat == "domain" and request.header(b"idempotency-key") is not None:
        return RefusedRequest(422, "idempotency.reused", REUSED, REUSED_HINT)
    return found


def _context(request: JsonRequest, row: Row) -> Context:
    principal, state = required(request.own.get("principal")), request.state
    seen = seen_versions(request.header(b"if-match")) if row.guard else None
    key = own_key(principal, request.header(b"idempotency-key") or "") if row.repeat == "domain" else ""
    perdure, wait = perdure_for(request, principal), request.own.get("wait")
    asked = request.own.get("asked")
    return Context(perdure, principal, seen, key, wait, state.secret, state.public_keys, asked=asked)


def seen_versions(wanted: str | None) -> frozenset[int] | None:
    """The versions that `If-Match` names; a weak tag names none, and a star any."""
    if wanted is None:
        return None
    if wanted.strip() == "*":
        return frozenset({ANY_VERSION})
    return frozenset(int(tag) for weak, tag in _TAGS.findall(wanted) if not weak and _VERSION.fullmatch(tag))


def _answer(place: Route, found: Any) -> Response:
    headers: dict[str, str] = {}
    if isinstance(found, VERSIONED):
        headers["ETag"] = f'"{found.sequence}"'
        if place.location:
            headers["Location"] = place.location + found.id
    return answer(found, place.status, headers)
