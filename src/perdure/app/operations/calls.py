"""Operations on calls: list, show, stop, retry, resolve, correct and erase them."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from msgspec import Meta

from perdure.app.audit.quarantine_release import recheck
from perdure.app.calls import operator_interventions
from perdure.app.calls.amendment_list import Correction, corrections_of
from perdure.app.calls.call_journal import read
from perdure.app.calls.outcome_wait import wait_for
from perdure.app.calls.views import CallView
from perdure.app.erasure import Erasure
from perdure.app.instances.views import InstanceView
from perdure.app.lists.cursors import Page
from perdure.app.lists.list_rows import RunbookRow
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import After, ById, Goal, Id, Limit, Patience, Query, State, Word
from perdure.app.operations.runbooks import ListRunbooks
from perdure.app.operations.verb_scopes import EVERY_VERB_OF_ID, REDACTED
from perdure.app.runbooks.extension_policy import check_added
from perdure.app.runbooks.timeline import Timeline, timeline_of
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.runbooks.machine.commands import Cancel
from perdure.sources import parse_id

TAG = "calls"
Pairs = Annotated[list[str], Meta(max_length=8)]
Where = Annotated[Pairs | None, Meta(description="`field:value` of the verb's index; all of them must fit.")]


class ListCalls(Request, frozen=True):
    """Which calls: of a verb, by values of its index, in a state, or by words."""

    verb: Word = ""
    where: Where = None
    state: State = ""
    q: Query = ""
    limit: Limit = 50
    after: After = None

    def fields(self) -> dict[str, str]:
        """Values of the verb's index by their names."""
        if self.where and not self.verb:
            fact, hint = "an index belongs to a verb", "Name the verb as well."
            raise RejectedError(Rejection("invalid", "find", "calls", self.where[0][:80], fact, hint))
        if any(":" not in each for each in self.where or ()):
            raise RejectedError(Rejection("invalid", "find", "calls", self.verb, "`where` is written field:value"))
        return dict(each.partition(":")[::2] for each in self.where or ())


class ShowCall(Request, frozen=True):
    """A call, and how far it is to come before it is shown."""

    id: Id
    until: Goal = ""
    timeout_seconds: Patience = 10.0


class CancelCall(Request, frozen=True):
    """Why a call is stopped; the journal keeps it."""

    id: Id
    reason: str = ""


class ResolveCall(Request, frozen=True):
    """How a stuck call ends: with a `result`, or with the code of an `error`.

    It is confirmed where its process calls one that has become graver.
    """

    id: Id
    result: Any = None
    error: str | None = None
    reason: str = ""
    confirm: str = ""
    phrase: str = ""


class AmendCall(Request, frozen=True):
    """A correction of data that somebody else has to approve."""

    id: Id
    data: Any
    reason: str
    target: Literal["input", "result"] = "input"


class ApproveAmendment(Request, frozen=True):
    """The correction that is agreed to, by its number."""

    id: Id
    amendment: int


class EraseCall(Request, frozen=True):
    """Why data are erased; the journal keeps it, and this act needs a reason."""

    id: Id
    reason: str


@operation("call.list", Route("GET", "/calls"), tag=TAG, scope=REDACTED)
async def list_calls(context: Context, request: ListCalls) -> Page[RunbookRow]:
    """Calls, newest first; with `verb` and `where`, those whose indexed values fit.

    A key sees those whose verb it reaches.
    """
    if not request.q:
        return await context.lists.calls(request)
    found = ListRunbooks(request.state, "", request.q, "calls", request.limit, request.after)
    return await context.lists.runbooks(found)


@operation("call.read", Route("GET", "/calls/{id}"), tag=TAG, scope=REDACTED)
async def show_call(context: Context, request: ShowCall) -> CallView:
    """A call as it is now, or once it has come so far as `until` says or the time is up.

    What it is about is told to those whose key reaches its verb.
    """
    id = parse_id(request.id)
    if request.until:
        with suppress(QuarantinedError):  # it is shown as it is
            await wait_for(context.runtime, context.origin, id, request.until == "end", request.timeout_seconds)
    await context.runtime.store.set_aside.refresh()
    return await context.calls.listed(id)


@operation("call.read", Route("GET", "/calls/{id}/timeline"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def show_call_timeline(context: Context, request: ById) -> Timeline:
    """When a call ran, waited and ended."""
    return await timeline_of(context.perdure, request.id)


@operation("call.cancel", Route("POST", "/calls/{id}/cancel"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def cancel_call(context: Context, request: CancelCall) -> CallView:
    """Stop a call. What it already did stays done; nothing is compensated."""
    return await context.calls.ask(request.id, Cancel(request.reason))


class RetryCall(ById, frozen=True):
    """A call to try again, confirmed where its process calls one that has become graver."""

    confirm: str = ""
    phrase: str = ""


@operation("call.retry", Route("POST", "/calls/{id}/retry"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def retry_call(context: Context, request: RetryCall) -> CallView | InstanceView:
    """Try again what an incident stopped, in the call itself or in the process that carries it."""
    return await operator_interventions.retry(context, request.id, request.confirm, request.phrase)


@operation(
    "call.resolve",
    Route("POST", "/calls/{id}/resolve", needs_body=True),
    tag=TAG,
    scope=EVERY_VERB_OF_ID,
    guard=True,
)
async def resolve_call(context: Context, request: ResolveCall) -> CallView | InstanceView:
    """End by hand what an incident stopped, with a result or an error."""
    perdure = context.perdure
    aggregate = await context.runtime.kernel.read(parse_id(request.id), context.origin)
    await check_added(perdure, context.principal, await perdure.data_verbs.answered(aggregate), request.result)
    return await operator_interventions.resolve(context, request)


@operation("call.read", Route("GET", "/calls/{id}/amendments"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def list_amendments(context: Context, request: ById) -> Page[Correction]:
    """Corrections of its data, oldest first, with what each of them proposes."""
    return Page(await corrections_of(context.perdure, request.id))


@operation("call.amend", Route("POST", "/calls/{id}/amend"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def amend_call(context: Context, request: AmendCall) -> CallView:
    """Propose a correction of its data; it holds when somebody else approves it."""
    return await operator_interventions.amend(context, request.id, request.data, request.reason, request.target)


@operation("call.approve", Route("POST", "/calls/{id}/approve"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def approve_amendment(context: Context, request: ApproveAmendment) -> CallView:
    """Approve a correction that somebody else proposed."""
    return await operator_interventions.approve(context, request.id, request.amendment)


@operation("call.erase", Route("POST", "/calls/{id}/erase"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def erase_call(context: Context, request: EraseCall) -> CallView:
    """Erase the data of an ended call and of whatever it began; their history stays and still verifies."""
    await Erasure(context.runtime, context.origin).erase(parse_id(request.id), request.reason)
    aggregate = await read(context.runtime, context.origin, request.id)
    await recheck(context.runtime, aggregate)
    return await context.calls.view(aggregate)
