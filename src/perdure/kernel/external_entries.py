"""External entries: a carrier decided them elsewhere, and they join our journal once, under their position.

| position in the carrier's log | what becomes of the entries |
|---|---|
| after the last one of the aggregate | `appended`: record with its position, state, rows and notices in one unit |
| appended before | `known`: nothing changes, and the aggregate is answered as it is |
| before the last one, never appended | refused as `wrong_state`: the journal does not change its past |
| some left out | no fault: a carrier counts for many aggregates |
| of another carrier or partition | refused as `wrong_state`: an aggregate is decided in one place, until it is moved |
| the first ones, of an aggregate that began elsewhere | refused as `wrong_state` |
| entries that the machine cannot apply | refused as `invalid` |

The row version is the gate: of two who append one position at the same time, one finds it there. The position is part
of the record, so the chain covers it, and it is there as soon as the entries are.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

import msgspec

from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.journal import NO_ROWS, Decision, Machine, Origin, SourcePosition, Written, genesis
from perdure.kernel.decider import Aggregate, Answer, Prepared
from perdure.kernel.ports import Attachments, Units
from perdure.sources import Id, Micros, id_text

if TYPE_CHECKING:
    from perdure.kernel.kernel import Kernel

MAX_LOOKS = 64
"""How often a position is looked up again because the aggregate went on meanwhile."""
PAGE = 64
MAX_HELD = 1024


class Append(msgspec.Struct, frozen=True):
    """The command in whose name entries of a carrier are recorded."""

    source: SourcePosition


class Sourced(NamedTuple):
    """Entries of a carrier: their position in its log, the time they were decided at, and what they bring along."""

    entries: tuple[Any, ...]
    source: SourcePosition
    at: Micros
    brought: Attachments | None = None
    begins: bool = False
    """Whether the aggregate begins with them."""


class Last(NamedTuple):
    """The last position of an aggregate at a version of it; None when none of its records has one."""

    version: int
    source: SourcePosition | None


class Moved(Exception):
    """The aggregate is not at the version its last position is known for."""


class SourcedJournal:
    """Appends to aggregates of a kernel; one per kernel."""

    def __init__(self, kernel: Kernel, store: Units) -> None:
        self._kernel = kernel
        self._store = store
        self._last: OrderedDict[bytes, Last] = OrderedDict()
        self._turns: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

    async def append(self, kind: str, id: Id, origin: Origin, sourced: Sourced) -> Answer:
        async with self._turns.setdefault(id, asyncio.Lock()):
            return await self._append(kind, id, origin, sourced)

    async def _append(self, kind: str, id: Id, origin: Origin, sourced: Sourced) -> Answer:
        machine, source = self._kernel.machine(kind), sourced.source
        for _ in range(MAX_LOOKS):
            last = self._last.get(id) or await self._look(kind, id, origin)
            if last is not None and await self._is_known(kind, id, origin, last, source):
                return Answer(await self._kernel.read(id, origin), "known")
            if last is not None and sourced.begins:
                fact = "it has begun, and not at this carrier"
                raise RejectedError(Rejection("wrong_state", "append to", kind, id_text(id), fact))
            try:
                answer = await self._put(machine, id, origin, sourced, last)
            except Moved:
                self._last.pop(id, None)
                continue
            if answer.conflict is None:
                assert answer.aggregate is not None
                self._keep(id, Last(answer.aggregate.version, source))
                return answer
        raise InvariantBroken("append to", kind, id_text(id), f"it changed {MAX_LOOKS} times meanwhile")

    async def _put(
        self, machine: Machine[Any, Any, Any], id: Id, origin: Origin, sourced: Sourced, last: Last | None
    ) -> Answer:
        kind = machine.kind
        if last is None:
            empty = Aggregate(id, origin.tenant, kind, 0, None, genesis(origin.tenant, kind, id), NO_ROWS)
            return await self._kernel.start(kind, id, origin, _prepared(machine, empty, origin, sourced))

        def prepare(current: Aggregate) -> Prepared:
            if current.version != last.version:
                raise Moved
            return _prepared(machine, current, origin, sourced)

        return await self._kernel.ask(kind, id, origin, prepare)

    async def _look(self, kind: str, id: Id, origin: Origin) -> Last | None:
        """The last position as stored; None when there is no such aggregate yet."""
        stored = await self._store.load(id)
        if stored is None:
            return None
        if (stored.kind, stored.tenant) != (kind, origin.tenant):
            fact = "that is the id of something else"
            raise RejectedError(Rejection("not_found", "append to", kind, id_text(id), fact))
        source = await anext(self._sources(kind, id, stored.version), None)
        return self._keep(id, Last(stored.version, source))

    async def _is_known(self, kind: str, id: Id, origin: Origin, last: Last, source: SourcePosition) -> bool:
        """Whether a position was appended before; one that must not be appended any more is refused."""
        if last.source is None or last.source == source:
            return last.source == source
        if last.source[:2] != source[:2]:
            if await self._has_come(id, origin, source):
                return False
            fact = f"it is decided by {last.source.carrier}, partition {last.source.partition}"
            raise RejectedError(Rejection("wrong_state", "append to", kind, id_text(id), fact))
        if last.source.position < source.position:
            return False
        async for each in self._sources(kind, id, last.version):
            if each.position <= source.position:
                if each == source:
                    return True
                break
        fact = f"it has come to position {last.source.position}, and {source.position} was left out"
        raise RejectedError(Rejection("wrong_state", "append to", kind, id_text(id), fact))

    async def _has_come(self, id: Id, origin: Origin, source: SourcePosition) -> bool:
        """Whether the aggregate was moved, and its state names the carrier that decides it now."""
        state = (await self._kernel.read(id, origin)).state
        return bool(source.carrier) and getattr(state, "carrier", "") == source.carrier

    async def _sources(self, kind: str, id: Id, version: int) -> AsyncIterator[SourcePosition]:
        """The positions of the records up to a version, the last one first."""
        records = self._kernel.machine(kind).records
        while version > 0:
            after = max(0, version - PAGE)
            for row in reversed(await self._store.records(id, after, version - after)):
                if (source := records.decode(row.body).source) is not None:
                    yield source
            version = after

    def _keep(self, id: Id, last: Last) -> Last:
        self._last[id] = last
        self._last.move_to_end(id)
        if len(self._last) > MAX_HELD:
            self._last.popitem(last=False)
        return last


def _prepared(machine: Machine[Any, Any, Any], current: Aggregate, origin: Origin, sourced: Sourced) -> Prepared:
    """The record and the state that the entries lead to; RejectedError when the machine cannot apply them."""
    command, state, entries = Append(sourced.source), current.state, sourced.entries
    record = machine.records.encode_sourced(sourced.at, type(command).__name__, origin, entries, sourced.source)
    try:
        if not entries or machine.records.decode(record).entries != entries:
            raise ValueError("they are not entries of its machine")
        for entry in entries:
            state = machine.apply(state, entry)
        written = Written(machine.encode(state), record, None, True)
    except Exception as error:  # a carrier may send anything, and apply is written for what its machine decided
        fact = f"the entries do not fit it ({type(error).__name__}: {error})"[:300]
        raise RejectedError(Rejection("invalid", "append to", machine.kind, id_text(current.id), fact)) from error
    return Prepared(command, sourced.brought, Decision(entries, "appended", state=state, written=written))
