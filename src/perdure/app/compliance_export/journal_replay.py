"""The journal of a call or instance, replayed once: each entry with the states before and after it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from perdure.app.compliance_export.document import Chain, Event, RecordTold
from perdure.bpmn.machine.apply import TABLE, started
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.journal_entries import InstanceStarted
from perdure.errors import InvariantBroken
from perdure.journal import Machine, Record
from perdure.payload import MAX_DEPTH, digest_text, parse
from perdure.payload.json_numbers import MAX_INTEGER
from perdure.runbooks.machine.journal_entries import TIMES
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import iso
from perdure.store.audit.payload_references import hashes_in

Data = dict[str, Any]
KINDS = (RunbookMachine.kind, InstanceMachine.kind)
"""What a compliance document can be about."""
MOMENTS = TIMES | {"started_at", "ended_at"}


class Moment(NamedTuple):
    """One entry with the record it stands in."""

    sequence: int
    record: Record[Any]
    entry: Any

    @property
    def name(self) -> str:
        return type(self.entry).__name__

    @property
    def at(self) -> str | None:
        return iso(getattr(self.entry, "at", 0) or self.record.at)


class ChainReplay:
    """A chain at hand: its records decoded, its data by hash."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.id = chain.id
        self.machine = machine_of(chain.kind)
        self.records: list[tuple[int, Record[Any]]] = [
            (each.sequence, self.machine.records.decode(base64.b64decode(each.body))) for each in chain.records
        ]
        self._data = {each.hash: each.data for each in chain.payloads}
        self.state: Any = None
        self.before: Any = None

    @property
    def is_call(self) -> bool:
        return self.chain.kind == RunbookMachine.kind

    def moments(self) -> Iterator[Moment]:
        """Each entry once it is applied: `state` is what it left and, for a call, `before` what it found."""
        self.state = self.before = None
        for sequence, record in self.records:
            for entry in record.entries:
                self.before, self.state = self.state, self._applied(entry)
                yield Moment(sequence, record, entry)

    def replay(self) -> None:
        """To the end: `state` is then what the records lead to."""
        for _ in self.moments():
            pass
        if self.state is None:
            raise InvariantBroken("replay", "chain", self.id, "it has no entries")

    def spoken_of(self) -> set[bytes]:
        """Every hash that the records mention."""
        return {hash for _, record in self.records for hash in hashes_in(record.entries)}

    def _applied(self, entry: Any) -> Any:
        if not isinstance(self.machine, InstanceMachine) or self.state is None:
            return self.machine.apply(self.state, entry)
        if type(entry) is InstanceStarted:
            return started(entry)
        TABLE[type(entry)](self.state, entry)  # the state is ours alone: a copy per entry would cost the square
        return self.state

    def value(self, hash: str) -> Any:
        """The data under a hash; None when it is not here."""
        data = self._data.get(hash)
        if data is None:
            return None
        raw = base64.b64decode(data)
        return parse(raw, max_bytes=max(len(raw), 1))

    def has(self, hash: str) -> bool:
        return hash in self._data

    def told(self) -> list[RecordTold]:
        return [
            RecordTold(
                of=self.id, sequence=sequence, at=iso(record.at), command=record.command, principal=record.principal,
                trace=record.trace, entries=[_event(entry) for entry in record.entries],
            )
            for sequence, record in self.records
        ]  # fmt: skip


def machine_of(kind: str) -> Machine[Any, Any, Any]:
    """The machine that replays a chain of that kind; replaying needs no definitions."""
    return RunbookMachine() if kind == RunbookMachine.kind else InstanceMachine({})


def hash_text(hash: bytes | None) -> str:
    return digest_text(hash) if hash else ""


def _event(entry: Any) -> Event:
    return Event(name=type(entry).__name__, fields=fields_of(entry))


def fields_of(value: Any) -> Data:
    """The fields of a struct that are not at their defaults: a field added later leaves old documents as they are."""
    names, defaults = value.__struct_fields__, value.__struct_defaults__
    missing = (msgspec.NODEFAULT,) * (len(names) - len(defaults))
    told: Data = {}
    for name, default in zip(names, missing + defaults, strict=True):
        given = getattr(value, name)
        if given != default and given not in ({}, ()):
            told[name] = _words(name, given)
    return told


def _words(name: str, value: Any, depth: int = 0) -> Any:
    """Any stored value as JSON: hashes, times and large numbers as text."""
    match value:
        case bytes():
            return hash_text(value)
        case bool():
            return value
        case int() if name in MOMENTS:
            return iso(value or None)
        case int():
            return value if abs(value) <= MAX_INTEGER else str(value)
        case msgspec.Struct() if depth < MAX_DEPTH // 2:
            return fields_of(value)
        case tuple() | list():
            return [_words("", each, depth + 1) for each in value]
        case dict():
            return {str(key): _words("", each, depth + 1) for key, each in value.items()}
        case str() | float() | None:
            return value
        case _:
            return str(value)
