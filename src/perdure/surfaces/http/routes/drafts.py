"""Drafts: runbooks that somebody still writes."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.composing import draft_of
from perdure.app.drafts import DraftView, draft_plan, revise_draft, show_draft
from perdure.app.runbook_views import RunbookView
from perdure.surfaces.http.bodies import Draft, StartDraft
from perdure.surfaces.http.confirming import check_agreed, check_verbs
from perdure.surfaces.http.making import acting, reading, replacing
from perdure.surfaces.http.parameters import Id
from perdure.surfaces.http.versions import tagged, unchanged

TAGS = ("drafts",)
AnyRequest = Request[Any, Any, Any]
AS_IT_IS = StartDraft()


@acting("/drafts", "runbook.draft", status=201, tags=TAGS)
async def open_draft(perdure: Perdure, data: Draft) -> Response[DraftView]:
    """Begin to write a runbook; the id stays when it is started."""
    id = await perdure.runbooks.open_draft(draft_of(perdure.catalogue, data.composition()), case=data.case)
    return tagged(await show_draft(perdure, id), 201, location=f"/api/drafts/{id}")


@reading("/drafts/{id:str}", "draft.read", tags=TAGS)
async def read_draft(perdure: Perdure, principal: Principal, id: Id) -> Response[DraftView]:
    """A draft as it reads now, what it would do, and what is still wrong with it.

    It is told to those whose key reaches every verb in it.
    """
    view = await show_draft(perdure, id)
    for named in view.verbs():
        verb = perdure.catalogue.find(named)
        check(principal, "draft.read", verb=verb.name if verb is not None else named)
    return tagged(view)


@replacing("/drafts/{id:str}", "runbook.draft", tags=TAGS)
async def replace_draft(perdure: Perdure, request: AnyRequest, id: Id, data: Draft) -> Response[DraftView]:
    """It reads so from now on; with `If-Match`, only when nobody else has changed it."""
    await show_draft(perdure, id)
    draft = draft_of(perdure.catalogue, data.composition())
    async with unchanged(request, perdure, id) as seen:
        return tagged(await revise_draft(perdure, id, draft, data.change, seen))


@acting("/drafts/{id:str}/undo", "runbook.draft", tags=TAGS)
async def undo_draft(perdure: Perdure, request: AnyRequest, id: Id) -> Response[DraftView]:
    """Back to how it read before."""
    async with unchanged(request, perdure, id):
        await perdure.runbooks.undo(id)
        return tagged(await show_draft(perdure, id))


@acting("/drafts/{id:str}/redo", "runbook.draft", tags=TAGS)
async def redo_draft(perdure: Perdure, request: AnyRequest, id: Id) -> Response[DraftView]:
    """Forward to what was undone."""
    async with unchanged(request, perdure, id):
        await perdure.runbooks.redo(id)
        return tagged(await show_draft(perdure, id))


@acting("/drafts/{id:str}/start", "runbook.start", tags=TAGS)
async def start_draft(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: StartDraft = AS_IT_IS
) -> Response[RunbookView]:
    """Run it as it reads now; its id and its history stay."""
    async with unchanged(request, perdure, id):
        plan = await draft_plan(perdure, id)
        check_verbs(principal, "runbook.start", plan)
        await check_agreed(perdure, perdure.runbooks.plan(plan), principal, data.confirm, data.phrase)
        return tagged(await perdure.runbooks.start_draft(id, plan, wait=data.wait))


ROUTES: tuple[Any, ...] = (open_draft, read_draft, replace_draft, undo_draft, redo_draft, start_draft)
