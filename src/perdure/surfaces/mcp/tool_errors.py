"""Errors of a tool: a stable code, one sentence and a hint; never a stack trace."""

from __future__ import annotations

import logging

import msgspec

from perdure.app.tasks.views import FieldError, field_errors
from perdure.errors import (
    EDGE_CODES,
    ConfirmationRequiredError,
    DefinitionError,
    FencedError,
    InvariantBroken,
    PerdureError,
    RejectedError,
    SchemaViolationError,
    StoreFullError,
    StoreUnavailableError,
    TenantBusyError,
)
from perdure.surfaces.mcp.answer_truncation import LONG_TEXT, short

log = logging.getLogger("perdure.mcp")
INVALID = EDGE_CODES["invalid"].mcp_error
INTERNAL = -32603
BROKEN = "Something broke that should not; it has been logged."
AGAIN = "Ask again with the same arguments; under the same key nothing happens twice."
MOST_ERRORS = 20


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a tool did not do what was asked. `code` is stable, `message` is for reading, `number` is the protocol's."""

    code: str
    message: str
    number: int
    hint: str = ""
    errors: list[FieldError] = []
    is_temporary: bool = False
    """The same request may succeed later."""


def refusal_of(error: Exception) -> Refusal:
    """The refusal an exception is; what nobody foresaw is logged here and said to be broken."""
    match error:
        case ConfirmationRequiredError():
            return _refusal(error.code, str(error), EDGE_CODES["blocked"].mcp_error, error.rejection.hint)
        case RejectedError(rejection=rejection):
            number = EDGE_CODES[rejection.code].mcp_error
            return _refusal(f"command.{rejection.code}", str(error), number, rejection.hint)
        case msgspec.ValidationError():
            return _arguments(error)
        case SchemaViolationError():
            return _refusal(error.code, str(error), INVALID, error.hint, field_errors(error))
        case DefinitionError():
            found = [FieldError(each.where(), each.reason, each.hint) for each in error.problems]
            return _refusal(error.code, str(error), INVALID, error.hint, found)
        case StoreUnavailableError() | StoreFullError() | FencedError() | TenantBusyError():
            return _refusal(error.code, str(error), INTERNAL, AGAIN, is_temporary=True)
        case PerdureError() if not isinstance(error, InvariantBroken):
            return _refusal(error.code, str(error), INVALID, error.hint)
        case _:
            log.error("a tool broke", exc_info=error)
            return Refusal("perdure.broken", BROKEN, INTERNAL)


def _arguments(error: msgspec.ValidationError) -> Refusal:
    """Arguments that are not what the tool's schema says."""
    reason, _, place = str(error).partition(" - at `")
    path = place.rstrip("`") or "$"
    message = f"Expected arguments that fit the tool's schema, but at '{path}': {reason}."
    hint = "Look at the tool's input schema and ask again; nothing was done."
    return _refusal("request.invalid", message, INVALID, hint, [FieldError(path, reason)])


def _refusal(
    code: str,
    message: str,
    number: int,
    hint: str = "",
    errors: list[FieldError] | None = None,
    is_temporary: bool = False,
) -> Refusal:
    found = [FieldError(each.path, short(each.message), short(each.hint)) for each in (errors or [])[:MOST_ERRORS]]
    return Refusal(code, short(message, LONG_TEXT), number, short(hint), found, is_temporary)
