"""Operations on drafts: open, read, replace, undo, redo and start runbooks that somebody still writes."""

from __future__ import annotations

import msgspec

from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import ById, Id
from perdure.app.operations.runbooks import Composed
from perdure.app.operations.verb_scopes import DISCOVERED, VERBS_OF_DRAFT
from perdure.app.runbooks.draft_composition import composed_draft
from perdure.app.runbooks.drafts import DraftView, draft_plan, revise_draft, show_draft
from perdure.app.runbooks.plan_composition import shown
from perdure.app.runbooks.plan_start_checks import check_agreed, check_verbs
from perdure.app.runbooks.views import RunbookView
from perdure.runbooks.drafts.draft import Draft

TAG = "drafts"


class OpenDraft(Composed, frozen=True):
    """A draft to keep; `change` says in words what is different now."""

    case: str = ""
    change: str = ""


class ReplaceDraft(OpenDraft, frozen=True, kw_only=True):
    """A draft as it is to read from now on."""

    id: Id


class StartDraft(Request, frozen=True):
    """A draft to run as it reads now."""

    id: Id
    confirm: str = ""
    phrase: str = ""
    wait: bool = False
    timeout_seconds: float | None = None


@operation(
    "runbook.draft",
    Route("POST", "/drafts", 201, location="/api/drafts/", needs_body=True),
    tag=TAG,
    scope=DISCOVERED,
)
async def open_draft(context: Context, request: OpenDraft) -> DraftView:
    """Begin to write a runbook; the id stays when it is started. Under one idempotency key it is begun once."""
    perdure = context.perdure
    document = await _written(context, request)
    id = await perdure.runbooks.open_draft(document, case=request.case, idempotency_key=context.idempotency_key)
    return await show_draft(perdure, id)


async def _written(context: Context, request: OpenDraft) -> Draft:
    """The draft as it is to read; refused when it names verbs that the key does not reach."""
    draft = await composed_draft(context.perdure, request.composition())
    context.check_all("runbook.draft", context.perdure.data_verbs.in_draft(msgspec.to_builtins(draft)))
    return draft


@operation("draft.read", Route("GET", "/drafts/{id}"), tag=TAG, scope=VERBS_OF_DRAFT, computes=True)
async def read_draft(context: Context, request: ById) -> DraftView:
    """A draft as it reads now, what it would do, and what is still wrong with it.

    It is told to those whose key reaches every verb that one of its revisions names.
    """
    return await show_draft(context.perdure, request.id)


@operation(
    "runbook.draft",
    Route("PUT", "/drafts/{id}", needs_body=True),
    tag=TAG,
    scope=VERBS_OF_DRAFT,
    guard=True,
    repeat="safe",
)
async def replace_draft(context: Context, request: ReplaceDraft) -> DraftView:
    """It reads so from now on; with `If-Match`, only when nobody else has changed it."""
    await show_draft(context.perdure, request.id)
    draft = await _written(context, request)
    return await revise_draft(context.perdure, request.id, draft, request.change, context.sequence)


@operation("runbook.draft", Route("POST", "/drafts/{id}/undo"), tag=TAG, scope=VERBS_OF_DRAFT, guard=True)
async def undo_draft(context: Context, request: ById) -> DraftView:
    """Back to how it read before."""
    await context.perdure.runbooks.undo(request.id)
    return await show_draft(context.perdure, request.id)


@operation("runbook.draft", Route("POST", "/drafts/{id}/redo"), tag=TAG, scope=VERBS_OF_DRAFT, guard=True)
async def redo_draft(context: Context, request: ById) -> DraftView:
    """Forward to what was undone."""
    await context.perdure.runbooks.redo(request.id)
    return await show_draft(context.perdure, request.id)


@operation("runbook.start", Route("POST", "/drafts/{id}/start"), tag=TAG, scope=VERBS_OF_DRAFT, guard=True)
async def start_draft(context: Context, request: StartDraft) -> RunbookView:
    """Run it as it reads now; its id and its history stay."""
    perdure, principal = context.perdure, context.principal
    plan = await draft_plan(perdure, request.id)
    check_verbs(principal, "runbook.start", plan)
    await check_agreed(context, await shown(perdure, plan), request.confirm, request.phrase)
    return await perdure.runbooks.start_draft(request.id, plan, wait=request.wait)
