"""The access machine: keys are made and revoked, sessions are ended, and every such act is an entry.

| a key | opens |
|---|---|
| good | what its principal's roles allow, narrowed to its verbs and operations |
| expired | nothing, from the moment it was made for |
| revoked | nothing, ever again |

| a session | lasts |
|---|---|
| begun | until it expires, its key opens nothing any more, or somebody signs out |
| ended | no longer, whoever still shows its cookie |

Of the keys that open nothing any more only the newest are remembered here; the journal has them all.
"""

from __future__ import annotations

from hashlib import sha256
from typing import ClassVar, assert_never

import msgspec
from msgspec.structs import replace

from perdure.access.api_key_state import STATE_VERSION, AccessState, Compact, EndedSession, Grant, Key
from perdure.access.grant_checks import grant_fault, text_fault
from perdure.access.principal_names import confusable_fault
from perdure.errors import InvariantBroken, Rejection
from perdure.identifiers import Id
from perdure.journal import NO_ROWS, Decision, Notice, Origin, RecordCodec, Rows, grown, read_form

ENTRY_VERSION = 2
UPCASTERS = (grown(1),)
MAX_KEYS = 1000
"""How many good keys a tenant may have."""
MAX_REMEMBERED = 2 * MAX_KEYS
"""How many keys are remembered, those that open nothing any more included."""
MAX_ENDED = 5000
"""How many ended sessions are remembered one by one."""


class CreateKey(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    digest: bytes
    grant: Grant
    makers: tuple[str, ...] = ()


class RevokeKey(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    reason: str = ""


class EndSession(msgspec.Struct, frozen=True, kw_only=True):
    session: EndedSession


AccessCommand = CreateKey | RevokeKey | EndSession


class KeyCreated(Compact, frozen=True, tag=1):
    id: str
    digest: bytes
    grant: Grant
    at: int
    by: str
    makers: tuple[str, ...] = ()


class KeyRevoked(Compact, frozen=True, tag=2):
    id: str
    at: int
    by: str
    reason: str = ""


class SessionEnded(Compact, frozen=True, tag=3):
    session: EndedSession
    at: int
    by: str


AccessEntry = KeyCreated | KeyRevoked | SessionEnded


def access_id(tenant: str) -> Id:
    """The aggregate that holds a tenant's keys: the same wherever it is asked for."""
    return Id(sha256(f"{tenant}\0access".encode()).digest()[:16])


_STATE = msgspec.msgpack.Decoder(AccessState)


class AccessMachine:
    """Pure: the same state, command and time always give the same entries."""

    kind: ClassVar[str] = "access"
    semantics: ClassVar[int] = 1

    def __init__(self) -> None:
        self.records: RecordCodec[AccessEntry] = RecordCodec(AccessEntry, ENTRY_VERSION, UPCASTERS)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = _STATE

    def decide(
        self, id: bytes, state: AccessState | None, command: AccessCommand, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection:
        before = state or AccessState()
        match command:
            case CreateKey():
                return self._create(before, command, origin.principal, now)
            case RevokeKey():
                return self._revoke(before, command, origin.principal, now)
            case EndSession():
                if command.session in before.ended or command.session.signed_in_at <= before.ended_before:
                    return Decision((), "replayed")
                return Decision((SessionEnded(command.session, now, origin.principal),), "ended")
            case _:
                assert_never(command)

    def _create(self, state: AccessState, command: CreateKey, by: str, now: int) -> Decision | Rejection:
        name = command.grant.name
        known = state.key(command.id)
        if known is not None and (known.digest, known.grant) == (command.digest, command.grant):
            return Decision((), "replayed")
        if fault := grant_fault(command.grant, now):
            return Rejection("invalid", "make", "key", name[:80], fault.fact, fault.hint)
        good = [each for each in state.keys if each.is_good(now)]
        if fact := confusable_fault(command.grant.principal, (each.grant.principal for each in good)):
            return Rejection("invalid", "make", "key", name[:80], fact, "Choose another name.")
        if any(each.grant.name == name for each in good):
            hint = "Choose another name, or revoke that one."
            return Rejection("already_exists", "make", "key", name, "a good key has that name", hint)
        if len(good) >= MAX_KEYS:
            fact = f"there are {MAX_KEYS:,} good keys already"
            return Rejection("blocked", "make", "key", name, fact, "Revoke some that are not used any more.")
        return Decision((KeyCreated(command.id, command.digest, command.grant, now, by, command.makers),), "created")

    def _revoke(self, state: AccessState, command: RevokeKey, by: str, now: int) -> Decision | Rejection:
        known = state.key(command.id)
        if known is None:
            return no_such_key("revoke", command.id)
        if fault := text_fault("reason", command.reason, may_be_empty=True):
            return Rejection("invalid", "revoke", "key", command.id, fault.fact)
        if known.revoked_at:
            return Decision((), "replayed")
        return Decision((KeyRevoked(command.id, now, by, command.reason),), "revoked")

    def apply(self, state: AccessState | None, entry: AccessEntry) -> AccessState:
        before = state or AccessState()
        match entry:
            case KeyCreated():
                added = Key(entry.id, entry.digest, entry.grant, entry.at, entry.by, makers=entry.makers)
                return replace(before, keys=(*_remembered(before.keys, entry.at), added))
            case KeyRevoked():
                known = before.key(entry.id)
                if known is None:
                    raise InvariantBroken("apply", "entry", "KeyRevoked", "no such key has been made")
                revoked = replace(known, revoked_at=entry.at, revoked_by=entry.by, reason=entry.reason)
                return replace(before, keys=tuple(revoked if each is known else each for each in before.keys))
            case SessionEnded():
                return _with_ended(before, entry)
            case _:
                assert_never(entry)

    def rows(self, id: bytes, state: AccessState) -> Rows:
        return NO_ROWS

    def notices(self, id: bytes, state: AccessState, entries: tuple[AccessEntry, ...]) -> tuple[Notice, ...]:
        return ()

    def encode(self, state: AccessState) -> bytes:
        return self._encoder.encode(state)

    def decode(self, data: bytes) -> AccessState:
        return read_form(data, self._decoder, STATE_VERSION, UPCASTERS)

    def status(self, state: AccessState) -> tuple[str, int]:
        return "active", 0

    def payloads(self, state: AccessState) -> tuple[tuple[bytes, ...], bool]:
        return (), False


def no_such_key(do: str, id: str) -> Rejection:
    return Rejection("not_found", do, "key", id[:80], "there is no such key", "See `perdure keys list`.")


def _with_ended(state: AccessState, entry: SessionEnded) -> AccessState:
    """With one more session that has ended; where there are too many, the oldest take all that began before along."""
    open_still = sorted(
        (each for each in (*state.ended, entry.session) if each.expires_at > entry.at),
        key=lambda each: (each.signed_in_at, each.id),
    )
    forgotten = open_still[: max(0, len(open_still) - MAX_ENDED)]
    before = max((state.ended_before, *(each.signed_in_at for each in forgotten)))
    kept = tuple(each for each in open_still if each.signed_in_at > before)
    return replace(state, ended=kept, ended_before=before)


def _remembered(keys: tuple[Key, ...], now: int) -> tuple[Key, ...]:
    """Those that stay beside a new one: when there are too many, the oldest that opens nothing goes."""
    if len(keys) < MAX_REMEMBERED:
        return keys
    oldest = next((each for each in keys if not each.is_good(now)), None)
    return tuple(each for each in keys if each is not oldest)
