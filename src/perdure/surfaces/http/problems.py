"""What a refusal looks like: one shape for every error (RFC 9457), with a stable code and what to do next."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from perdure.app.task_views import FieldError, field_errors
from perdure.errors import (
    EDGE_CODES,
    ConfirmationRequiredError,
    DefinitionError,
    PayloadTooLargeError,
    PerdureError,
    QuarantinedError,
    RejectedError,
    Rejection,
    SchemaViolationError,
    StoreFullError,
    StoreUnavailableError,
)

MEDIA = "application/problem+json"
BROKEN = "Something broke that should not; it has been logged."
REUSED = "This Idempotency-Key came with another request before."
REUSED_HINT = "Use a new key for a new request."
log = logging.getLogger("perdure.http")

_STATUSES: dict[type[PerdureError], int] = {
    SchemaViolationError: 422,
    DefinitionError: 422,
    PayloadTooLargeError: 413,
    QuarantinedError: 409,
    StoreUnavailableError: 503,
    StoreFullError: 503,
}
_NAMES = {
    400: "request.malformed",
    401: "access.unauthenticated",
    403: "access.forbidden",
    404: "request.unknown_path",
    405: "request.method",
    406: "request.not_acceptable",
    408: "request.too_slow",
    413: "request.too_large",
    415: "request.media_type",
    422: "request.invalid",
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request was refused. `detail` is a sentence for people, `code` is stable and for programs.

    Some codes bring members of their own along: the plan to confirm, the ways to sign in.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: str = ""
    hint: str = ""
    errors: list[FieldError] = []
    request_id: str = ""


class Refusal(msgspec.Struct, frozen=True):
    """A problem, the members its code brings along, and the headers that go with it."""

    problem: Problem
    headers: dict[str, str] = {}
    more: dict[str, Any] = {}

    def body(self, path: str, request_id: str) -> bytes:
        shown = msgspec.structs.replace(self.problem, instance=path, request_id=request_id)
        return msgspec.json.encode({**self.more, **msgspec.to_builtins(shown)})


class RefusedRequest(Exception):
    """A request that the surface itself refuses, before any operation was asked."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        hint: str = "",
        *,
        headers: dict[str, str] | None = None,
        errors: list[FieldError] | None = None,
        more: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.hint = status, code, detail, hint
        self.headers, self.errors, self.more = headers or {}, errors or [], more or {}


def problem(status: int, code: str, detail: str, hint: str = "", **more: Any) -> Problem:
    return Problem(f"/problems/{code}", HTTPStatus(status).phrase, status, detail, code, hint=hint, **more)


def refusal_of(error: Exception) -> Refusal:
    """What an exception is told as."""
    match error:
        case RefusedRequest():
            shown = problem(error.status, error.code, error.detail, error.hint, errors=error.errors)
            return Refusal(shown, error.headers, error.more)
        case ConfirmationRequiredError():
            return Refusal(problem(423, error.code, str(error), error.hint), more=error.data)
        case RejectedError(rejection=rejection):
            return _of_rejection(rejection)
        case SchemaViolationError():
            return Refusal(problem(422, error.code, str(error), error.hint, errors=field_errors(error)))
        case DefinitionError():
            found = [FieldError(each.where(), each.reason, each.hint) for each in error.problems]
            more = {"problems": msgspec.to_builtins(error.problems)}
            return Refusal(problem(422, error.code, str(error), errors=found), more=more)
        case PerdureError():
            return _of_ours(error)
        case ValidationException():
            return Refusal(problem(422, "request.invalid", error.detail, errors=_fields(error.extra)))
        case HTTPException():
            code = _NAMES.get(error.status_code, "request.refused")
            return Refusal(problem(error.status_code, code, error.detail), dict(error.headers or {}))
        case _:
            return Refusal(problem(500, "perdure.broken", BROKEN))


def _of_rejection(rejection: Rejection) -> Refusal:
    status = EDGE_CODES[rejection.code].http_status
    code = "access.forbidden" if rejection.code == "forbidden" else f"command.{rejection.code}"
    return Refusal(problem(status, code, rejection.sentence(), rejection.hint))


def _of_ours(error: PerdureError) -> Refusal:
    status = next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 500)
    if status == 500:
        return Refusal(problem(500, "perdure.broken", BROKEN))
    headers = {"Retry-After": "1"} if status == 503 else {}
    return Refusal(problem(status, error.code, str(error), error.hint), headers)


def _fields(extra: Any) -> list[FieldError]:
    """What Litestar found wrong with parameters or a body."""
    found = extra if isinstance(extra, list) else []
    return [FieldError(str(each.get("key", "")), str(each.get("message", ""))) for each in found if each]


def answer_problem(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Litestar's way in: every exception becomes a problem, and only broken ones are logged."""
    refusal = refusal_of(_reused(request, error))
    if refusal.problem.status == 500:
        log.error("request %s %s broke", request.method, request.scope["path"], exc_info=error)
    body = refusal.body(request.scope["path"], request.scope["state"].get("request_id", ""))
    return Response(body, status_code=refusal.problem.status, media_type=MEDIA, headers=refusal.headers)


def _reused(request: Request[Any, Any, Any], error: Exception) -> Exception:
    """An operation that knows keys says that one is taken; here that is the key's fault and not the state's."""
    is_taken = isinstance(error, RejectedError) and error.rejection.code == "already_exists"
    if is_taken and "idempotency-key" in request.headers and request.route_handler.opt.get("repeats") == "domain":
        return RefusedRequest(422, "idempotency.reused", REUSED, REUSED_HINT)
    return error
