"""Operations on incidents: list what is stuck and why, and try many again at once."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import replace

from perdure.app.incidents import place_of_incident, retry_at, stuck_at
from perdure.app.lists.cursors import Page
from perdure.app.lists.list_rows import StuckView
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Paged
from perdure.app.operations.verb_scopes import DISCOVERED, REDACTED
from perdure.app.problem_details import Problem, problem_of
from perdure.app.tracebacks import TracebackView, traceback_of
from perdure.errors import PerdureError

TAG = "incidents"
MOST = 200


class RetryIncidents(Request, frozen=True):
    """Incidents: the id of what is stuck, or `<id>:<place>` for one step or token of it."""

    ids: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST)]


class ShowTraceback(Request, frozen=True):
    """The id of what failed, or `<id>:<place>` for one step or token of it."""

    id: str


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
async def list_incidents(context: Context, request: Paged) -> Page[StuckView]:
    """What is stuck, oldest first, with its cause and the actions that who asks may take."""
    page = await context.lists.incidents(request)
    return Page([_allowed(context, view) for view in page.items], page.next)


def _allowed(context: Context, view: StuckView) -> StuckView:
    verbs = view.verbs or [""]
    return replace(
        view, actions=[each for each in view.actions if all(context.may(each.operation, verb) for verb in verbs)]
    )


@operation("incident.retry", Route("POST", "/incidents/retry"), tag=TAG, scope=DISCOVERED)
async def retry_incidents(context: Context, request: RetryIncidents) -> RetriedMany:
    """Try many again. Each is authorised and answered by itself: what is refused keeps none of the others."""
    return RetriedMany([await _retried(context, each) for each in dict.fromkeys(request.ids)])


@operation("incident.traceback", Route("GET", "/incidents/{id}/traceback"), tag=TAG, scope=DISCOVERED)
async def show_traceback(context: Context, request: ShowTraceback) -> TracebackView:
    """The traceback that the latest failed attempt of a call, a step (`<id>:<step>`), an instance or a token left."""
    place = place_of_incident(request.id)
    aggregate = await stuck_at(context.perdure, place)
    if context.is_narrow:
        context.check_all("incident.traceback", await context.perdure.data_verbs.of_incident(aggregate, None))
    view, found = await traceback_of(context.runtime, aggregate, place)
    if context.is_narrow:
        context.check_all("incident.traceback", await context.perdure.data_verbs.of_incident(found, None))
    return view


async def _retried(context: Context, named: str) -> Retried:
    try:
        place = place_of_incident(named)
        aggregate = await stuck_at(context.perdure, place)
        if context.is_narrow:
            context.check_all("incident.retry", await context.perdure.data_verbs.of_incident(aggregate, place.number))
        return Retried(named, 200, await retry_at(context, aggregate, place))
    except PerdureError as error:
        problem = problem_of(error)
        return Retried(named, problem.status, problem=problem)
