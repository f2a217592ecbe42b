"""A record: one command's entries with who asked, when and under which trace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from perdure.journal.chain import link
from perdure.journal.row_digests import Anchor, anchored, keyed
from perdure.journal.upcasters import Upcaster, read_form

RECORD_VERSION = 1
MOST_SIFTED = 10_000
E = TypeVar("E")


class Origin(msgspec.Struct, frozen=True, array_like=True):
    """Who a command belongs to: every command carries one from the first day."""

    tenant: str = "default"
    principal: str = "local"
    trace: str = ""
    groups: tuple[str, ...] = ()
    """The groups the principal belongs to, as whoever vouches for them says; no record keeps them."""
    behind: tuple[str, ...] = ()
    """Others who stand behind the principal, as who made the key or drafted the work: for four eyes they are one."""
    key: str = ""
    """The id of the key that the principal acts by; empty where there is none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The principal, with whoever stands behind them."""
        return (self.principal, *self.behind)


class SourcePosition(NamedTuple):
    """The place of a decision in the log of the carrier that made it; positions of one partition grow."""

    carrier: str
    partition: int
    position: int


class Record(msgspec.Struct, Generic[E], frozen=True, array_like=True):
    """What one command did. `at` is in microseconds; `version` is that of the entries' form."""

    version: int
    at: int
    command: str
    principal: str
    trace: str
    entries: tuple[E, ...]
    source: SourcePosition | None = None
    """The place the entries were decided at, when that was elsewhere."""
    anchors: tuple[Anchor, ...] = ()
    """The rows committed with the record that no state stands for."""
    key: str = ""
    """The id of the key by which the principal asked; empty where there was none."""


class RecordRow(msgspec.Struct, frozen=True, gc=False):
    """One record as stored: its place in the aggregate, its bytes, its hash."""

    sequence: int
    body: bytes
    hash: bytes


class Deed(NamedTuple):
    """A command that changes something, to be recorded; `body` where its record is written already."""

    at: int
    command: str
    origin: Origin
    entries: Any
    body: bytes = b""


class Entries(msgspec.Struct, frozen=True, gc=False, eq=False):
    """Entries that are made when somebody looks at them: a sequence in all it does.

    `alike` are others that differ from them in opaque values only (times, hashes, names of people): what they are and
    what they are about can be told without making them.
    """

    alike: tuple[Any, ...]
    makes: Sequence[Callable[[Any], Any]]
    values: Any

    def __len__(self) -> int:
        return len(self.alike)

    def __getitem__(self, at: int | slice) -> Any:
        return self.makes[at](self.values) if isinstance(at, int) else tuple(self)[at]

    def __iter__(self) -> Iterator[Any]:
        return iter([make(self.values) for make in self.makes])

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (Entries, tuple)) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Sieve:
    """Those entries that are of some kinds: which they are is looked for once among all that are alike."""

    def __init__(self, kinds: Collection[type]) -> None:
        """`kinds` may grow as long as `forget` is said then."""
        self._kinds = kinds
        self._known: dict[int, tuple[tuple[Any, ...], tuple[Callable[[Any], Any], ...]]] = {}

    def sifted(self, entries: Any) -> Sequence[Any]:
        if type(entries) is not Entries:
            return [entry for entry in entries if type(entry) in self._kinds]
        known = self._known.get(id(entries.alike)) or self._learned(entries)
        if not known[1]:
            return ()
        values = entries.values
        return [make(values) for make in known[1]]

    def forget(self) -> None:
        self._known.clear()

    def _learned(self, entries: Entries) -> tuple[tuple[Any, ...], tuple[Callable[[Any], Any], ...]]:
        if len(self._known) >= MOST_SIFTED:
            self.forget()
        alike = entries.alike
        makes = tuple(make for make, entry in zip(entries.makes, alike, strict=True) if type(entry) in self._kinds)
        found = self._known[id(alike)] = alike, makes  # as long as it is kept here, no other has its identity
        return found


class RecordCodec(Generic[E]):
    """Bytes to records and back for one machine's entries, lifting old versions on the way in."""

    def __init__(self, entry_type: Any, version: int, upcasters: tuple[Upcaster, ...] = ()) -> None:
        self._version = version
        self._upcasters = upcasters
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[Record[E]] = msgspec.msgpack.Decoder(Record[entry_type])
        self.read = self._decoder.decode
        """The record behind bytes that are known to be of the newest version."""
        self.read_entry: Callable[[bytes], E] = msgspec.msgpack.Decoder(entry_type).decode

    def encode(self, at: int, command: str, origin: Origin, entries: Any) -> bytes:
        return self._encoder.encode((self._version, at, command, origin.principal, origin.trace, tuple(entries)))

    def chained(
        self, head: bytes, sequence: int, deeds: Sequence[Deed], anchors: Sequence[Anchor] = ()
    ) -> list[RecordRow]:
        """A record for each command, chained to the one at a sequence with that hash; the last one has the anchors."""
        records: list[RecordRow] = []
        for at, command, origin, entries, body in deeds:
            written = body or self.encode(at, command, origin, entries)
            if anchors and len(records) == len(deeds) - 1:
                written = anchored(written, anchors)
            if origin.key:
                written = keyed(written, origin.key)
            head, sequence = link(head, written), sequence + 1
            records.append(RecordRow(sequence, written, head))
        return records

    def encode_sourced(
        self, at: int, command: str, origin: Origin, entries: tuple[E, ...], source: SourcePosition
    ) -> bytes:
        """The same for entries that were decided elsewhere."""
        return self._encoder.encode((self._version, at, command, origin.principal, origin.trace, entries, source))

    def decode(self, body: bytes) -> Record[E]:
        """The record behind its bytes, at the newest version; UnreadableFormError when they are none."""
        record: Record[E] = read_form(body, self._decoder, self._version, self._upcasters)
        return record
