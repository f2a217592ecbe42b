"""Operations on incidents: list what is stuck and why, and try many again at once."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import replace

from perdure.access.principal import Principal
from perdure.access.roles import refusal
from perdure.app.access.redaction import hidden_incident, may_read
from perdure.app.incidents import ActionView, StuckView, place_of_incident, retry_at, stuck_view, verbs_at
from perdure.app.lists.cursors import Page
from perdure.app.operations.fields import After, Limit
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.scopes import DISCOVERED, REDACTED
from perdure.app.problem_details import Problem, problem_of
from perdure.errors import PerdureError

TAG = "incidents"
MOST = 200


class ListIncidents(Request, frozen=True):
    """Which page of the incidents."""

    limit: Limit = 50
    after: After = None


class RetryIncidents(Request, frozen=True):
    """Incidents: the id of what is stuck, or `<id>:<place>` for one step or token of it."""

    ids: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST)]


class Retried(msgspec.Struct, frozen=True):
    """The outcome of one retry: `status` as if it had been asked for alone."""

    id: str
    status: int
    state: str = ""
    problem: Problem | None = None


class RetriedMany(msgspec.Struct, frozen=True):
    """Each by itself, in the order they were named."""

    items: list[Retried]


@operation("incident.list", Route("GET", "/incidents"), tag=TAG, scope=REDACTED)
async def list_incidents(context: Context, request: ListIncidents) -> Page[StuckView]:
    """What is stuck, oldest first, with its cause and the actions that who asks may take."""
    listing = context.perdure.listing.seen_by(context.principal.verbs)
    page = await listing.incidents(limit=request.limit, after=request.after)
    found = [await stuck_view(context.perdure, item) for item in page.items]
    return Page([_shown(context.principal, view) for view in found], page.next)


@operation("incident.retry", Route("POST", "/incidents/retry"), tag=TAG, scope=DISCOVERED)
async def retry_incidents(context: Context, request: RetryIncidents) -> RetriedMany:
    """Try many again. Each is authorised and answered by itself: what is refused keeps none of the others."""
    return RetriedMany([await _retried(context, each) for each in dict.fromkeys(request.ids)])


async def _retried(context: Context, named: str) -> Retried:
    try:
        place = place_of_incident(named)
        for verb in await verbs_at(context.perdure, place):
            context.check("incident.retry", verb)
        return Retried(named, 200, (await retry_at(context.perdure, place)).state)
    except PerdureError as error:
        problem = problem_of(error)
        return Retried(named, problem.status, problem=problem)


def _shown(principal: Principal, view: StuckView) -> StuckView:
    if not may_read(principal.verbs, view.verbs):
        view = replace(hidden_incident(view), cause="")
    return replace(view, actions=[each for each in view.actions if _may(principal, each, view.verbs)])


def _may(principal: Principal, action: ActionView, verbs: list[str]) -> bool:
    return all(refusal(principal, action.operation, verb) is None for verb in verbs or [""])
