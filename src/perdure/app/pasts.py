"""Pasts: what the histories of instances say that their states do not, followed as this process commits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from perdure.bpmn.machine.entries import Entered, InstanceStarted, JobCompleted, JobMade, Left
from perdure.engines.embedded.instances import Instances
from perdure.journal import Origin, alike
from perdure.kernel.kernel import Aggregate

MAX_PASTS = 1024


class Past(msgspec.Struct, gc=False):
    """The elements whose work has completed, and the sub-verbs that did it, in their order."""

    # Maps of plain values: a thousand pasts are at hand, and hardly any of it is the garbage collector's business.
    elements: dict[str, None]
    verbs: list[str]
    standing: dict[int, str]
    works: dict[int, None]

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


class _Followed(msgspec.Struct, gc=False):
    """A past up to a version. `told` is the commit it was last told of, all of it only if the versions agree."""

    past: Past
    version: int
    told: Aggregate | None = None


class Pasts:
    """Of one process: instances begun or shown here are followed, so that showing them again reads nothing."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._followed: OrderedDict[bytes, _Followed] = OrderedDict()
        instances.kernel.listen(self._on_commit)

    def known(self, aggregate: Aggregate) -> Past | None:
        """The past of an instance that is followed up to where it is now."""
        followed = self._followed.get(aggregate.id)
        return followed.past if followed is not None and followed.version == aggregate.version else None

    async def of(self, aggregate: Aggregate) -> Past:
        followed = self._followed.get(aggregate.id)
        if followed is None or followed.version != aggregate.version:
            history = await self._instances.history(aggregate.id, Origin(aggregate.tenant))
            read = _Followed(empty_past(), aggregate.version)
            for told in history[: aggregate.version]:
                read.past.add(told.entries)
            if followed is None or followed.version < aggregate.version:
                self._keep(aggregate.id, read)
            return read.past
        return followed.past

    def _on_commit(self, aggregate: Aggregate, entries: Sequence[Any]) -> None:
        told = alike(entries)
        if not told:
            return
        followed = self._followed.get(aggregate.id)
        if followed is None:
            if type(told[0]) is not InstanceStarted:
                return
            followed = _Followed(empty_past(), 0)
            self._keep(aggregate.id, followed)
        elif followed.told is not aggregate and followed.told is not None and followed.told.version != followed.version:
            del self._followed[aggregate.id]  # another process committed in between
            return
        followed.told = aggregate
        followed.version += 1
        followed.past.add(told)

    def _keep(self, id: bytes, followed: _Followed) -> None:
        self._followed[id] = followed
        self._followed.move_to_end(id)
        if len(self._followed) > MAX_PASTS:
            self._followed.popitem(last=False)


def empty_past() -> Past:
    return Past({}, [], {}, {})
