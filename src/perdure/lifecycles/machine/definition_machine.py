"""The machine of deployed lifecycles: versions are numbered, never changed, and can be retired."""

from __future__ import annotations

from hashlib import sha256
from typing import ClassVar, Literal, assert_never

import msgspec
from msgspec.structs import replace

from perdure.errors import InvariantBroken, Rejection
from perdure.identifiers import Id
from perdure.journal import NO_ROWS, Decision, Notice, Origin, RecordCodec, Rows, Upcaster, read_form
from perdure.journal.facts import EVENT, fact_key, fact_rows
from perdure.lifecycles.machine.state import Compact

STATE_VERSION = ENTRY_VERSION = 1
UPCASTERS: tuple[Upcaster, ...] = ()
VersionStatus = Literal["active", "retired"]
MAX_VERSIONS = 10_000


class LifecycleVersion(Compact, frozen=True):
    """One version of a definition; its content is a payload under its hash."""

    number: int
    hash: bytes
    label: str
    at: int
    by: str
    status: VersionStatus = "active"
    event: str = ""
    """The event that begins instances."""


class LifecycleVersions(msgspec.Struct, frozen=True, array_like=True):
    """All versions of one lifecycle, oldest first."""

    version: int
    lifecycle: str
    versions: tuple[LifecycleVersion, ...] = ()

    def with_hash(self, hash: bytes) -> LifecycleVersion | None:
        return next((each for each in self.versions if each.hash == hash), None)

    def number(self, number: int) -> LifecycleVersion | None:
        return next((each for each in self.versions if each.number == number), None)

    def latest(self) -> LifecycleVersion | None:
        """The newest version that new instances take."""
        return next((each for each in reversed(self.versions) if each.status == "active"), None)


class DeployLifecycle(msgspec.Struct, frozen=True, kw_only=True):
    lifecycle: str
    hash: bytes
    label: str
    event: str = ""


class RetireLifecycle(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    reason: str


class LifecycleDeployed(Compact, frozen=True, tag=1):
    """A version of a definition was deployed, or one that was retired is taken again."""

    lifecycle: str
    number: int
    hash: bytes
    label: str
    at: int
    by: str
    event: str = ""


class LifecycleRetired(Compact, frozen=True, tag=2):
    """No instance begins under a version any more."""

    number: int
    reason: str
    at: int
    by: str


DefinitionEntry = LifecycleDeployed | LifecycleRetired


def definition_id(tenant: str, lifecycle: str) -> Id:
    """The aggregate that holds the versions of a lifecycle: the same wherever it is asked for."""
    return Id(sha256(f"{tenant}\0lifecycle\0{lifecycle}".encode()).digest()[:16])


_STATE = msgspec.msgpack.Decoder(LifecycleVersions)


class LifecycleDefinitionMachine:
    """Pure: the same state, command and time always give the same entries."""

    kind: ClassVar[str] = "lifecycle_definition"
    semantics: ClassVar[int] = 1

    def __init__(self) -> None:
        self.records: RecordCodec[DefinitionEntry] = RecordCodec(DefinitionEntry, ENTRY_VERSION, UPCASTERS)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = _STATE

    def decide(
        self,
        id: bytes,
        state: LifecycleVersions | None,
        command: DeployLifecycle | RetireLifecycle,
        origin: Origin,
        now: int,
        chance: float,
    ) -> Decision | Rejection:
        match command:
            case DeployLifecycle():
                before = state or LifecycleVersions(STATE_VERSION, command.lifecycle)
                known = before.with_hash(command.hash)
                if known is not None and known.status == "active":
                    return Decision((), "known")
                if len(before.versions) >= MAX_VERSIONS:
                    fact = f"it has {MAX_VERSIONS:,} versions already"
                    return Rejection("blocked", "deploy", "lifecycle", command.lifecycle, fact)
                number = known.number if known is not None else len(before.versions) + 1
                deployed = LifecycleDeployed(
                    command.lifecycle, number, command.hash, command.label, now, origin.principal, command.event
                )
                return Decision((deployed,), "deployed")
            case RetireLifecycle():
                found = state.number(command.number) if state is not None else None
                if found is None:
                    fact = f"it has no version {command.number}"
                    return Rejection("not_found", "retire", "lifecycle", state.lifecycle if state else "", fact)
                if found.status == "retired":
                    return Decision((), "replayed")
                retired = LifecycleRetired(command.number, command.reason[:2000], now, origin.principal)
                return Decision((retired,), "retired")
            case _:
                assert_never(command)

    def apply(self, state: LifecycleVersions | None, entry: DefinitionEntry) -> LifecycleVersions:
        match entry:
            case LifecycleDeployed():
                before = state or LifecycleVersions(STATE_VERSION, entry.lifecycle)
                added = LifecycleVersion(entry.number, entry.hash, entry.label, entry.at, entry.by, event=entry.event)
                others = tuple(each for each in before.versions if each.number != entry.number)
                return replace(before, versions=tuple(sorted((*others, added), key=lambda each: each.number)))
            case LifecycleRetired():
                if state is None:
                    raise InvariantBroken("apply", "entry", "LifecycleRetired", "nothing was deployed")
                return replace(
                    state,
                    versions=tuple(
                        replace(each, status="retired") if each.number == entry.number else each
                        for each in state.versions
                    ),
                )
            case _:
                assert_never(entry)

    def rows(self, id: bytes, state: LifecycleVersions) -> Rows:
        """The latest version waits for the event that begins instances."""
        latest = state.latest()
        if latest is None or not latest.event:
            return NO_ROWS
        return Rows(fact_rows((fact_key(EVENT, latest.event),)))

    def notices(self, id: bytes, state: LifecycleVersions, entries: tuple[DefinitionEntry, ...]) -> tuple[Notice, ...]:
        return ()

    def encode(self, state: LifecycleVersions) -> bytes:
        return self._encoder.encode(state)

    def decode(self, data: bytes) -> LifecycleVersions:
        return read_form(data, self._decoder, STATE_VERSION, UPCASTERS)

    def status(self, state: LifecycleVersions) -> tuple[str, int]:
        return ("active" if state.latest() is not None else "retired"), 0

    def payloads(self, state: LifecycleVersions) -> tuple[tuple[bytes, ...], bool]:
        return tuple(dict.fromkeys(each.hash for each in state.versions)), False
