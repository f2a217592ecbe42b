"""Task results: one shape, whichever door they came by; cargo is always a pointer, and of the same tenant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from perdure.errors import PerdureError, RejectedError, Rejection
from perdure.identifiers import MAX_KEY_BYTES, key_fault
from perdure.lifecycles.machine.commands import CargoItem
from perdure.lifecycles.machine.state import Task
from perdure.payload import canonical, digest, parse
from perdure.typed_reading import convert

Status = Literal["completed", "failed", "expired"]
SCHEMES = ("document", "version", "entity", "screening", "external")
RESULT = "task_result:"
"""The word before the key of a requirement, under which the context holds what came of its task."""
MAX_REFERENCE = 500
MAX_ITEMS = 1000
MAX_BYTES = 1024 * 1024
ALIASES = {"task_id": "correlation_id"}
IGNORED = frozenset({"timestamp", "queued_at", "created_at"})
"""Fields of the source that say when a result was sent: the journal says when it was counted."""
_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_REFERENCE = re.compile(r"([a-z][a-z0-9+.-]*)://([^/\s]+)/(\S+)")


class TaskResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came of a pending task: one piece of cargo, or a bundle of `items`.

    The same `idempotency_key` for the same task counts once; without one, the same content does.
    """

    correlation_id: str
    status: Status
    cargo_type: str = ""
    cargo_ref: str = ""
    error: str = ""
    items: tuple[CargoItem, ...] = ()
    verb: str = ""
    idempotency_key: str = ""

    def all_items(self) -> tuple[CargoItem, ...]:
        """A single piece is a bundle of one."""
        return self.items or ((CargoItem(self.cargo_ref, self.cargo_type),) if self.cargo_ref else ())

    def _said(self) -> list[Any]:
        """What it says, however a door has it: alone or as a bundle of one, with the verb or without."""
        pieces = [
            [each.cargo_ref, each.cargo_type or each.cargo_ref.partition("://")[0], each.status, each.error]
            for each in self.all_items()
        ]
        return [self.status, self.error, pieces]

    @property
    def message_id(self) -> str:
        """Under which the inbox knows it: once per task and key."""
        own = self.idempotency_key or digest(canonical(self._said())).hex()
        found = f"task:{self.correlation_id}:{own}"
        if len(found.encode()) > MAX_KEY_BYTES:
            return f"task:{digest(found.encode()).hex()}"
        return found


def read_result(body: bytes) -> TaskResult:
    """A result from the JSON of a message; raises a rejection that says what is wrong with it."""
    try:
        found = parse(body, max_bytes=MAX_BYTES)
    except (PerdureError, ValueError, RecursionError) as error:
        raise _unreadable(f"its body is no JSON: {error}"[:300]) from error
    if not isinstance(found, dict):
        raise _unreadable("its body is no JSON object")
    return result_of(found)


def result_of(fields: Mapping[str, Any]) -> TaskResult:
    """A result from its fields: `correlation_id`, `correlation-id` and `correlationId` are one, so is `task_id`.

    A status may begin with a capital letter; a bundle of `items` may be JSON in a text; null is nothing.
    """
    named = {_field(name): value for name, value in fields.items() if value is not None}
    named = {name: value for name, value in named.items() if name not in IGNORED}
    items = named.get("items")
    if isinstance(items, str):
        named["items"] = items = _decoded(items) if items else []
    if isinstance(items, list) and len(items) > MAX_ITEMS:
        raise _unreadable(f"it has more than {MAX_ITEMS} pieces of cargo")
    if isinstance(items, list):
        named["items"] = [
            _lowered({_field(name): value for name, value in each.items() if value is not None})
            if isinstance(each, Mapping)
            else each
            for each in items
        ]
    try:
        result = convert(_lowered(named), TaskResult)
    except msgspec.ValidationError as error:
        raise _unreadable(f"it is no task result: {error}"[:300]) from error
    texts = [result.idempotency_key, result.verb, result.error, *(each.error for each in result.all_items())]
    texts += [text for each in result.all_items() for text in (each.cargo_ref, each.cargo_type)]
    fault = key_fault(result.correlation_id) or ("it contains NUL" if any("\0" in each for each in texts) else "")
    if fault:
        raise _bad(result, fault, "")
    return result


def correlation_of(fields: Mapping[str, Any]) -> str:
    """The correlation id among fields that may be no result otherwise; empty where there is none to be kept."""
    named = (value for name, value in fields.items() if _field(name) == "correlation_id")
    found = next((each for each in named if isinstance(each, str)), "")
    return "" if key_fault(found) else found


def _field(name: str) -> str:
    """The name of a field as this release spells it."""
    plain = _CAPITAL.sub(r"_\1", name).replace("-", "_").lower()
    return ALIASES.get(plain, plain)


def _lowered(fields: dict[str, Any]) -> dict[str, Any]:
    status = fields.get("status")
    return {**fields, "status": status.lower()} if isinstance(status, str) else fields


def _decoded(text: str) -> Any:
    try:
        return parse(text.encode(), max_bytes=MAX_BYTES)
    except (PerdureError, ValueError, RecursionError) as error:
        raise _unreadable("its items are no JSON") from error


def check_result(result: TaskResult, tenant: str) -> None:
    """Raises a rejection for cargo that is no pointer, or one into another tenant."""
    if result.items and (result.cargo_ref or result.cargo_type):
        raise _bad(result, "it has both one piece of cargo and a bundle", "Send `items` alone.")
    items = result.all_items()
    if len(items) > MAX_ITEMS:
        raise _bad(result, f"it has more than {MAX_ITEMS} pieces of cargo", "Send several results.")
    for item in items:
        if item.status == "completed":
            _check_reference(result, item, tenant)


def _check_reference(result: TaskResult, item: CargoItem, tenant: str) -> None:
    shown = item.cargo_ref[:80]
    match = _REFERENCE.fullmatch(item.cargo_ref)
    if match is None or len(item.cargo_ref) > MAX_REFERENCE:
        hint = "Store the cargo first and send where it is: document://<tenant>/<id>."
        raise _bad(result, f"its cargo '{shown}' is not a pointer", hint)
    scheme, owner, _ = match.groups()
    if scheme not in SCHEMES:
        raise _bad(result, f"its cargo '{shown}' has an unknown scheme", f"Use one of {', '.join(SCHEMES)}.")
    if scheme != "external" and owner != tenant:
        raise _bad(result, f"its cargo '{shown}' belongs to another tenant", "")


def _unreadable(fact: str) -> RejectedError:
    hint = "Send correlation_id, status and cargo_ref, or a bundle of items."
    return RejectedError(Rejection("invalid", "read", "task result", "", fact, hint))


def _bad(result: TaskResult, fact: str, hint: str) -> RejectedError:
    return RejectedError(Rejection("invalid", "complete", "task", result.correlation_id[:200], fact, hint))


def with_cargo(context: Mapping[str, Any], task: Task, result: TaskResult) -> dict[str, Any]:
    """The context with what came under `task_result:<key>`, once all of it is there: half a bundle opens no guard."""
    pieces = [each for each in result.all_items() if each.status == "completed"]
    if result.status != "completed" or not pieces or task.received + len(pieces) < task.expected:
        return dict(context)
    came = [{"cargo_ref": each, "cargo_type": each.partition("://")[0]} for each in task.cargo]
    came += [{"cargo_ref": each.cargo_ref, "cargo_type": each.cargo_type} for each in pieces]
    return {**context, f"{RESULT}{task.key}": {**came[-1], "items": came}}
