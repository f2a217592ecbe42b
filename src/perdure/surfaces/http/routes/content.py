"""Content behind a signed link: whoever has it may read for a short time, and the journal says whose it was."""

from __future__ import annotations

import msgspec

from perdure.access.signed_tokens import read_link
from perdure.app.documents.documents import Documents
from perdure.app.operations.documents import Download
from perdure.journal import Origin
from perdure.surfaces.http.content_response import ContentResponse, content_response
from perdure.surfaces.http.endpoint import public
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.problem_details import RefusedRequest


class LinkToken(msgspec.Struct, frozen=True):
    """The part of a link behind `/api/content/`; `show` asks for an image or a PDF to be looked at in a page."""

    token: str
    show: bool = False


@public("GET", "/api/content/{token}", "documents", request=LinkToken, answer=Download)
async def open_link(request: JsonRequest) -> ContentResponse:
    """The blob that a link opens, as an attachment; with `show` an image or a PDF opens in a frame of our own pages.

    Each use is an event of its document.
    """
    state, token = request.state, request.words["token"]
    is_shown = b"show=true" in request.scope["query_string"].split(b"&")
    link = read_link(state.secret, token, state.perdure.runtime.sources.now())
    if link is not None and link.key and await state.perdure.access.principal_of_key(link.tenant, link.key) is None:
        link = None
    if link is None:
        hint = "Ask for another link."
        raise RefusedRequest(404, "link.over", "This link opens nothing, or no longer.", hint)
    documents = Documents(state.perdure.runtime, Origin(link.tenant, link.principal))
    named, blob, content = await documents.download(link.document, link.version, what="link used")
    return await content_response(request, Download(named.name, blob, content), is_shown=is_shown)


ENDPOINTS = (open_link,)
