"""Problems of a server as errors: the same classes and sentences that the platform raises."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from perdure.errors import (
    ConfirmationRequiredError,
    DamagedPayloadError,
    DefinitionError,
    EffortError,
    ModelError,
    PayloadTooLargeError,
    PerdureError,
    Problem,
    ProgramError,
    QuarantinedError,
    RejectedError,
    Rejection,
    RejectionCode,
    SchemaViolationError,
    StoreFullError,
    StoreUnavailableError,
    TenantBusyError,
)
from perdure.typed_reading import convert

RETRIED = frozenset({429, 502, 503, 504})
"""Statuses that pass: asking again is right."""
RUNNING = "idempotency.running"
"""What was asked before is still being done: asking again brings its answer."""

_SENTENCE = re.compile(r"Expected to (?P<words>.*?) '(?P<id>.*?)', but (?P<fact>.*)\.", re.DOTALL)
_CODES: dict[str, RejectionCode] = {
    "command.invalid": "invalid", "command.not_found": "not_found", "command.already_exists": "already_exists",
    "command.wrong_state": "wrong_state", "command.blocked": "blocked", "access.forbidden": "forbidden",
    "access.unauthenticated": "forbidden", "key.exists": "already_exists", "idempotency.reused": "already_exists",
}  # fmt: skip
_STATUSES: dict[int, RejectionCode] = {
    401: "forbidden", 403: "forbidden", 404: "not_found", 409: "wrong_state", 410: "not_found", 412: "wrong_state",
    423: "blocked",
}  # fmt: skip
_OURS: dict[str, type[PerdureError]] = {
    kind.code: kind
    for kind in (
        DamagedPayloadError, EffortError, PayloadTooLargeError, QuarantinedError, StoreFullError,
        StoreUnavailableError, TenantBusyError,
    )
}  # fmt: skip
_DEFINITIONS: dict[str, type[DefinitionError]] = {
    kind.code: kind for kind in (DefinitionError, ModelError, ProgramError)
}  # fmt: skip
_MEMBERS = frozenset({"type", "title", "status", "detail", "code", "instance", "hint", "errors", "request_id"})


class Told(NamedTuple):
    """A problem as a server told it; `more` are the members that its code brings along."""

    status: int
    code: str
    detail: str
    hint: str
    errors: list[dict[str, Any]]
    more: dict[str, Any]


class Words(NamedTuple):
    """The parts of the one sentence that errors are written in."""

    do: str
    thing: str
    id: str
    fact: str
    hint: str


def read_problem(status: int, body: bytes) -> Told:
    """The problem of an answer; what stands between us and the server may say it otherwise."""
    try:
        said = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or "detail" not in said:
        return Told(status, "", f"it answered {status} and nothing that can be read", "", [], {})
    more = {name: value for name, value in said.items() if name not in _MEMBERS}
    found = [each for each in said.get("errors") or [] if isinstance(each, dict)]
    return Told(status, str(said.get("code", "")), str(said["detail"]), str(said.get("hint", "")), found, more)


def error_of(told: Told, asked: str) -> PerdureError:
    """The error that the same operation would have raised beside the store; `asked` is what was asked for."""
    words = words_of(told, asked)
    if told.code in _DEFINITIONS and told.more.get("problems"):
        return _definition_error(told)
    if told.code == ConfirmationRequiredError.code:
        return ConfirmationRequiredError(Rejection("blocked", *words), **told.more)
    if told.code == SchemaViolationError.code:
        return SchemaViolationError(*words, violations=[_violation(each) for each in told.errors])
    if told.code in _OURS:
        return _OURS[told.code](*words)
    if told.status == 413:
        return PayloadTooLargeError(*words)
    if told.status in RETRIED:
        return StoreUnavailableError(*words)
    if told.status >= 500:
        return PerdureError(*words)
    code = _CODES.get(told.code) or _STATUSES.get(told.status, "invalid")
    refused = RejectedError(Rejection(code, *words))
    refused.data = {**told.more, "code": told.code}
    return refused


def words_of(told: Told, asked: str) -> Words:
    """The sentence in its parts, so that it reads the same when it is put together again."""
    detail = told.detail.removesuffix(f" {told.hint}") if told.hint else told.detail
    found = _SENTENCE.fullmatch(detail)
    if found is None:
        fact = detail.rstrip(".")
        fields = "; ".join(f"{each.get('path', '')}: {each.get('message', '')}" for each in told.errors)
        fact = f"{fact} ({fields})" if fields else fact
        return Words("ask", "server", asked, fact[:1].lower() + fact[1:], told.hint)
    do, _, thing = found["words"].rpartition(" ")
    return Words(do, thing, found["id"], found["fact"], told.hint)


def _definition_error(told: Told) -> DefinitionError:
    problems = convert(told.more["problems"], list[Problem])
    kind = _DEFINITIONS[told.code]
    return ProgramError(problems, told.detail) if kind is ProgramError else kind(problems)


def _violation(found: Mapping[str, Any]) -> dict[str, Any]:
    return {"path": found.get("path", ""), "reason": found.get("message", ""), "hint": found.get("hint", "")}
