"""Task results: one shape, whichever door they came by; cargo is always a pointer, and of the same tenant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from perdure.errors import RejectedError, Rejection
from perdure.lifecycles.machine.commands import CargoItem
from perdure.lifecycles.machine.state import Task
from perdure.payload import canonical, digest

Status = Literal["completed", "failed", "expired"]
SCHEMES = ("document", "version", "entity", "screening", "external")
RESULT = "task_result:"
"""The word before the key of a requirement, under which the context holds what came of its task."""
MAX_REFERENCE = 500
MAX_ITEMS = 1000
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

    @property
    def message_id(self) -> str:
        """Under which the inbox knows it: once per task and key."""
        own = self.idempotency_key or digest(canonical(msgspec.to_builtins(self))).hex()
        return f"task:{self.correlation_id}:{own}"


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
