"""Calls: which there are, how one is, and acting on it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request, Response
from litestar.params import Parameter

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.app.adding import check_added
from perdure.app.amending import Correction, corrections_of
from perdure.app.instance_views import InstanceView
from perdure.app.listing_views import RunbookRow
from perdure.app.paging import Page
from perdure.app.seeing import seen
from perdure.app.timelines import Timeline, timeline_of
from perdure.app.views import CallView
from perdure.errors import RejectedError, Rejection
from perdure.surfaces.http.bodies import NO_REASON, Amend, Approve, Reason, Resolve, Why
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import After, Id, InState, Limit, Query, Word
from perdure.surfaces.http.patience import Goal, Patience, patiently
from perdure.surfaces.http.reaching import check_every_verb
from perdure.surfaces.http.versions import tagged, unchanged

TAGS = ("calls",)
AnyRequest = Request[Any, Any, Any]
Where = Annotated[
    list[str] | None, Parameter(max_items=8, description="`field:value` of the verb's index; all of them must fit.")
]


@reading("/calls", "call.list", tags=TAGS)
async def list_calls(
    perdure: Perdure, principal: Principal, verb: Word = "", where: Where = None, in_state: InState = "",
    q: Query = "", limit: Limit = 50, after: After = None,
) -> Page[RunbookRow]:  # fmt: skip
    """Calls, newest first; with `verb` and `where`, those whose indexed values fit.

    Of calls whose verb a key does not reach it sees that they are there, and finds none by its values.
    """
    listing = perdure.listing.seen_by(principal.verbs)
    if q:
        return await listing.runbooks(state=in_state, q=q, kind="calls", limit=limit, after=after)
    fields = _fields(verb, where) if where else None
    return await listing.calls(verb=verb, where=fields, state=in_state, limit=limit, after=after)


@reading("/calls/{id:str}", "call.read", tags=TAGS)
async def show_call(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, until: Goal = "",
    timeout_seconds: Patience = 10.0,
) -> Response[CallView]:  # fmt: skip
    """A call as it is now, or once it has come so far as `until` says or the time is up.

    What it is about is told to those whose key reaches its verb.
    """
    if until:
        wait = perdure.wait if until == "end" else perdure.runbooks.rest
        await patiently(request, principal, wait(id, timeout_seconds))
    view = await perdure.status(id)
    verb = perdure.catalogue.find(view.verb, view.version) if view.args is not None else None
    told = view if verb is None else msgspec.structs.replace(view, sentence=verb.sentence(view.args))
    return tagged(seen(principal, told))


@reading("/calls/{id:str}/timeline", "call.read", tags=TAGS)
async def show_call_timeline(perdure: Perdure, principal: Principal, id: Id) -> Timeline:
    """When a call ran, waited and ended."""
    await check_every_verb(perdure, principal, "call.read", id)
    return await timeline_of(perdure, id)


@acting("/calls/{id:str}/cancel", "call.cancel", tags=TAGS)
async def cancel_call(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Reason = NO_REASON
) -> Response[CallView]:
    """Stop a call. What it already did stays done; nothing is compensated."""
    await _allowed(perdure, principal, "call.cancel", id)
    async with unchanged(request, perdure, id):
        return tagged(await perdure.cancel(id, data.reason))


@acting("/calls/{id:str}/retry", "call.retry", tags=TAGS)
async def retry_call(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id
) -> Response[CallView | InstanceView]:
    """Try again what an incident stopped, in the call itself or in the process that carries it."""
    await _allowed(perdure, principal, "call.retry", id)
    async with unchanged(request, perdure, id):
        return tagged(await perdure.retry(id))


@acting("/calls/{id:str}/resolve", "call.resolve", tags=TAGS)
async def resolve_call(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Resolve
) -> Response[CallView | InstanceView]:
    """End by hand what an incident stopped, with a result or an error."""
    await _allowed(perdure, principal, "call.resolve", id)
    check_added(perdure.catalogue, principal, await perdure.waits.verbs_of(id), data.result)
    async with unchanged(request, perdure, id):
        return tagged(await perdure.resolve(id, data.result, error=data.error, reason=data.reason))


@reading("/calls/{id:str}/amendments", "call.read", tags=TAGS)
async def list_amendments(perdure: Perdure, principal: Principal, id: Id) -> Page[Correction]:
    """Corrections of its data, oldest first, with what each of them proposes."""
    await check_every_verb(perdure, principal, "call.read", id)
    return Page(await corrections_of(perdure, id))


@acting("/calls/{id:str}/amend", "call.amend", tags=TAGS)
async def amend_call(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Amend
) -> Response[CallView]:
    """Propose a correction of its data; it holds when somebody else approves it."""
    await _allowed(perdure, principal, "call.amend", id)
    async with unchanged(request, perdure, id):
        return tagged(await perdure.amend(id, data.data, reason=data.reason, target=data.target))


@acting("/calls/{id:str}/approve", "call.approve", tags=TAGS)
async def approve_amendment(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Approve
) -> Response[CallView]:
    """Approve a correction that somebody else proposed."""
    await _allowed(perdure, principal, "call.approve", id)
    async with unchanged(request, perdure, id):
        return tagged(await perdure.amend(id, approve=data.amendment))


@acting("/calls/{id:str}/erase", "call.erase", tags=TAGS)
async def erase_call(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Why
) -> Response[CallView]:
    """Erase the data of an ended call; its history stays and still verifies."""
    await _allowed(perdure, principal, "call.erase", id)
    async with unchanged(request, perdure, id):
        return tagged(await perdure.erase(id, data.reason))


async def _allowed(perdure: Perdure, principal: Principal, operation: str, id: str) -> None:
    await check_every_verb(perdure, principal, operation, id)


def _fields(verb: str, where: list[str]) -> dict[str, str]:
    if not verb:
        fact, hint = "an index belongs to a verb", "Name the verb as well."
        raise RejectedError(Rejection("invalid", "find", "calls", where[0][:80], fact, hint))
    found = dict(each.partition(":")[::2] for each in where)
    if any(":" not in each for each in where):
        raise RejectedError(Rejection("invalid", "find", "calls", verb, "`where` is written field:value"))
    return found


ROUTES: tuple[Any, ...] = (
    list_calls, show_call, show_call_timeline, cancel_call, retry_call, resolve_call, list_amendments, amend_call,
    approve_amendment, erase_call,
)  # fmt: skip
