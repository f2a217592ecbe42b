"""Instances: how one is named, started, followed and migrated, whichever engine carries it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from perdure.sources import Id
from perdure.verb_contract import ConsequenceTier

Flags = Mapping[str, str | bool | int]
InstanceName = Id | str
"""An instance by its id, or by the letters people see."""
Until = Literal["committed", "rest", "end"]
"""How long a caller waits: until it is durable, until only people, messages or time move it on, until it has ended."""


class StartRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What begins an instance. At most one of `idempotency_key` and `parent` names it for repeats.

    `start` is the start event that occurred, empty for none events; without a `version` it is the latest.
    """

    process: str
    version: int | None = None
    data: Mapping[str, Any] | None = None
    flags: Flags | None = None
    start: str = ""
    business_key: str = ""
    idempotency_key: str = ""
    parent: str = ""
    agreed: ConsequenceTier | Literal[""] = ""
    """The consequence that was agreed to; default: of all that the process can reach as deployed now."""


class Told(NamedTuple):
    """One record of an instance's history."""

    sequence: int
    at: int
    entries: tuple[Any, ...]


class LifecycleEvent(NamedTuple):
    """One record of an instance in the order of commits; `position` is the place to go on from."""

    position: int
    instance: Id
    sequence: int
    at: int
    entries: tuple[Any, ...]


class Move(msgspec.Struct, frozen=True):
    """A token before and after a migration."""

    token: int
    before: str
    after: str


class NewVerb(msgspec.Struct, frozen=True):
    """A task that waits for a worker, or is under way, and has another verb after a migration."""

    token: int
    element: str
    before: str
    after: str
    is_running: bool = False
    """Under way: it ends as what it began as, and is given to the new verb only if it has to be given again."""


class MovePlan(msgspec.Struct, frozen=True):
    """What moving an instance to another engine does, or would do."""

    instance: str
    process: str
    carrier: str
    """The engine that carries it now."""
    to: str
    version: int
    """The records of its journal that were looked at; the move is the next one."""
    state: str
    waits: tuple[str, ...] = ()
    """Messages, signals, tasks and conditions that go on waiting there, as `kind:name`."""
    timers: int = 0
    jobs: int = 0
    """Jobs that are ready and begin there."""
    shadow: Literal["", "equal"] = ""
    """Whether the journal was replayed on the target, and led to the same state."""
    certificate: str = ""
    """The hash of all this with the heads of data and journal, in the record of the move."""
    is_dry: bool = True


class MigrationPlan(msgspec.Struct, frozen=True):
    """What a migration does, or would do: where tokens go, which waits go on as they are, which verbs change."""

    instance: str
    process: str
    version: int
    hash: str
    moves: tuple[Move, ...] = ()
    kept_timers: tuple[str, ...] = ()
    kept_messages: tuple[str, ...] = ()
    ended_waits: tuple[str, ...] = ()
    new_waits: tuple[str, ...] = ()
    is_dry: bool = True
    new_verbs: tuple[NewVerb, ...] = ()
    goes_around: tuple[str, ...] = ()
    """Tasks that it leaves behind without their answer: somebody who could answer them has to agree."""
