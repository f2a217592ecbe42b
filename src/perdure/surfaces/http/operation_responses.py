"""Responses of operations that need more than JSON: statuses, files and refusals of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.app.calls.views import ReceiptView
from perdure.app.lifecycles.views import TaskReceipt
from perdure.app.message_views import Sent
from perdure.app.operations.audits import Export
from perdure.app.operations.incidents import Retried, RetriedMany
from perdure.app.task_results.result_intake import outcome_of_answer
from perdure.buses.delivery_outcome import TABLE
from perdure.errors import PerdureError, RejectedError
from perdure.sources import id_text, parse_id
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import JSON, Response, answer
from perdure.surfaces.http.problem_details import InvalidRequest, RefusedRequest

KEPT = frozenset({"buffered", "accepted", "no_subscription", "ambiguous"})
"""Outcomes of a message that is kept for later, or for somebody who looks after dead letters."""
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""A page made of what others wrote runs nothing and loads nothing, wherever it is opened."""


Refused = PerdureError | InvalidRequest


class Own(msgspec.Struct, frozen=True):
    """The parts of a route that are HTTP's own."""

    response: Callable[[JsonRequest, Any, Any], Response] | None = None
    refusal: Callable[[Refused], Exception] | None = None
    is_twofold: bool = False
    """The answer comes with 200 and with 202."""
    media: dict[str, str] = {}
    """Other media types of the answer, each with its meaning."""


def _completed(request: JsonRequest, asked: Any, receipt: ReceiptView) -> Response:
    if receipt.answer != "dead_letter":
        return answer(receipt, 202 if receipt.answer == "applied" else 200)
    reason, more = receipt.reason, {"message_id": receipt.message_id, "dead_letter": True}
    if reason.startswith("blocked"):
        return answer(ReceiptView("queued", receipt.message_id, reason), 202)
    hint = "It is kept as a dead letter and can be replayed."
    if reason.startswith("ambiguous_key"):
        raise RefusedRequest(409, "completion.ambiguous", f"It was not applied: {reason}.", hint, more=more)
    raise RefusedRequest(404, "completion.unknown_key", f"It was not applied: {reason}.", hint, more=more)


def _task_result(request: JsonRequest, asked: Any, receipt: TaskReceipt) -> Response:
    return answer(receipt, TABLE[outcome_of_answer(receipt.answer)].status)


def _published(request: JsonRequest, asked: Any, sent: Sent) -> Response:
    return answer(sent, 202 if sent.outcome in KEPT else 200)


def _correlated(request: JsonRequest, asked: Any, sent: Sent) -> Response:
    more = {"message_id": sent.message_id, "dead_letter": True}
    if sent.outcome == "no_subscription":
        fact, hint = f"Nobody waits for it: {sent.reason}.", "It is kept as a dead letter: replay it, or send it again."
        raise RefusedRequest(404, "message.no_subscription", fact, hint, more=more)
    if sent.outcome == "ambiguous":
        fact = f"Several instances wait for it: {sent.reason}."
        hint = "It is kept as a dead letter: give them different keys, or choose one of them and replay it."
        raise RefusedRequest(409, "message.ambiguous", fact, hint, more=more)
    return answer(sent)


def _file(request: JsonRequest, asked: Export, document: bytes) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{id_text(parse_id(asked.id))}.{asked.format}"'}
    is_page = asked.format == "html"
    if is_page:
        headers["Content-Security-Policy"] = PAGE_POLICY
    return Response(document, media="text/html; charset=utf-8" if is_page else JSON, headers=headers)


def _retried(request: JsonRequest, asked: Any, found: RetriedMany) -> Response:
    request_id = request.own["request_id"]
    return answer(RetriedMany([_named(each, request_id) for each in found.items]))


def _named(each: Retried, request_id: str) -> Retried:
    return replace(each, problem=replace(each.problem, request_id=request_id)) if each.problem is not None else each


def _renamed(code: str, status: int, name: str, detail: str = "", hint: str = "") -> Callable[[Refused], Exception]:
    """A rejection with a code, told under a name of its own; other refusals stay as they are."""

    def told(error: Refused) -> Exception:
        if isinstance(error, InvalidRequest):
            is_meant = code == "invalid"
            return RefusedRequest(status, name, error.detail, errors=error.errors) if is_meant else error
        is_meant = isinstance(error, RejectedError) and error.rejection.code == code
        return RefusedRequest(status, name, detail or str(error), hint or error.hint) if is_meant else error

    return told


_NEVER_AGAIN = _renamed("invalid", 400, "completion.malformed")
"""A sender of completions tells by the 400 what must never be sent again."""
_BAD_RESULT = _renamed("invalid", TABLE["bad"].status, "task_result.malformed")
"""Whoever sends a result tells by the 400 that it never will count."""
_TAKEN = "Its text was told once. Revoke it and make another, or choose another name."
_DOCUMENT = Own(_file, media={"text/html": "The document as a page."})
OWN: dict[str, Own] = {
    "send_completion": Own(_completed, _NEVER_AGAIN, is_twofold=True),
    "send_task_result": Own(_task_result, _BAD_RESULT, is_twofold=True),
    "publish_message": Own(_published, is_twofold=True),
    "receive_envelope": Own(_published, is_twofold=True),
    "correlate_message": Own(_correlated),
    "export_call": _DOCUMENT,
    "export_instance": _DOCUMENT,
    "export_runbook": _DOCUMENT,
    "retry_incidents": Own(_retried),
    "create_key": Own(refusal=_renamed("already_exists", 409, "key.exists", hint=_TAKEN)),
    "make_wait_token": Own(refusal=_renamed("wrong_state", 409, "server.no_secret", "This server signs nothing.")),
}
"""By the operation's function."""
