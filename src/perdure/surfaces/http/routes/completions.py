"""Completions and progress: what comes back from outside, at least once, and counts once."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.adding import check_answer
from perdure.app.views import ReceiptView
from perdure.contracts import FailureClass
from perdure.errors import RejectedError
from perdure.runbooks.intake import Completion
from perdure.surfaces.http.making import acting
from perdure.surfaces.http.problems import RefusedRequest, answer_problem, refusal_of
from perdure.surfaces.http.reaching import check_wait

TAGS = ("completions",)
AnyRequest = Request[Any, Any, Any]


class CompletionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a wait ends: with a `result`, or with an `error` and its code. `verb` where several wait under the key."""

    key: str
    result: Any = None
    error: str | None = None
    status: Literal["completed", "failed", "expired"] | None = None
    code: str = "completion.failed"
    failure_class: FailureClass = "permanent_business"
    message_id: str = ""
    verb: str = ""


class ProgressBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it goes; shown, never resumes anything."""

    key: str
    text: str


def malformed(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Who sends completions tells what it must never send again (400) from what it may."""
    shown = refusal_of(error).problem
    if shown.status not in (400, 422):
        return answer_problem(request, error)
    refused = RefusedRequest(400, "completion.malformed", shown.detail, shown.hint, errors=shown.errors)
    return answer_problem(request, refused)


@acting("/completions", "completion.send", status=202, tags=TAGS, twofold=True, exception_handlers={
    HTTPException: malformed,
})  # fmt: skip
async def send_completion(
    perdure: Perdure, principal: Principal, request: AnyRequest, data: CompletionBody
) -> Response[ReceiptView]:
    """End the wait under a key. Delivered twice, it counts once.

    202 when it was applied, or is kept because what waits is stuck; 200 when it came before or too late; 404 when
    nothing waits under the key, and 409 when several do and no verb says which: it is a dead letter then; 400 when it
    makes no sense.
    """
    try:
        named = await check_wait(perdure, principal, request, "completion.send", data.key, data.verb)
        if named is None and await perdure.waits.is_task(data.key):
            check(principal, "task.complete")
        await check_answer(perdure, principal, data.key, data.verb, data.result, named.wait if named else "")
        receipt = await (_end(perdure, data, named.wait) if named and named.wait else _complete(perdure, data))
    except RejectedError as error:
        if error.rejection.code != "invalid":
            raise
        raise RefusedRequest(400, "completion.malformed", str(error), error.hint) from error
    return _answer(_told(principal, receipt))


@acting("/progress", "progress.send", tags=TAGS)
async def send_progress(perdure: Perdure, principal: Principal, request: AnyRequest, data: ProgressBody) -> ReceiptView:
    """Say how a wait goes."""
    named = await check_wait(perdure, principal, request, "progress.send", data.key)
    if named is None or not named.wait:
        return _told(principal, await perdure.progress(data.key, data.text))
    return _told(principal, await perdure.tell_wait(data.key, data.text, named.wait))


async def _complete(perdure: Perdure, data: CompletionBody) -> ReceiptView:
    return await perdure.complete(
        data.key, data.result, error=data.error, status=data.status, code=data.code,
        failure_class=data.failure_class, message_id=data.message_id, verb=data.verb,
    )  # fmt: skip


async def _end(perdure: Perdure, data: CompletionBody, wait: str) -> ReceiptView:
    """Of one wait alone, whatever waits under its key by now."""
    status = data.status or ("failed" if data.error is not None else "completed")
    completion = Completion(
        data.key, status, data.result, data.error or "", data.code, data.failure_class, data.verb, wait=wait
    )
    return await perdure.end_wait(completion, data.message_id)


def _told(principal: Principal, receipt: ReceiptView) -> ReceiptView:
    """An outsider learns what became of the answer, and nothing of what it was for."""
    return msgspec.structs.replace(receipt, call=None) if principal.via == "wait" else receipt


def _answer(receipt: ReceiptView) -> Response[ReceiptView]:
    if receipt.answer != "dead_letter":
        return Response(receipt, status_code=202 if receipt.answer == "applied" else 200)
    reason, more = receipt.reason, {"message_id": receipt.message_id, "dead_letter": True}
    if reason.startswith("blocked"):
        return Response(ReceiptView("queued", receipt.message_id, reason), status_code=202)
    hint = "It is kept as a dead letter and can be replayed."
    if reason.startswith("ambiguous_key"):
        raise RefusedRequest(409, "completion.ambiguous", f"It was not applied: {reason}.", hint, more=more)
    raise RefusedRequest(404, "completion.unknown_key", f"It was not applied: {reason}.", hint, more=more)


ROUTES: tuple[Any, ...] = (send_completion, send_progress)
