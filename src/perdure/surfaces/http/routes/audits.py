"""Audit documents of calls and instances: to be read and checked by anybody, without a store."""

from __future__ import annotations

from typing import Any, Literal

from litestar import Request, Response

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.app.exporting import export_document
from perdure.sources import id_text, parse_id
from perdure.surfaces.http.making import reading
from perdure.surfaces.http.parameters import Id
from perdure.surfaces.http.reaching import check_every_verb

TAGS = ("audit",)
Form = Literal["json", "html"]
AnyRequest = Request[Any, Any, Any]
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""A page made of what others wrote runs nothing and loads nothing, wherever it is opened."""


@reading("/calls/{id:str}/export", "audit.export", tags=TAGS, pages=True)
async def export_call(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, format: Form = "json"
) -> Response[Any]:
    """Everything that happened in a call."""
    return await document_answer(perdure, principal, request, id, format)


@reading("/instances/{id:str}/export", "audit.export", tags=TAGS, pages=True)
async def export_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, format: Form = "json"
) -> Response[Any]:
    """Everything that happened in an instance."""
    return await document_answer(perdure, principal, request, id, format)


async def document_answer(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: str, format: Form
) -> Response[Any]:
    """The document of whatever has that id, for whoever reaches every verb in it."""
    await check_every_verb(perdure, principal, "audit.export", id)
    is_page = format == "html"
    document = await export_document(perdure, id, request.app.state.public_keys, is_page=is_page)
    headers = {"Content-Disposition": f'attachment; filename="{id_text(parse_id(id))}.{format}"'}
    if is_page:
        headers["Content-Security-Policy"] = PAGE_POLICY
    return Response(document, media_type="text/html" if is_page else "application/json", headers=headers)


ROUTES: tuple[Any, ...] = (export_call, export_instance)
