"""Responses of operations whose answer means more in HTTP than its value: statuses, files, refusals of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from litestar import Response
from litestar.exceptions import HTTPException
from msgspec.structs import replace

from perdure.app.calls.views import ReceiptView
from perdure.app.message_views import Sent
from perdure.app.operations.audits import Export
from perdure.app.operations.incidents import Retried, RetriedMany
from perdure.errors import PerdureError, RejectedError
from perdure.sources import id_text, parse_id
from perdure.surfaces.http.authorization import AnyRequest
from perdure.surfaces.http.json_response import Answer
from perdure.surfaces.http.problem_details import RefusedRequest, answer_problem, refusal_of

KEPT = frozenset({"buffered", "accepted", "no_subscription", "ambiguous"})
"""Outcomes of a message that is kept for later, or for somebody who looks after dead letters."""
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""A page made of what others wrote runs nothing and loads nothing, wherever it is opened."""


class Own(msgspec.Struct, frozen=True):
    """The parts of a route that are HTTP's own."""

    response: Callable[[AnyRequest, Any, Any], Response[Any]] | None = None
    refusal: Callable[[PerdureError], Exception] | None = None
    options: dict[str, Any] = {}


def _completed(request: AnyRequest, asked: Any, receipt: ReceiptView) -> Response[Any]:
    if receipt.answer != "dead_letter":
        return Answer(receipt, 202 if receipt.answer == "applied" else 200)
    reason, more = receipt.reason, {"message_id": receipt.message_id, "dead_letter": True}
    if reason.startswith("blocked"):
        return Answer(ReceiptView("queued", receipt.message_id, reason), 202)
    hint = "It is kept as a dead letter and can be replayed."
    if reason.startswith("ambiguous_key"):
        raise RefusedRequest(409, "completion.ambiguous", f"It was not applied: {reason}.", hint, more=more)
    raise RefusedRequest(404, "completion.unknown_key", f"It was not applied: {reason}.", hint, more=more)


def _senseless(error: PerdureError) -> Exception:
    if not isinstance(error, RejectedError) or error.rejection.code != "invalid":
        return error
    return RefusedRequest(400, "completion.malformed", str(error), error.hint)


def _malformed(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Tell a sender of completions what must never be sent again (400) from what may be."""
    shown = refusal_of(error).problem
    if shown.status not in (400, 422):
        return answer_problem(request, error)
    refused = RefusedRequest(400, "completion.malformed", shown.detail, shown.hint, errors=shown.errors)
    return answer_problem(request, refused)


def _published(request: AnyRequest, asked: Any, sent: Sent) -> Response[Any]:
    return Answer(sent, 202 if sent.outcome in KEPT else 200)


def _correlated(request: AnyRequest, asked: Any, sent: Sent) -> Response[Any]:
    if sent.outcome == "no_subscription":
        raise RefusedRequest(404, "message.no_subscription", f"Nobody waits for it: {sent.reason}.", "Publish it.")
    if sent.outcome == "ambiguous":
        hint = "Give them different keys, or publish it and choose one of them for the dead letter."
        raise RefusedRequest(409, "message.ambiguous", f"Several instances wait for it: {sent.reason}.", hint)
    return Answer(sent)


def _file(request: AnyRequest, asked: Export, document: bytes) -> Response[Any]:
    headers = {"Content-Disposition": f'attachment; filename="{id_text(parse_id(asked.id))}.{asked.format}"'}
    is_page = asked.format == "html"
    if is_page:
        headers["Content-Security-Policy"] = PAGE_POLICY
    return Response(document, media_type="text/html" if is_page else "application/json", headers=headers)


def _retried(request: AnyRequest, asked: Any, answer: RetriedMany) -> Response[Any]:
    request_id = request.scope["state"].get("request_id", "")
    return Answer(RetriedMany([_named(each, request_id) for each in answer.items]))


def _named(each: Retried, request_id: str) -> Retried:
    return replace(each, problem=replace(each.problem, request_id=request_id)) if each.problem is not None else each


def _key_taken(error: PerdureError) -> Exception:
    if not isinstance(error, RejectedError) or error.rejection.code != "already_exists":
        return error
    hint = "Its text was told once. Revoke it and make another, or choose another name."
    return RefusedRequest(409, "key.exists", str(error), hint)


def _unsigned(error: PerdureError) -> Exception:
    if not isinstance(error, RejectedError) or error.rejection.code != "wrong_state":
        return error
    return RefusedRequest(409, "server.no_secret", "This server signs nothing.", error.hint)


_DOCUMENT = Own(_file, options={"pages": True})
OWN: dict[str, Own] = {
    "send_completion": Own(
        _completed, _senseless, {"twofold": True, "exception_handlers": {HTTPException: _malformed}}
    ),
    "publish_message": Own(_published, options={"twofold": True}),
    "correlate_message": Own(_correlated),
    "export_call": _DOCUMENT,
    "export_instance": _DOCUMENT,
    "export_runbook": _DOCUMENT,
    "retry_incidents": Own(_retried),
    "create_key": Own(refusal=_key_taken),
    "make_wait_token": Own(refusal=_unsigned),
}
"""By the operation's function."""
