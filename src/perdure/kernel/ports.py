"""Ports of the kernel: the store it needs, and the values that pass between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from perdure.errors import QuarantinedError
from perdure.journal import Notice, Rows
from perdure.journal import RecordRow as RecordRow
from perdure.sources import Id, Micros

PENDING, APPLIED, DEAD, DISCARDED = range(4)


class InboxRow(NamedTuple):
    """Something that arrived. `body` is kept while it may still be needed (pending, dead)."""

    tenant: str
    message_id: str
    kind: str
    key: str
    received_at: int
    status: int
    answer: str
    aggregate: bytes | None
    body: bytes | None
    name: str = ""
    expires_at: int = 0
    """For a message that is kept until someone waits for it: when its time is over."""


class IndexRow(NamedTuple):
    """A declared scalar of the data, by which people find a call."""

    verb: str
    field: str
    value: str


class EntityWrite(NamedTuple):
    """A change of a declared entity, guarded by the version it was read at (0: must not exist)."""

    entity: str
    key: str
    expected: int
    data: bytes
    is_deleted: bool
    principal: str


class Grounds(NamedTuple):
    """Facts that a command was decided by, and the notices of their changes that were known before they were read."""

    keys: tuple[str, ...]
    heard: frozenset[str]


class Attachments(msgspec.Struct, gc=False):
    """What a command brings along that is not state: stored in the same commit."""

    payloads: list[tuple[bytes, bytes]] = []
    inbox: InboxRow | None = None
    settles: tuple[str, str] | None = None
    dispatched: tuple[str, str] | None = None
    """The dispatch to a carrier that is over with this commit, settled as well."""
    idempotency: tuple[str, bytes] | None = None
    index: list[IndexRow] = []
    index_source: tuple[bytes, bytes] | None = None
    """The hash and the bytes of the data that the index rows come from, when it is not among the payloads brought."""
    entities: list[EntityWrite] = []
    texts: list[tuple[int, str]] = []
    """Words that an aggregate is found by from now on, by the number of their text."""
    erases: bool = False
    reindexes: bool = False
    is_plan: bool = False
    """What begins with it is a plan or a draft, listed apart from calls."""
    grounds: Grounds | None = None
    """Written only while none of these facts has changed since, where the decision stands on them."""

    def arrival(self) -> Attachments | None:
        """What is left when the cargo is of no use: that it came."""
        if self.inbox is None and self.settles is None and self.dispatched is None:
            return None
        return Attachments(inbox=self.inbox, settles=self.settles, dispatched=self.dispatched)


class Unit(msgspec.Struct, gc=False):
    """One aggregate's change: everything of it is committed, or nothing."""

    tenant: str
    id: Id | None
    kind: str = ""
    expected: int = 0
    version: int = 0
    status: str = ""
    ended_at: int = 0
    state: bytes = b""
    head: bytes = b""
    records: list[RecordRow] = []
    before: Rows = Rows()
    after: Rows = Rows()
    notices: list[Notice] = []
    attachments: list[Attachments] = []
    at: int = 0
    parts: list[tuple[int, bytes]] = []
    """Parts of the state that are rows by themselves and changed, by their place."""
    due: Micros = 0
    """The moment before which it may not be written, by the store's clock: for timers that fire."""
    is_silent: bool = False
    """Whether it changes records without telling: refused where somebody may wait for them."""


class Loaded(NamedTuple):
    """An aggregate as read and checked."""

    id: Id
    tenant: str
    kind: str
    version: int
    state: bytes
    head: bytes


class Chain(Protocol):
    """The identity of a journal and its end: what its records are checked against."""

    @property
    def id(self) -> Id: ...
    @property
    def tenant(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def head(self) -> bytes: ...


class Conflict(NamedTuple):
    """Why a unit was not written. `holder` is who holds the key, where that is known."""

    what: Literal["version", "idempotency", "inbox", "key", "entity", "early", "silent", "facts"]
    key: str = ""
    holder: bytes | None = None
    detail: str = ""


Verdict = Conflict | BaseException | None
"""What became of a unit: None when it is durable."""
Told = Callable[[Verdict], None]


class Found(NamedTuple):
    """A token found by its key."""

    aggregate: Id
    step: int
    token: int
    name: str
    status: int


class WaitFound(NamedTuple):
    """What waits; `number` is the place to go on from, and smaller for those that wait longer."""

    aggregate: Id
    step: int
    token: int
    name: str
    key: str
    number: int


class Buffered(NamedTuple):
    """A message kept until someone waits for it."""

    message_id: str
    received_at: Micros
    expires_at: Micros
    number: int


class BufferedFound(NamedTuple):
    """A kept message in a list over all tenants. `is_awaited` says whether someone waits for it by now."""

    tenant: str
    message_id: str
    name: str
    key: str
    expires_at: Micros
    number: int = 0
    is_awaited: bool = False


class AggregateFound(NamedTuple):
    """An aggregate in a list, checked."""

    id: Id
    kind: str
    version: int
    status: str
    ended_at: Micros
    state: bytes


class Units(Protocol):
    """The store as the kernel sees it."""

    async def load(self, id: Id) -> Loaded | None:
        """Read one aggregate; raises QuarantinedError when its row fails its check."""
        ...

    async def records(self, aggregate: Id, after: int = 0, most: int = 1000) -> list[RecordRow]:
        """Records of one aggregate after a sequence, in their order."""
        ...

    async def parts(self, id: Id) -> list[bytes]:
        """The parts of one aggregate's state that are rows by themselves, in their order."""
        ...

    async def quarantine(self, error: QuarantinedError) -> None:
        """Remember what was found damaged, so that lists show it."""
        ...

    async def find_tokens(self, tenant: str, key: str) -> Sequence[Found]:
        """Tokens of calls under a key, those that wait first."""
        ...

    def commit(self, unit: Unit) -> Awaitable[Conflict | None]:
        """Write the unit durably with whatever else is ready; None when it is durable. Begins without being awaited."""
        ...

    def submit(self, unit: Unit, told: Told) -> None:
        """Like `commit`, but calls back: in the loop's thread, once, and never before this has returned."""
        ...
