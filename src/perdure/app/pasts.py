"""Pasts: what the histories of instances say that their states do not, followed as this process commits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from perdure.bpmn.machine.entries import Entered, InstanceStarted, JobCompleted, JobMade, Left
from perdure.engines.embedded.instances import KIND, Instances
from perdure.journal import Entries, Origin
from perdure.kernel.kernel import Aggregate

MAX_PASTS = 1024
MAX_SHARED = 10_000
"""How many steps from one shared past to the next are remembered before all are forgotten."""
MAX_SHARED_VERBS = 64
"""A longer past is an instance's own: it goes on growing, and few others have the same."""


class Past(msgspec.Struct, gc=False):
    """The elements whose work has completed, and the sub-verbs that did it, in their order."""

    # Maps of plain values: a thousand pasts are at hand, and hardly any of it is the garbage collector's business.
    elements: dict[str, None]
    verbs: list[str]
    standing: dict[int, str]
    works: dict[int, None]
    is_shared: bool = False
    """Of many instances at once: nothing is added to it."""

    def add(self, entries: Iterable[Any]) -> None:
        for entry in entries:
            kind = type(entry)
            if kind is Entered:
                self.standing[entry.number] = entry.element
            elif kind is Left:
                element = self.standing.pop(entry.number, None)
                if entry.how == "completed" and element is not None:
                    self.elements[element] = None
            elif kind is JobMade and entry.purpose != "undo":
                self.works[entry.number] = None
            elif kind is JobCompleted and entry.number in self.works:
                del self.works[entry.number]
                self.verbs.append(entry.verb)

    def own(self) -> Past:
        """A copy to which something can be added."""
        return Past({**self.elements}, [*self.verbs], {**self.standing}, {**self.works})


class _Followed(msgspec.Struct, gc=False):
    """A past up to a version; `told` is that of the commit it was last told of, the same once it knows all of it."""

    past: Past
    version: int
    told: int


class Pasts:
    """Of one process: instances begun or shown here are followed, so that showing them again reads nothing.

    Instances that went the same way share one past: where a known move leads from it is worked out once.
    """

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._followed: OrderedDict[bytes, _Followed] = OrderedDict()
        self._first = Past({}, [], {}, {}, is_shared=True)
        self._next: dict[tuple[int, int], tuple[Past, Sequence[Any], Past]] = {}
        instances.kernel.listen(self._on_commit, KIND)
        instances.kernel.leave(self._drop)

    def known(self, aggregate: Aggregate) -> Past | None:
        """The past of an instance that is followed up to where it is now."""
        followed = self._followed.get(aggregate.id)
        if followed is None or not followed.version == followed.told == aggregate.version:
            return None
        return followed.past

    async def of(self, aggregate: Aggregate) -> Past:
        known = self.known(aggregate)
        if known is None:
            followed = self._followed.get(aggregate.id)
            history = await self._instances.history(aggregate.id, Origin(aggregate.tenant))
            read = _Followed(empty_past(), aggregate.version, aggregate.version)
            for told in history[: aggregate.version]:
                read.past.add(told.entries)
            if followed is None or followed.version < aggregate.version:
                self._keep(aggregate.id, read)
            return read.past
        return known

    def _on_commit(self, aggregate: Aggregate, entries: Any) -> None:
        is_known = type(entries) is Entries
        told = entries.alike if is_known else entries
        if not told:
            return
        followed = self._followed.get(aggregate.id)
        if followed is None:
            if type(told[0]) is not InstanceStarted:
                return
            followed = _Followed(self._first, 0, 0)
            self._keep(aggregate.id, followed)
        elif followed.told not in (aggregate.version, followed.version):
            del self._followed[aggregate.id]  # another process committed in between
            return
        followed.told = aggregate.version
        followed.version += 1
        past = followed.past
        if not past.is_shared:
            past.add(told)
        elif is_known:
            known = self._next.get((id(past), id(told)))
            followed.past = known[2] if known is not None else self._learn(past, told)
        else:
            followed.past = past.own()
            followed.past.add(told)

    def _learn(self, past: Past, told: Sequence[Any]) -> Past:
        after = past.own()
        after.add(told)
        after.is_shared = len(after.verbs) <= MAX_SHARED_VERBS
        if after.is_shared:
            if len(self._next) >= MAX_SHARED:
                self._next.clear()
            self._next[id(past), id(told)] = past, told, after  # as long as both are kept here, none has their identity
        return after

    def _keep(self, id: bytes, followed: _Followed) -> None:
        self._followed[id] = followed
        self._followed.move_to_end(id)
        if len(self._followed) > MAX_PASTS:
            self._followed.popitem(last=False)

    def _drop(self, id: bytes) -> None:
        self._followed.pop(id, None)


def empty_past() -> Past:
    return Past({}, [], {}, {})
