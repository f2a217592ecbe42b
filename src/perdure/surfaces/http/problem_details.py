"""Problem details (RFC 9457): one shape for every error, with a stable code and a hint."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from perdure.app.problem_details import BROKEN, Problem, problem, problem_of
from perdure.app.processes.review import RefusedModelError
from perdure.app.tasks.views import FieldError
from perdure.errors import ConfirmationRequiredError, DefinitionError, PerdureError, RejectedError, StaleError

MEDIA = "application/problem+json"
REUSED = "This Idempotency-Key came with another request before."
REUSED_HINT = "Use a new key for a new request."
log = logging.getLogger("perdure.http")

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


def refusal_of(error: Exception) -> Refusal:
    """What an exception is told as."""
    match error:
        case RefusedRequest():
            shown = problem(error.status, error.code, error.detail, error.hint, errors=error.errors)
            return Refusal(shown, error.headers, error.more)
        case PerdureError():
            return _of_ours(error)
        case ValidationException():
            return Refusal(problem(422, "request.invalid", error.detail, errors=_fields(error.extra)))
        case HTTPException():
            code = _NAMES.get(error.status_code, "request.refused")
            return Refusal(problem(error.status_code, code, error.detail), dict(error.headers or {}))
        case _:
            return Refusal(problem(500, "perdure.broken", BROKEN))


def _of_ours(error: PerdureError) -> Refusal:
    shown = problem_of(error)
    match error:
        case ConfirmationRequiredError():
            return Refusal(shown, more=error.data)
        case StaleError():
            return Refusal(shown, {"ETag": f'"{error.sequence}"'})
        case RefusedModelError():
            return _of_model(shown, error)
        case DefinitionError():
            return Refusal(shown, more={"problems": msgspec.to_builtins(error.problems)})
    return Refusal(shown, {"Retry-After": "1"} if shown.status == 503 else {})


def _of_model(shown: Problem, error: RefusedModelError) -> Refusal:
    found = [FieldError(each.field or each.where(), each.reason, each.hint) for each in error.problems]
    more = {**msgspec.to_builtins(error.review), "problems": msgspec.to_builtins(error.problems)}
    hint = "Mend the model and send it again."
    return Refusal(msgspec.structs.replace(shown, hint=hint, errors=found), more=more)


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
