"""Incidents: what is stuck, why, what can be done about it; and trying many again at once."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request

from perdure.access.principal import Principal
from perdure.access.roles import check, refusal
from perdure.app import Perdure
from perdure.app.mending import ActionView, StuckView, place_of_incident, retry_at, stuck_view, verbs_at
from perdure.app.paging import Page
from perdure.app.seeing import hidden_incident, sees
from perdure.errors import PerdureError
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import After, Limit
from perdure.surfaces.http.problems import Problem, refusal_of

TAGS = ("incidents",)
MOST = 200


class RetryMany(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Incidents: the id of what is stuck, or `<id>:<place>` for one step or token of it."""

    ids: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST)]


class Retried(msgspec.Struct, frozen=True):
    """What became of one of them: `status` as if it had been asked for alone."""

    id: str
    status: int
    state: str = ""
    problem: Problem | None = None


class RetriedMany(msgspec.Struct, frozen=True):
    """Each by itself, in the order they were named."""

    items: list[Retried]


@reading("/incidents", "incident.list", tags=TAGS)
async def list_incidents(
    perdure: Perdure, principal: Principal, limit: Limit = 50, after: After = None
) -> Page[StuckView]:
    """What is stuck, oldest first, with its cause and the actions that who asks may take."""
    page = await perdure.listing.seen_by(principal.verbs).incidents(limit=limit, after=after)
    found = [await stuck_view(perdure, item) for item in page.items]
    return Page([_for(principal, view) for view in found], page.next)


@acting("/incidents/retry", "incident.retry", tags=TAGS)
async def retry_incidents(
    perdure: Perdure, principal: Principal, request: Request[Any, Any, Any], data: RetryMany
) -> RetriedMany:
    """Try many again. Each is authorised and answered by itself: what is refused keeps none of the others."""
    request_id = request.scope["state"].get("request_id", "")
    return RetriedMany([await _retried(perdure, principal, each, request_id) for each in dict.fromkeys(data.ids)])


async def _retried(perdure: Perdure, principal: Principal, named: str, request_id: str) -> Retried:
    try:
        place = place_of_incident(named)
        for verb in await verbs_at(perdure, place):
            check(principal, "incident.retry", verb=verb)
        return Retried(named, 200, (await retry_at(perdure, place)).state)
    except PerdureError as error:
        shown = refusal_of(error).problem
        return Retried(named, shown.status, problem=msgspec.structs.replace(shown, request_id=request_id))


def _for(principal: Principal, view: StuckView) -> StuckView:
    if not sees(principal.verbs, view.verbs):
        view = msgspec.structs.replace(hidden_incident(view), cause="")
    return msgspec.structs.replace(view, actions=[each for each in view.actions if _may(principal, each, view.verbs)])


def _may(principal: Principal, action: ActionView, verbs: list[str]) -> bool:
    return all(refusal(principal, action.operation, verb) is None for verb in verbs or [""])


ROUTES: tuple[Any, ...] = (list_incidents, retry_incidents)
