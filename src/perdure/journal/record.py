"""A record: one command's entries with who asked, when and under which trace."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

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


class RecordCodec(Generic[E]):
    """Bytes to records and back for one machine's entries, lifting old versions on the way in."""

    def __init__(self, entry_type: Any, version: int, upcasters: tuple[Upcaster, ...] = ()) -> None:
        self._version = version
        self._upcasters = upcasters
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[Record[E]] = msgspec.msgpack.Decoder(Record[entry_type])
        self.read = self._decoder.decode
        """The record behind bytes that are known to be of the newest version."""

    def encode(self, at: int, command: str, origin: Origin, entries: tuple[E, ...]) -> bytes:
        return self._encoder.encode((self._version, at, command, origin.principal, origin.trace, entries))

    def decode(self, body: bytes) -> Record[E]:
        """The record behind its bytes, at the newest version; UnreadableFormError when they are none."""
        record: Record[E] = read_form(body, self._decoder, self._version, self._upcasters)
        return record
