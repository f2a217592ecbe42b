"""Problem details (RFC 9457): one shape for every error, with a stable code and a hint."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.problem_details import BROKEN, Problem, problem, problem_of
from perdure.app.processes.model_review import RefusedModelError
from perdure.app.tasks.views import FieldError
from perdure.errors import ConfirmationRequiredError, DefinitionError, PerdureError, StaleError

MEDIA = "application/problem+json"
REUSED = "This Idempotency-Key came with another request before."
REUSED_HINT = "Use a new key for a new request."


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


class InvalidRequest(RefusedRequest):
    """A request whose fields do not fit."""

    def __init__(self, detail: str, errors: list[FieldError]) -> None:
        super().__init__(422, "request.invalid", detail, errors=errors)


def unknown_path() -> RefusedRequest:
    return RefusedRequest(404, "request.unknown_path", "Not Found")


def refusal_of(error: Exception) -> Refusal:
    """What an exception is told as."""
    match error:
        case RefusedRequest():
            shown = problem(error.status, error.code, error.detail, error.hint, errors=error.errors)
            return Refusal(shown, error.headers, error.more)
        case PerdureError():
            return _of_ours(error)
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
