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
    DefinitionError,
    PayloadTooLargeError,
    PerdureError,
    QuarantinedError,
    RejectedError,
    SchemaViolationError,
    StoreFullError,
    StoreUnavailableError,
)

MEDIA = "application/problem+json"
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
    413: "request.too_large",
    415: "request.media_type",
    422: "request.invalid",
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request was refused. `detail` is a sentence for people, `code` is stable and for programs."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: str = ""
    hint: str = ""
    errors: list[FieldError] = []
    request_id: str = ""
    more: dict[str, Any] = {}
    """What the code itself brings along: the plan to confirm, the roles that may."""


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


def problem_of(error: Exception) -> tuple[Problem, dict[str, str]]:
    """The problem an exception is, and the headers that go with it."""
    match error:
        case RefusedRequest():
            shown = problem(
                error.status, error.code, error.detail, error.hint, errors=error.errors, more=error.more
            )  # fmt: skip
            return shown, error.headers
        case RejectedError(rejection=rejection):
            status = EDGE_CODES[rejection.code].http_status
            return problem(status, f"command.{rejection.code}", rejection.sentence(), rejection.hint), {}
        case SchemaViolationError():
            return problem(422, error.code, str(error), error.hint, errors=field_errors(error)), {}
        case DefinitionError():
            found = [FieldError(each.where(), each.reason, each.hint) for each in error.problems]
            return problem(422, error.code, str(error), errors=found), {}
        case PerdureError():
            return _of_ours(error)
        case ValidationException():
            return problem(422, "request.invalid", error.detail, errors=_fields(error.extra)), {}
        case HTTPException():
            code = _NAMES.get(error.status_code, "request.refused")
            return problem(error.status_code, code, error.detail), dict(error.headers or {})
        case _:
            return problem(500, "perdure.broken", "Something broke that should not; it has been logged."), {}


def _of_ours(error: PerdureError) -> tuple[Problem, dict[str, str]]:
    status = next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 500)
    headers = {"Retry-After": "1"} if status == 503 else {}
    detail = str(error) if status != 500 else "Something broke that should not; it has been logged."
    return problem(status, error.code if status != 500 else "perdure.broken", detail, error.hint), headers


def _fields(extra: Any) -> list[FieldError]:
    """What Litestar found wrong with parameters or a body."""
    found = extra if isinstance(extra, list) else []
    return [FieldError(str(each.get("key", "")), str(each.get("message", ""))) for each in found if each]


def answer_problem(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Litestar's way in: every exception becomes a problem, and only broken ones are logged."""
    shown, headers = problem_of(error)
    request_id = request.scope["state"].get("request_id", "")
    if shown.status == 500:
        log.error("request %s %s broke", request.method, request.url.path, exc_info=error)
    body = msgspec.json.encode(msgspec.structs.replace(shown, instance=request.url.path, request_id=request_id))
    return Response(body, status_code=shown.status, media_type=MEDIA, headers=headers)
