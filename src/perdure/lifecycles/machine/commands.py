"""Commands to a lifecycle instance. What has to be read for one was read before, and is checked by round and hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from perdure.lifecycles.machine.definition import Lifecycle


class Material(msgspec.Struct, frozen=True):
    """The definition and the context that an instance is decided by, each with the hash it is pinned by."""

    definition: Lifecycle
    hash: bytes
    context: Mapping[str, Any]
    context_hash: bytes


class View(msgspec.Struct, frozen=True):
    """Material with the facts that were read for one round; `hash` is that of what is kept of them, a payload."""

    material: Material
    round: int
    facts: Mapping[str, Any]
    hash: bytes = b""
    kept: bytes = b""
    told: tuple[str, ...] = ()
    """The keys of facts whose changes are told."""
    heard: frozenset[str] = frozenset()
    """The notices of such changes that were there before the facts were read."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    material: Material
    number: int
    subject: str
    event: str = ""
    """The event that began it, where no person did."""
    depth: int = 0


class Evaluate(msgspec.Struct, frozen=True, kw_only=True):
    """Judge requirements and automatic transitions by these facts, and go on where they allow it."""

    view: View


class Transit(msgspec.Struct, frozen=True, kw_only=True):
    """A person takes a transition, or agrees to the one another person proposed."""

    view: View
    target: str
    reason: str = ""


class PassDeadline(msgspec.Struct, frozen=True, kw_only=True):
    view: View
    due: int


class RequestTask(msgspec.Struct, frozen=True, kw_only=True):
    """A person asks for the resolution of a blocker; where a verb is named, by that verb and no other."""

    view: View
    key: str
    verb: str = ""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """A person asks for an action of the present state."""

    material: Material
    action: str
    verb: str = ""


class RetryTask(msgspec.Struct, frozen=True, kw_only=True):
    """A person asks again for what failed or expired, however often it was asked for."""

    view: View
    number: int


class DismissTask(msgspec.Struct, frozen=True, kw_only=True):
    """A person says that nothing more is to be done about an action that failed."""

    number: int
    reason: str


class CargoItem(msgspec.Struct, frozen=True):
    """One piece of a result: a pointer, or why there is none."""

    cargo_ref: str = ""
    cargo_type: str = ""
    status: Literal["completed", "failed"] = "completed"
    error: str = ""


class ReceiveResult(msgspec.Struct, frozen=True, kw_only=True):
    """A task result. `context` is the hash of the context with the cargo in it, made from `base`."""

    correlation_id: str
    status: Literal["completed", "failed", "expired"]
    items: tuple[CargoItem, ...]
    error: str
    base: bytes
    context: bytes
    message_id: str


class CloseTask(msgspec.Struct, frozen=True, kw_only=True):
    """The call of a resolution could not begin, failed, or is all there is to its task."""

    correlation_id: str
    status: Literal["completed", "failed"]
    reason: str


class ExpireTask(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    due: int


class Cancel(msgspec.Struct, frozen=True, kw_only=True):
    reason: str


class LookAgain(msgspec.Struct, frozen=True, kw_only=True):
    """Look at the facts once more, also when it is stuck."""


class Migrate(msgspec.Struct, frozen=True, kw_only=True):
    """Go on under another version; `state` is where, `material` the new definition, `before` the present one."""

    material: Material
    before: Lifecycle
    before_hash: bytes
    number: int
    state: str
    reason: str


class Erase(msgspec.Struct, frozen=True, kw_only=True):
    reason: str


LifecycleCommand = (
    Start
    | Evaluate
    | Transit
    | PassDeadline
    | RequestTask
    | Act
    | RetryTask
    | DismissTask
    | ReceiveResult
    | CloseTask
    | ExpireTask
    | Cancel
    | LookAgain
    | Migrate
    | Erase
)
