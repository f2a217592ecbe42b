"""Steps of a runbook: begun anew, left out, stopped, agreed to."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.runbook_views import RunbookView
from perdure.app.seeing import seen
from perdure.surfaces.http.bodies import NO_REASON, AnswerGate, Reason, Why
from perdure.surfaces.http.making import acting
from perdure.surfaces.http.parameters import Id, Step
from perdure.surfaces.http.versions import tagged, unchanged

TAGS = ("steps",)
AnyRequest = Request[Any, Any, Any]


@acting("/runbooks/{id:str}/steps/{step:str}/retry", "runbook.retry", tags=TAGS)
async def retry_step(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, step: Step, data: Reason = NO_REASON
) -> Response[RunbookView]:
    """Begin a failed step anew, or try again what an incident stopped."""
    await _allowed(perdure, principal, "runbook.retry", id, step)
    async with unchanged(request, perdure, id):
        return tagged(seen(principal, await perdure.runbooks.retry(id, step, data.reason)))


@acting("/runbooks/{id:str}/steps/{step:str}/skip", "runbook.skip", tags=TAGS)
async def skip_step(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, step: Step, data: Why
) -> Response[RunbookView]:
    """Go on without a step; what needs its result is skipped as well."""
    await _allowed(perdure, principal, "runbook.skip", id, step)
    async with unchanged(request, perdure, id):
        return tagged(seen(principal, await perdure.runbooks.skip(id, step, data.reason)))


@acting("/runbooks/{id:str}/steps/{step:str}/cancel", "runbook.cancel", tags=TAGS)
async def cancel_step(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, step: Step, data: Reason = NO_REASON
) -> Response[RunbookView]:
    """Stop one step."""
    await _allowed(perdure, principal, "runbook.cancel", id, step)
    async with unchanged(request, perdure, id):
        return tagged(seen(principal, await perdure.runbooks.cancel(id, data.reason, step=step)))


@acting("/runbooks/{id:str}/steps/{step:str}/answer", "runbook.answer", tags=TAGS)
async def answer_gate(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, step: Step, data: AnswerGate
) -> Response[RunbookView]:
    """Agree, or refuse, that a step with a gate runs, as a member of its group."""
    await _allowed(perdure, principal, "runbook.answer", id, step)
    async with unchanged(request, perdure, id):
        return tagged(seen(principal, await perdure.runbooks.answer(id, step, data.agree, reason=data.reason)))


async def _allowed(perdure: Perdure, principal: Principal, operation: str, id: str, step: str) -> None:
    """Whoever may act on some verbs only may act on their steps only, however the step is named."""
    check(principal, operation, verb=await perdure.runbooks.verb(id, step))


ROUTES: tuple[Any, ...] = (retry_step, skip_step, cancel_step, answer_gate)
