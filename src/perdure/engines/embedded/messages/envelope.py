"""The envelope of a message or signal in transit, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from perdure.engine.messages import NOTICE, OTHER, SIGNAL
from perdure.errors import RejectedError, Rejection, UnreadableFormError
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.payload import canonical, digest
from perdure.sources import Id, derive_id, id_text

_SENT = "/sent"
MAX_BYTES = 1024 * 1024
MAX_TTL_SECONDS = 366 * 86_400.0


class MessageEnvelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message or signal with all it brings. Kept as JSON while it may still be needed.

    `upto` bounds a broadcast to the waits there were when it began; `starts` are the processes it begins.
    """

    name: str
    message_id: str
    correlation_key: str = ""
    at: int = 0
    data: Any = None
    flags: dict[str, str | bool | int] = {}
    writer: str = ""
    principal: str = ""
    trace: str = ""
    upto: int = 0
    starts: tuple[str, ...] = ()
    thrower: str = ""
    """The instance that threw it, by its letters; empty for what came from outside."""
    behind: tuple[str, ...] = ()

    def origin(self, tenant: str) -> Origin:
        """Who sent it: what it leads to later is still theirs."""
        return Origin(tenant, self.principal, self.trace, behind=self.behind)


class CorrelationFailed(NamedTuple):
    """A message became a dead letter."""

    tenant: str
    message_id: str
    name: str
    key: str
    reason: str


_decoder = msgspec.json.Decoder(MessageEnvelope)


def body_of(letter: MessageEnvelope) -> bytes:
    """The letter as it is kept."""
    body = canonical(msgspec.to_builtins(letter))
    if len(body) > MAX_BYTES:
        fact = f"it has {len(body)} bytes and may have {MAX_BYTES}"
        raise RejectedError(Rejection("invalid", "take", "message", letter.name, fact))
    return body


def read_envelope(message_id: str, body: bytes | None) -> MessageEnvelope:
    """A letter as it was kept; UnreadableFormError when its bytes are none."""
    try:
        letter = _decoder.decode(body or b"")
    except (ValueError, RecursionError) as error:
        fact = f"its bytes cannot be read ({type(error).__name__}: {error})"
        hint = "Discard it, and have it sent again under a new message id."
        raise UnreadableFormError("read", "message", message_id, fact[:300], hint) from error
    return letter if letter.thrower else replace(letter, thrower=thrower_of_id(letter.message_id))


def check_envelope(letter: MessageEnvelope, ttl_seconds: float) -> None:
    """Refuse at the door what could not be stored, or not be read again."""
    check_key("take", "message", letter.name)
    check_key("take", "message id", letter.message_id)
    if letter.correlation_key:
        check_key("correlate by", "key", letter.correlation_key)
    fact = ""
    if letter.message_id.startswith(NOTICE) and not letter.thrower:
        fact = f"message ids that begin with '{NOTICE}' are the platform's own"
    elif not 0 <= ttl_seconds <= MAX_TTL_SECONDS:
        fact = f"its time to live of {ttl_seconds} seconds is not between 0 and {MAX_TTL_SECONDS:.0f}"
    elif letter.data is not None and not isinstance(letter.data, Mapping):
        fact = f"its data is no object but {type(letter.data).__name__}"
    if fact:
        raise RejectedError(Rejection("invalid", "take", "message", letter.name, fact))


def started_id(tenant: str, letter: MessageEnvelope, process: Id) -> Id:
    """The instance a letter begins of a process: the same however often it is delivered."""
    return derive_id(letter.at, digest(f"{tenant}\0{letter.message_id}\0{id_text(process)}".encode()))


class Namesake(Exception):
    """Another message has that id: one of another name or key."""


def namesake(kind: str, letter: MessageEnvelope) -> MessageEnvelope:
    """The letter under an id that only its name and key share, for when its own is another's."""
    place = digest(f"{kind}\0{letter.name}\0{letter.correlation_key}".encode()).hex()[:16]
    return replace(letter, message_id=f"{OTHER}{place}/{letter.message_id}")


def thrown_id(notice: str) -> str:
    """The id of what an instance sends by itself, made from that of the notice that it threw something."""
    return f"{notice}{_SENT}"


def thrower_of_id(message_id: str) -> str:
    """The thrower of a letter that was kept before letters named theirs, when the id was all that told it."""
    own = message_id.startswith(NOTICE) and message_id.endswith(_SENT)
    return message_id.removeprefix(NOTICE).partition("/")[0] if own else ""


def taken_id(message_id: str) -> str:
    """Whoever takes a kept or dead letter writes this id too: only one can."""
    return f"{NOTICE}taken/{message_id}"


def reached_id(message_id: str, instance: Id, watch: int = 0) -> str:
    """A signal's arrival at an instance, or at one more wait of it."""
    place = f"{NOTICE}{SIGNAL}/{message_id}/{id_text(instance)}"
    return f"{place}/{watch}" if watch else place
