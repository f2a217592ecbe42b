"""Problems: what a refusal looks like to a program (RFC 9457), with a stable code and what to do next."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec

from perdure.app.tasks.views import FieldError, field_errors
from perdure.errors import (
    EDGE_CODES,
    BlobDamagedError,
    BusUnavailableError,
    ConfirmationRequiredError,
    DefinitionError,
    EffortError,
    PayloadTooLargeError,
    PerdureError,
    QuarantinedError,
    RejectedError,
    SchemaViolationError,
    StaleError,
    StoreFullError,
    StoreUnavailableError,
    TenantBusyError,
)

BROKEN = "Something broke that should not; it has been logged."
_STATUSES: dict[type[PerdureError], int] = {
    PayloadTooLargeError: 413,
    QuarantinedError: 409,
    BlobDamagedError: 409,
    StoreUnavailableError: 503,
    BusUnavailableError: 503,
    StoreFullError: 503,
    TenantBusyError: 429,
    EffortError: 422,
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


def problem(status: int, code: str, detail: str, hint: str = "", **more: Any) -> Problem:
    return Problem(f"/problems/{code}", HTTPStatus(status).phrase, status, detail, code, hint=hint, **more)


def problem_of(error: PerdureError) -> Problem:
    """The problem that an error of the platform is told as; errors nobody foresaw tell nothing of the inside."""
    match error:
        case ConfirmationRequiredError():
            return problem(423, error.code, str(error), error.hint)
        case StaleError():
            detail = f'It has changed since it was read: it is "{error.sequence}" now.'
            return problem(412, error.code, detail, error.hint)
        case RejectedError(rejection=rejection):
            code = "access.forbidden" if rejection.code == "forbidden" else f"command.{rejection.code}"
            return problem(EDGE_CODES[rejection.code].http_status, code, rejection.sentence(), rejection.hint)
        case SchemaViolationError():
            return problem(422, error.code, str(error), error.hint, errors=field_errors(error))
        case DefinitionError():
            found = [FieldError(each.where(), each.reason, each.hint) for each in error.problems]
            return problem(422, error.code, str(error), errors=found)
    status = next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), 500)
    if status == 500:
        return problem(500, "perdure.broken", BROKEN)
    return problem(status, error.code, str(error), error.hint)
