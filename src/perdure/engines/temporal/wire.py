"""Values between our processes and the workflow of an instance; they hold hashes of payloads, never payloads."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from perdure.bpmn.machine.commands import Command
from perdure.errors import Rejection
from perdure.journal import Origin

WORKFLOW = "perdure.instance"
DECIDE = "decide"
STATUS = "status"
JOBS_ACTIVITY = "perdure.jobs"
SHADOW = "perdure.shadow"
TELL_ACTIVITY = "perdure.tell"
WIRE_VERSION = 1


class Dispatch(msgspec.Struct, frozen=True, kw_only=True):
    """A command on its way to the workflow of an instance. Its id is stable: however often it is sent, it counts once.

    It was prepared for the instance at `expected`, which our journal therefore has.
    """

    id: str
    expected: int
    origin: Origin
    command: Command
    definition: bytes = b""
    """The definition that a start or a migration leads to, as stored; its hash is the command's `definition`."""
    wire: int = WIRE_VERSION


class Made(msgspec.Struct, frozen=True):
    """One decision of the workflow. `record` holds its entries as the journal encodes them."""

    sequence: int
    at: int
    dispatch: str
    origin: Origin
    record: bytes
    answer: str
    keeps: bool = True
    refusal: Rejection | None = None


class Reply(msgspec.Struct, frozen=True):
    """What became of a dispatch; `made` are the decisions after the version it was prepared for, in order."""

    outcome: Literal["decided", "quiet", "moved", "refused"]
    version: int
    answer: str = ""
    made: tuple[Made, ...] = ()
    rejection: Rejection | None = None
    sequence: int = 0
    """The decision that the dispatch led to."""


class Known(NamedTuple):
    """What a dispatch led to, as the workflow remembers it."""

    sequence: int
    answer: str


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """All that a run of the workflow begins with: nothing for a new instance, everything after continue-as-new."""

    instance: bytes
    tenant: str
    semantics: int
    version: int = 0
    state: bytes = b""
    definitions: dict[bytes, bytes] = {}
    outbox: tuple[Made, ...] = ()
    known: dict[str, Known] = {}
    runs: int = 1
    has_attributes: bool = False
    """Whether the server has the search attributes."""
    is_encrypted: bool = False
    """Whether search attributes may not tell what it waits for."""
    certificate: bytes = b""
    """The hash of what was moved here, where the instance began on another engine."""
    grace_seconds: float = 5.0
    max_decisions: int = 800
    """Decisions after which a run is continued as a new one."""
    engine: str = "temporal"
    """The name of the engine that the workflow is a part of."""
    wire: int = WIRE_VERSION


class JobsAsked(msgspec.Struct, frozen=True):
    """Jobs that became ready together, in order, with the decisions that our journal may not have yet."""

    tenant: str
    instance: bytes
    nodes: tuple[int, ...]
    made: tuple[Made, ...] = ()


class ShadowJournal(msgspec.Struct, frozen=True):
    """The records of an instance, oldest first."""

    records: tuple[bytes, ...]


class Telling(msgspec.Struct, frozen=True):
    """Decisions for our journal."""

    tenant: str
    instance: bytes
    made: tuple[Made, ...]


_encoder = msgspec.msgpack.Encoder()


def encode(value: Any) -> bytes:
    return _encoder.encode(value)


read_dispatch = msgspec.msgpack.Decoder(Dispatch).decode
read_reply = msgspec.msgpack.Decoder(Reply).decode
read_begun = msgspec.msgpack.Decoder(Begun).decode
read_jobs = msgspec.msgpack.Decoder(JobsAsked).decode
read_shadow = msgspec.msgpack.Decoder(ShadowJournal).decode
read_telling = msgspec.msgpack.Decoder(Telling).decode
