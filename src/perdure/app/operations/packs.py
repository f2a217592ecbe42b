"""Operations on packs: list and show guided journeys over verbs."""

from __future__ import annotations

from typing import Any

from perdure.app.lists.cursors import Page
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Name, Nothing
from perdure.app.operations.verb_scopes import NO_VERB
from perdure.app.packs import PackRow

TAG = "packs"


class ShowPack(Request, frozen=True):
    """A pack."""

    name: Name


@operation("pack.list", Route("GET", "/packs"), tag=TAG, scope=NO_VERB)
async def list_packs(context: Context, request: Nothing) -> Page[PackRow]:
    """Every pack of the project."""
    return Page(context.perdure.packs.list())


@operation("pack.read", Route("GET", "/packs/{name}"), tag=TAG, scope=NO_VERB)
async def show_pack(context: Context, request: ShowPack) -> dict[str, Any]:
    """A pack: its questions, templates, sections and what it hands over to."""
    return context.perdure.packs.get(request.name)
