"""The process machine: the versions of one deployed process, and the start events that wait for the outside.

| a version | may |
|---|---|
| active | start instances; the latest active one is what new instances take, and its start events are armed |
| deprecated | start instances when asked for by its number |
| retired | start nothing; what runs under it goes on |

The same content deployed again is the same version, active once more where it was retired. How it is drawn is no part
of its content and may change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal, assert_never

import msgspec
from msgspec.structs import replace

from perdure.bpmn.machine.aggregate_ids import PROCESS
from perdure.bpmn.machine.state import Compact
from perdure.bpmn.timer_cycles import Cycle, read_cycle
from perdure.durations import DurationError, later, parse_span
from perdure.errors import InvariantBroken, Rejection
from perdure.identifiers import id_text
from perdure.journal import Decision, Notice, Origin, ParkedRow, RecordCodec, Rows, TimerRow, Upcaster, read_form
from perdure.journal.notice_routes import StartRoute
from perdure.moments import parse_date_time
from perdure.verb_contract import ConsequenceTier

STATE_VERSION = 4
ENTRY_VERSION = 4
START_FIRED = "start_fired"
MAX_VERSIONS = 10_000

VersionStatus = Literal["active", "deprecated", "retired"]
StartKind = Literal["message", "signal", "duration", "date", "cycle"]
Cron = Callable[[str, int], int]
"""The next time of a cron text after a moment, both in microseconds; 0 when there is none."""


class Start(Compact, frozen=True):
    """A start event that something outside makes happen: `text` is a message's or signal's name, or a time."""

    event: str
    kind: StartKind
    text: str


class Version(Compact, frozen=True):
    number: int
    hash: bytes
    status: VersionStatus
    deployed_at: int
    by: str
    starts: tuple[Start, ...] = ()
    verb: str = ""
    diagram: bytes = b""
    """How it is drawn, by its hash; empty when it came without a drawing."""
    consequence: ConsequenceTier | Literal[""] = ""
    """The gravest tier it could reach when it was deployed; empty of one deployed before that was kept."""


class ArmedStart(Compact, frozen=True):
    """A start timer: `index` counts the version's starts, `left` how often it still fires (-1: without end).

    `since` is when it was armed: months are counted from there.
    """

    version: int
    index: int
    due: int
    left: int
    since: int = 0


class ProcessState(Compact, frozen=True):
    """The aggregate."""

    form: int
    process: str
    versions: tuple[Version, ...] = ()
    timers: tuple[ArmedStart, ...] = ()

    @property
    def version(self) -> int:
        return self.form

    def latest(self) -> Version | None:
        """What a new instance takes."""
        for each in reversed(self.versions):
            if each.status == "active":
                return each
        return None

    def number(self, number: int) -> Version | None:
        return self.versions[number - 1] if 1 <= number <= len(self.versions) else None

    def with_hash(self, hash: bytes) -> Version | None:
        return next((each for each in self.versions if each.hash == hash), None)


class Deploy(msgspec.Struct, frozen=True, kw_only=True):
    process: str
    hash: bytes
    starts: tuple[Start, ...] = ()
    verb: str = ""
    diagram: bytes = b""
    consequence: ConsequenceTier | Literal[""] = ""
    instead: bytes | None = None
    """The one diagram that this one may take the place of; None when it may take that of any."""


class SetStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Deprecate, retire or bring back a version."""

    number: int
    status: VersionStatus
    reason: str = ""


class FireStart(msgspec.Struct, frozen=True, kw_only=True):
    """A start timer is due; firing twice is firing once."""

    index: int
    due: int


ProcessCommand = Deploy | SetStatus | FireStart


class VersionDeployed(Compact, frozen=True, tag=1):
    process: str
    number: int
    hash: bytes
    at: int
    by: str
    starts: tuple[Start, ...] = ()
    verb: str = ""
    diagram: bytes = b""
    consequence: ConsequenceTier | Literal[""] = ""


class StatusChanged(Compact, frozen=True, tag=2):
    number: int
    at: int
    status: VersionStatus
    by: str
    reason: str = ""


class StartsArmed(Compact, frozen=True, tag=3):
    """The start timers that are armed from now on; those of other versions are not any more."""

    timers: tuple[ArmedStart, ...]


class StartFired(Compact, frozen=True, tag=4):
    """A start timer fired: an instance begins. `next_due` is 0 when it fires no more."""

    number: int
    index: int
    due: int
    next_due: int = 0
    left: int = 0


class Redrawn(Compact, frozen=True, tag=5):
    """The same content was deployed again with another drawing."""

    number: int
    at: int
    by: str
    diagram: bytes


ProcessEntry = VersionDeployed | StatusChanged | StartsArmed | StartFired | Redrawn

STATE_UPCASTERS = ENTRY_UPCASTERS = (
    Upcaster(1, lambda form: [2, *form[1:]]),
    Upcaster(2, lambda form: [3, *form[1:]]),
    Upcaster(3, lambda form: [4, *form[1:]]),
)
"""Version 1 knew no drawings; version 2 no months, and not since when a timer is armed; version 3 no consequences."""


def no_cron(text: str, after: int) -> int:
    return 0


_STATE = msgspec.msgpack.Decoder(ProcessState)


class ProcessMachine:
    """Pure: the same state, command and time always give the same entries."""

    kind: ClassVar[str] = PROCESS
    semantics: ClassVar[int] = 1

    def __init__(self, cron: Cron = no_cron) -> None:
        self._cron = cron
        self.records: RecordCodec[ProcessEntry] = RecordCodec(ProcessEntry, ENTRY_VERSION, ENTRY_UPCASTERS)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = _STATE

    def decide(
        self, id: bytes, state: ProcessState | None, command: ProcessCommand, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection:
        match command:
            case Deploy():
                return self._deploy(state, command, origin, now)
            case SetStatus():
                return self._set_status(state, command, origin, now)
            case FireStart():
                return self._fire(state, command, now)
            case _:
                assert_never(command)

    def _deploy(self, state: ProcessState | None, command: Deploy, origin: Origin, now: int) -> Decision | Rejection:
        known = state.with_hash(command.hash) if state is not None else None
        if state is not None and known is not None:
            return self._again(state, known, command, origin.principal, now)
        number = len(state.versions) + 1 if state is not None else 1
        if number > MAX_VERSIONS:
            return Rejection("blocked", "deploy", "process", command.process, f"it has {MAX_VERSIONS} versions already")
        deployed = VersionDeployed(
            command.process, number, command.hash, now, origin.principal, command.starts, command.verb,
            command.diagram, command.consequence,
        )  # fmt: skip
        return self._changed(state, deployed, now)

    def _again(self, state: ProcessState, known: Version, command: Deploy, by: str, now: int) -> Decision:
        """The same content: the same version, active once more, drawn as it was drawn last."""
        is_redrawn = command.diagram not in (b"", known.diagram) and command.instead in (None, known.diagram)
        redrawn = (Redrawn(known.number, now, by, command.diagram),) if is_redrawn else ()
        if known.status == "active":
            return Decision(redrawn, f"version {known.number}", keeps=bool(redrawn))
        changed = self._changed(state, StatusChanged(known.number, now, "active", by), now)
        return Decision((*changed.entries, *redrawn), changed.answer)

    def _set_status(
        self, state: ProcessState | None, command: SetStatus, origin: Origin, now: int
    ) -> Decision | Rejection:
        found = state.number(command.number) if state is not None else None
        if state is None or found is None:
            name = state.process if state is not None else "?"
            return Rejection("not_found", "change", "process", name, f"it has no version {command.number}")
        if found.status == command.status:
            return Decision((), "replayed")
        entry = StatusChanged(command.number, now, command.status, origin.principal, command.reason)
        return self._changed(state, entry, now)

    def _changed(self, state: ProcessState | None, entry: VersionDeployed | StatusChanged, now: int) -> Decision:
        """A change of versions, and the start timers that are armed after it."""
        after = self.apply(state, entry)
        latest = after.latest()
        answer = f"version {entry.number}"
        if state is not None and _number(latest) == _number(state.latest()):
            return Decision((entry,), answer)
        timers = self._armed(latest, now) if latest is not None else ()
        return Decision((entry, StartsArmed(timers)) if timers or after.timers else (entry,), answer)

    def _armed(self, version: Version, now: int) -> tuple[ArmedStart, ...]:
        found = []
        for index, start in enumerate(version.starts):
            if start.kind not in ("message", "signal"):
                due, left = first_time(start.kind, start.text, now, self._cron)
                if due:
                    found.append(ArmedStart(version.number, index, due, left, now))
        return tuple(found)

    def _fire(self, state: ProcessState | None, command: FireStart, now: int) -> Decision | Rejection:
        if command.due > now:
            return Decision((), "early")
        timers = state.timers if state is not None else ()
        armed = next((each for each in timers if (each.index, each.due) == (command.index, command.due)), None)
        if state is None or armed is None:
            return Decision((), "gone")
        start = state.versions[armed.version - 1].starts[armed.index]
        due, left = next_time(start.text, armed, now, self._cron) if start.kind == "cycle" else (0, 0)
        return Decision((StartFired(armed.version, armed.index, armed.due, due, left),), "fired")

    def apply(self, state: ProcessState | None, entry: ProcessEntry) -> ProcessState:
        if isinstance(entry, VersionDeployed):
            added = Version(
                entry.number, entry.hash, "active", entry.at, entry.by, entry.starts, entry.verb, entry.diagram,
                entry.consequence,
            )  # fmt: skip
            before = state or ProcessState(STATE_VERSION, entry.process)
            return replace(before, versions=(*before.versions, added))
        if state is None:
            raise InvariantBroken("apply", "entry", type(entry).__name__, "the process has not been deployed")
        match entry:
            case StatusChanged(number, _, status):
                versions = list(state.versions)
                versions[number - 1] = replace(versions[number - 1], status=status)
                return replace(state, versions=tuple(versions))
            case Redrawn(number, _, _, diagram):
                versions = list(state.versions)
                versions[number - 1] = replace(versions[number - 1], diagram=diagram)
                return replace(state, versions=tuple(versions))
            case StartsArmed(timers):
                return replace(state, timers=timers)
            case StartFired(number, index, _, due, left):
                others = tuple(each for each in state.timers if each.index != index)
                since = next((each.since for each in state.timers if each.index == index), 0)
                again = (ArmedStart(number, index, due, left, since),) if due else ()
                return replace(state, timers=(*others, *again))
            case _:
                assert_never(entry)

    def rows(self, id: bytes, state: ProcessState) -> Rows:
        latest = state.latest()
        if latest is None:
            return Rows()
        parked = tuple(
            ParkedRow(index, 0, start.text, "", 0, 0, f"{start.kind}_start")
            for index, start in enumerate(latest.starts)
            if start.kind in ("message", "signal")
        )
        timers = tuple(TimerRow(each.index, "start", each.due) for each in state.timers)
        return Rows(parked, timers)

    def notices(self, id: bytes, state: ProcessState, entries: tuple[ProcessEntry, ...]) -> tuple[Notice, ...]:
        return tuple(
            Notice(
                f"perdure:{id_text(id)}/start/{entry.number}/{entry.index}/{entry.due}",
                START_FIRED,
                StartRoute(entry.number, entry.index),
            )
            for entry in entries
            if isinstance(entry, StartFired)
        )

    def encode(self, state: ProcessState) -> bytes:
        return self._encoder.encode(state)

    def decode(self, data: bytes) -> ProcessState:
        return read_form(data, self._decoder, STATE_VERSION, STATE_UPCASTERS)

    def status(self, state: ProcessState) -> tuple[str, int]:
        return ("active" if state.latest() is not None else "retired"), 0

    def payloads(self, state: ProcessState) -> tuple[tuple[bytes, ...], bool]:
        hashes = [hash for each in state.versions for hash in (each.hash, each.diagram) if hash]
        return tuple(dict.fromkeys(hashes)), False


def _number(version: Version | None) -> int:
    return version.number if version is not None else 0


def first_time(kind: str, text: str, now: int, cron: Cron) -> tuple[int, int]:
    """When a timer is due first, and how often it fires after that; a due of 0: never."""
    match kind:
        case "duration":
            return later(now, parse_span(text)), 0
        case "date":
            return parse_date_time(text), 0
        case _:
            cycle = read_cycle(text)
            if isinstance(cycle, Cycle):
                return cycle.first(now), cycle.left
            return (cron(text, now), -1) if cycle is None else (0, 0)


def next_time(text: str, timer: ArmedStart, now: int, cron: Cron) -> tuple[int, int]:
    """When a cycle is due again after it fired, and how often after that."""
    if timer.left == 0:
        return 0, 0
    cycle = read_cycle(text)
    if not isinstance(cycle, Cycle):
        return cron(text, max(timer.due, now)), timer.left
    since = cycle.start or timer.since
    return cycle._replace(start=since).next(timer.due, timer.left, now), max(-1, timer.left - 1)


def start_fault(start: Start, cron: Cron) -> str:
    """Why a start timer could never be armed; empty when it can."""
    try:
        due, _ = first_time(start.kind, start.text, 0, cron) if start.kind not in ("message", "signal") else (1, 0)
    except DurationError as error:
        return error.fact
    except (ValueError, OverflowError) as error:
        return str(error)
    return "" if due else f"'{start.text}' is no time that ever comes"
