"""Runbooks: which there are, what one would do, running it, and looking at it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from litestar import Request, Response
from msgspec.structs import replace

from perdure.access.principal import EVERY_VERB, Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.composing import extend, extension_of, plan_of, show_extension
from perdure.app.listing_views import RunbookRow
from perdure.app.paging import Page
from perdure.app.runbook_views import PlanDiff, PlanView, RunbookView
from perdure.app.seeing import seen, sees
from perdure.app.timelines import Timeline, timeline_of
from perdure.errors import RejectedError, Rejection
from perdure.surfaces.http.bodies import NO_REASON, CancelRunbook, Composed, Extend, Reason, Start
from perdure.surfaces.http.confirming import check_agreed, check_extension, check_verbs
from perdure.surfaces.http.guarding import idempotency_key
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import After, Id, InState, Limit, Name, Query, Sequence, Whole, Word
from perdure.surfaces.http.patience import Goal, Patience, patiently
from perdure.surfaces.http.reaching import check_every_verb
from perdure.surfaces.http.routes.audits import Form, document_answer
from perdure.surfaces.http.routes.verbs import waited
from perdure.surfaces.http.versions import tagged, unchanged

TAGS = ("runbooks",)
AnyRequest = Request[Any, Any, Any]
NOTHING = CancelRunbook()


class Progress(msgspec.Struct, frozen=True):
    """How far it has come, in words."""

    text: str


class Runbooks(msgspec.Struct, frozen=True):
    """The runbooks that an act on many of them changed."""

    items: list[RunbookView]


@reading("/runbooks", "runbook.list", tags=TAGS)
async def list_runbooks(
    perdure: Perdure, principal: Principal, in_state: InState = "", case: Word = "", q: Query = "",
    kind: Literal["runbooks", "calls", "all"] = "runbooks", limit: Limit = 50, after: After = None,
    whole: Whole = False,
) -> Page[RunbookRow] | Page[RunbookView]:  # fmt: skip
    """Runbooks, newest first. `q` is the beginning of an id, a case or an indexed value.

    Of runbooks with verbs that a key does not reach it sees that they are there, and finds none by `q`.
    """
    if whole:
        if q or kind != "runbooks":
            fact, hint = "they are neither searched nor mixed with calls", "Leave out whole, or q and kind."
            raise RejectedError(Rejection("invalid", "list", "runbooks", "whole", fact, hint))
        found = await perdure.runbooks.list(case=case, state=in_state, limit=limit, after=after or "")
        shown = [await _in_list(perdure, principal, each) for each in found]
        return Page(shown, found[-1].id if len(found) == limit else None)
    listing = perdure.listing.seen_by(principal.verbs)
    return await listing.runbooks(state=in_state, case=case, q=q, kind=kind, limit=limit, after=after)


async def _in_list(perdure: Perdure, principal: Principal, view: RunbookView) -> RunbookView:
    """Its steps are left out, so that their verbs are looked for where they are."""
    if principal.verbs == EVERY_VERB or sees(principal.verbs, await perdure.waits.verbs_of(view.id)):
        return view
    return replace(view, progress="")


@acting("/runbooks/plan", "runbook.plan", repeats="domain", tags=TAGS)
async def plan_runbook(perdure: Perdure, data: Composed) -> PlanView:
    """What it would do, without doing any of it: steps in sentences, waves, writes, locks and tier."""
    return perdure.runbooks.plan(plan_of(perdure.catalogue, data.composition()))


@acting("/runbooks", "runbook.start", repeats="domain", status=201, tags=TAGS)
async def start_runbook(
    perdure: Perdure, principal: Principal, request: AnyRequest, data: Start
) -> Response[RunbookView]:
    """Run it. Answers when its start is durable; with `wait`, when it has ended or come to rest."""
    what = data.composition()
    plan = plan_of(perdure.catalogue, what)
    check_verbs(principal, "runbook.start", plan)
    shown = perdure.runbooks.plan(plan)
    await check_agreed(perdure, shown, principal, data.confirm, data.phrase, what=what, case=data.case)
    async with request.app.state.turnstile.turn():
        view = await perdure.runbooks.start(
            plan, case=data.case, idempotency_key=idempotency_key(request), confirmation=data.confirm, wait=data.wait,
            sealed=data.sealed, timeout_seconds=waited(data.timeout_seconds),
        )  # fmt: skip
    return tagged(view, 201, location=f"/api/runbooks/{view.id}")


@reading("/runbooks/{id:str}", "runbook.read", tags=TAGS)
async def show_runbook(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, at: Sequence = None, until: Goal = "",
    timeout_seconds: Patience = 10.0,
) -> Response[RunbookView]:  # fmt: skip
    """A runbook as it is, or as it was after that many records of its journal.

    With `until` the answer comes once it has come so far, or the time is up. What a step is about is told to those
    whose key reaches its verb; its journal, timeline, progress and diff to those whose key reaches every verb in it.
    """
    if until:
        wait = perdure.runbooks.wait if until == "end" else perdure.runbooks.rest
        await patiently(request, principal, wait(id, timeout_seconds))
    return tagged(seen(principal, await perdure.runbooks.show(id, at=at)))


@reading("/runbooks/{id:str}/progress", "runbook.read", tags=TAGS)
async def show_progress(perdure: Perdure, principal: Principal, id: Id, detailed: bool = False) -> Progress:
    """How far it has come: a line, or a line for each step."""
    await check_every_verb(perdure, principal, "runbook.read", id)
    return Progress(await perdure.runbooks.progress(id, detailed=detailed))


@reading("/runbooks/{id:str}/diff", "runbook.read", tags=TAGS)
async def show_diff(perdure: Perdure, principal: Principal, id: Id, at: Sequence = 1, to: Sequence = None) -> PlanDiff:
    """What became of its plan between two records, the later one now unless it is named."""
    await check_every_verb(perdure, principal, "runbook.read", id)
    return await perdure.runbooks.diff(id, at=at or 1, to=to)


@reading("/runbooks/{id:str}/timeline", "runbook.read", tags=TAGS)
async def show_timeline(perdure: Perdure, principal: Principal, id: Id) -> Timeline:
    """When each step ran, waited and ended."""
    await check_every_verb(perdure, principal, "runbook.read", id)
    return await timeline_of(perdure, id)


@reading("/runbooks/{id:str}/export", "audit.export", tags=TAGS, pages=True)
async def export_runbook(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, format: Form = "json"
) -> Response[Any]:
    """Everything that happened in a runbook, to be checked by anybody without a store."""
    return await document_answer(perdure, principal, request, id, format)


@acting("/runbooks/{id:str}/extend/plan", "runbook.plan", repeats="domain", tags=TAGS)
async def plan_extension(perdure: Perdure, id: Id, data: Composed) -> PlanView:
    """What would be added to a runbook, without adding it; `plan_hash` is that of the whole, to confirm with."""
    return show_extension(perdure, await extension_of(perdure, id, data.composition()))


@acting("/runbooks/{id:str}/extend", "runbook.extend", tags=TAGS)
async def extend_runbook(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Extend
) -> Response[RunbookView]:
    """Add steps behind those there are; they may refer to those."""
    what = data.composition()
    async with unchanged(request, perdure, id):
        extension = await extension_of(perdure, id, what)
        check_verbs(principal, "runbook.extend", extension.added)
        await check_extension(perdure, extension, principal, data.confirm, data.phrase)
        return tagged(seen(principal, await extend(perdure, id, what, extension.whole.content_hash, data.edges)))


@acting("/runbooks/{id:str}/seal", "runbook.seal", tags=TAGS)
async def seal_runbook(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id
) -> Response[RunbookView]:  # fmt: skip
    """No more steps will come."""
    await check_every_verb(perdure, principal, "runbook.seal", id)
    async with unchanged(request, perdure, id):
        return tagged(await perdure.runbooks.seal(id))


@acting("/runbooks/{id:str}/cancel", "runbook.cancel", tags=TAGS)
async def cancel_runbook(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: CancelRunbook = NOTHING
) -> Response[RunbookView]:
    """Stop a runbook. Nothing is taken back unless `compensate` says so."""
    await check_every_verb(perdure, principal, "runbook.cancel", id)
    if data.compensate:
        check(principal, "runbook.compensate")
    async with unchanged(request, perdure, id):
        return tagged(await perdure.runbooks.cancel(id, data.reason, compensate=data.compensate))


@acting("/runbooks/{id:str}/compensate", "runbook.compensate", tags=TAGS)
async def compensate_runbook(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Reason = NO_REASON
) -> Response[RunbookView]:
    """Take back what an ended runbook did, the last first."""
    await check_every_verb(perdure, principal, "runbook.compensate", id)
    async with unchanged(request, perdure, id):
        return tagged(await perdure.runbooks.compensate(id, data.reason))


@acting("/cases/{case:str}/cancel", "case.cancel", tags=("cases",))
async def cancel_case(perdure: Perdure, principal: Principal, case: Name, data: Reason = NO_REASON) -> Runbooks:
    """Stop every runbook of a case, with whatever its steps wait for; none, when one of them may not be stopped."""

    def allow(verbs: list[str]) -> None:
        for verb in verbs:
            check(principal, "case.cancel", verb=verb)

    return Runbooks(await perdure.runbooks.cancel_case(case, data.reason, allow=allow))


ROUTES: tuple[Any, ...] = (
    list_runbooks, plan_runbook, start_runbook, show_runbook, show_progress, show_diff, show_timeline, export_runbook,
    plan_extension, extend_runbook, seal_runbook, cancel_runbook, compensate_runbook, cancel_case,
)  # fmt: skip
