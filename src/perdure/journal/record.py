"""A record: one command's entries with who asked, when and under which trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import msgspec

from perdure.journal.versions import Upcaster, read_form

RECORD_VERSION = 1
E = TypeVar("E")


class Origin(msgspec.Struct, frozen=True, array_like=True):
    """Who a command belongs to: every command carries one from the first day."""

    tenant: str = "default"
    principal: str = "local"
    trace: str = ""
    groups: tuple[str, ...] = ()
    """The groups the principal belongs to, as whoever vouches for them says; no record keeps them."""


class Record(msgspec.Struct, Generic[E], frozen=True, array_like=True):
    """What one command did. `at` is in microseconds; `version` is that of the entries' form."""

    version: int
    at: int
    command: str
    principal: str
    trace: str
    entries: tuple[E, ...]


class Entries(Sequence[E]):
    """Entries that are made when somebody looks at them.

    `alike` are others that differ from them in opaque values only (times, hashes, names of people): what they are and
    what they are about can be told without making them.
    """

    __slots__ = ("_makes", "_values", "alike")

    def __init__(self, alike: tuple[E, ...], makes: Sequence[Callable[[Any], E]], values: Any) -> None:
        self.alike = alike
        self._makes = makes
        self._values = values

    def __len__(self) -> int:
        return len(self.alike)

    @overload
    def __getitem__(self, at: int) -> E: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[E, ...]: ...
    def __getitem__(self, at: int | slice) -> E | tuple[E, ...]:
        return tuple(self)[at] if isinstance(at, slice) else self._makes[at](self._values)

    def __iter__(self) -> Iterator[E]:
        return iter([make(self._values) for make in self._makes])

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (Entries, tuple)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))


def alike(entries: Sequence[E]) -> Sequence[E]:
    """For who asks only what entries are and what they are about."""
    return entries.alike if type(entries) is Entries else entries


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

    def encode(self, at: int, command: str, origin: Origin, entries: Sequence[E]) -> bytes:
        return self._encoder.encode((self._version, at, command, origin.principal, origin.trace, tuple(entries)))

    def decode(self, body: bytes) -> Record[E]:
        """The record behind its bytes, at the newest version; UnreadableFormError when they are none."""
        record: Record[E] = read_form(body, self._decoder, self._version, self._upcasters)
        return record
