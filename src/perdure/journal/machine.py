"""The contract of a machine: pure decisions, pure application, and the rows its state stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec

from perdure.errors import Rejection
from perdure.journal.notice_routes import Route
from perdure.journal.record import Origin, RecordCodec
from perdure.journal.state_parts import Parts

S = TypeVar("S")
C_contra = TypeVar("C_contra", contravariant=True)
E = TypeVar("E")


class ParkedRow(NamedTuple):
    """A parked token that waits, or waited, for a completion under a key.

    Only calls own their key alone; what processes wait for (`kind` message, signal, task, message_start, signal_start)
    may share one, and its row is gone when the wait is over.
    """

    step: int
    token: int
    name: str
    key: str
    status: int
    definition: int
    kind: str = "call"


class TimerRow(NamedTuple):
    """Something due at a time: a timeout or a retry."""

    step: int
    kind: str
    due: int


class JobRow(NamedTuple):
    """A step ready for, or leased to, a worker process."""

    step: int
    worker: int
    definition: int


class IncidentRow(NamedTuple):
    """An open incident, for lists."""

    step: int
    code: str
    opened_at: int


class DocumentRow(NamedTuple):
    """A document in lists, and as whoever waits for one of its subject and type finds it."""

    type: str
    subject: str
    status: str
    version: int
    """The number of the version that the status is of; 0 while there is none."""
    valid_from: int
    valid_until: int
    created_at: int
    decided_at: int = 0
    reason: str = ""
    parent: str = ""
    correlation: str = ""


class BlobRow(NamedTuple):
    """A blob that an aggregate needs, by its hash."""

    hash: bytes


class Notice(NamedTuple):
    """What another aggregate must learn: written to the inbox in the same commit, under a deterministic id."""

    message_id: str
    kind: str
    route: Route | None = None
    """The subject of the notice, where the aggregate that gives it does not say it all."""


class Rows(msgspec.Struct, frozen=True, gc=False):
    """Every row a state stands for; a pure function of the state, so an audit can derive them again."""

    parked: tuple[ParkedRow, ...] = ()
    timers: tuple[TimerRow, ...] = ()
    jobs: tuple[JobRow, ...] = ()
    incidents: tuple[IncidentRow, ...] = ()
    documents: tuple[DocumentRow, ...] = ()
    blobs: tuple[BlobRow, ...] = ()


NO_ROWS = Rows()


class Written(msgspec.Struct, frozen=True, gc=False):
    """A decision as it is stored, where a machine has that at hand: the bytes of the state and of the record.

    `rows` are those of the state, None when they are to be derived; `is_notable` when others may have to be told.
    """

    state: bytes
    record: bytes
    rows: Rows | None
    is_notable: bool


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What a command led to: entries to append, and what the caller is told.

    When it `keeps` nothing, of what the command brought along only its arrival is remembered. A machine that decides by
    applying may hand over the `state` its entries lead to; it must be the one that `apply` gives. So must be what it
    hands over as `written`, under the time the machine was given.
    """

    entries: Any
    """A tuple, or `Entries` where they are made only when somebody looks at them."""
    answer: str = "applied"
    keeps: bool = True
    state: Any = None
    written: Written | None = None
    refusal: Rejection | None = None
    """What the caller is told instead, once the entries are durable: something was noted, and not what was asked."""
    stands_on_facts: bool = False
    """Whether it may be written only while the facts it was made by have not changed."""


class Machine(Protocol[S, C_contra, E]):
    """Synchronous, deterministic, free of I/O; clock, ids and chance arrive inside commands."""

    kind: ClassVar[str]
    semantics: ClassVar[int]

    def decide(
        self, id: bytes, state: S | None, command: C_contra, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection: ...
    def apply(self, state: S | None, entry: E) -> S: ...
    def rows(self, id: bytes, state: S) -> Rows: ...
    def notices(self, id: bytes, state: S, entries: tuple[E, ...]) -> tuple[Notice, ...]: ...
    def encode(self, state: S) -> bytes: ...
    def decode(self, data: bytes) -> S: ...
    def status(self, state: S) -> tuple[str, int]:
        """The state's name, and when it ended in microseconds for retention: 0 before that and once erased."""
        ...

    def payloads(self, state: S) -> tuple[tuple[bytes, ...], bool]:
        """The hashes a state needs bytes for, and whether its data was erased: then it needs none."""
        ...

    @property
    def records(self) -> RecordCodec[E]: ...


@runtime_checkable
class PartedMachine(Protocol):
    """A machine whose states may have many parts. A state fresh from `decode` may have them absent."""

    def parts(self, state: Any) -> Parts[Any] | None:
        """The parts that are rows by themselves; None while they sit in the state's own row."""
        ...

    def encode_part(self, part: Any) -> bytes: ...
    def filled(self, state: Any, bodies: Sequence[bytes]) -> Any:
        """The state with its parts read; UnreadableFormError when they are not those it was stored with."""
        ...

    def rows_among(self, id: bytes, state: Any, parts: Sequence[int]) -> Rows:
        """Of the rows a state stands for, those of some of its parts."""
        ...


@runtime_checkable
class SearchedMachine(Protocol):
    """A machine whose aggregates are found by the words of their data."""

    def texts(self, state: Any) -> dict[int, tuple[bytes, ...]]:
        """By the number of a text, the hashes of the payloads it is made of; nothing once the data is erased."""
        ...

    def words(self, state: Any, number: int, bodies: Sequence[bytes]) -> str:
        """The words of one text in their order, each once."""
        ...


@runtime_checkable
class ListedMachine(Protocol):
    """A machine whose aggregates are plans or not, and listed apart."""

    def may_be_listed(self, state: Any, is_plan: int) -> bool:
        """Whether a state may be marked as a plan (1), or as none (0)."""
        ...
