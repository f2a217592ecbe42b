"""The page of a client behind a token: what is asked is shown and taken by the operations, in plain HTML.

| token | request | answer |
|---|---|---|
| not ours, or too old | | the page that says so, 404 |
| good | open | what is asked, and a form |
| good | received | thanks, and what came |
| good | over | there is nothing to do |
| good | open, and what was sent does not fit | the form again, with the reason |
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from perdure.access.signed_tokens import read_request_token, request_principal
from perdure.app.operations.operation import Context
from perdure.app.operations.operation_execution import perform
from perdure.app.operations.requests import (
    NameRequest,
    RequestView,
    SubmitContent,
    SubmitData,
    show_request,
    submit_content,
    submit_data,
)
from perdure.errors import PerdureError, RejectedError
from perdure.surfaces.http.authorization import perdure_for
from perdure.surfaces.http.content_upload import FORM, upload_of
from perdure.surfaces.http.endpoint import public
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import Response
from perdure.surfaces.http.problem_details import RefusedRequest, refusal_of
from perdure.surfaces.http.request_page.answer_fields import read_answers
from perdure.surfaces.http.request_page.page import HEADERS, closed_page, entrance_page, request_page
from perdure.surfaces.http.request_page.words import refusal_text

ASK = "/ask"
DRAINED = 64 * 1024 * 1024
"""Bytes that are still taken from a browser after its file was refused, so that it reads the reason."""


@public("GET", ASK, is_anonymous=True)
async def show_entrance(request: JsonRequest) -> Response:
    """The way in for a link that carries its token behind a `#`."""
    return entrance_page()


@public("GET", f"{ASK}/{{token}}", is_anonymous=True)
async def show_request_page(request: JsonRequest) -> Response:
    """What a client is asked for, what was wrong last time, and what came."""
    context = _context(request)
    view = await _asked(context) if context is not None else None
    return request_page(view) if view is not None else closed_page()


@public("POST", f"{ASK}/{{token}}", is_anonymous=True)
async def take_answer(request: JsonRequest) -> Response:
    """A file or answers of a client; a browser goes back to the page, which says thanks."""
    context = _context(request)
    view = await _asked(context) if context is not None else None
    if context is None or view is None:
        return closed_page()
    try:
        await _taken(request, context, view)
    except (PerdureError, RefusedRequest) as error:
        refusal = refusal_of(error)
        if refusal.problem.status >= 500:
            raise
        await _drained(request)
        now = await _asked(context)
        return request_page(now or view, refusal_text(error), refusal.problem.status)
    return Response(status=303, headers={**HEADERS, "Location": f"{ASK}/{request.words['token']}"})


def _context(request: JsonRequest) -> Context | None:
    """The client that a token makes of whoever shows it; None when the token is not good."""
    state, token = request.state, request.words["token"]
    name = read_request_token(state.secret, token, state.perdure.runtime.sources.now())
    if name is None:
        state.failures.check(request.client)
        return None
    principal = request_principal(name)
    return Context(perdure_for(request, principal), principal, secret=state.secret, asked=name)


async def _asked(context: Context) -> RequestView | None:
    try:
        return await perform(context, show_request, NameRequest())
    except RejectedError as error:
        if error.rejection.code == "not_found":
            return None
        raise


async def _taken(request: JsonRequest, context: Context, view: RequestView) -> Any:
    said = (request.header(b"content-type") or "").partition(";")[0].strip().lower()
    if said != FORM:
        data = read_answers(view.data_schema or {}, await request.body())
        return await perform(context, submit_data, SubmitData(data))
    content, media_type, name = await upload_of(request)
    given = replace(context, content=content, media_type=media_type, file_name=name)
    return await perform(given, submit_content, SubmitContent())


async def _drained(request: JsonRequest) -> None:
    """Take what a browser still sends: one that is cut off shows its own error instead of the reason."""
    taken = 0
    if request.is_read:
        return
    try:
        async for piece in request.stream():
            taken += len(piece)
            if taken > DRAINED:
                return
    except RefusedRequest:
        return  # it has left


ENDPOINTS = (show_entrance, show_request_page, take_answer)
