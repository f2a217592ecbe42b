"""The cache of instance histories: facts that states do not hold, followed as this process commits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.journal_entries import Entered, InstanceStarted, JobCompleted, JobMade, Left
from perdure.journal import Entries, Origin
from perdure.kernel.kernel import Aggregate
from perdure.processes.instance_reader import InstanceReader

MAX_PASTS = 1024
MAX_SHARED = 10_000
"""How many steps from one shared past to the next are remembered before all are forgotten."""
MAX_SHARED_VERBS = 64
"""A longer past is an instance's own: it goes on growing, and few others have the same."""


class InstanceHistory(msgspec.Struct, gc=False):
    """The elements whose work has completed, and the sub-verbs that did it, in their order."""

    # Maps of plain values: a thousand pasts are at hand, and hardly any of it is the garbage collector's business.
    elements: dict[str, None]
    verbs: list[str]
    standing: dict[int, str]
    works: dict[int, None]
    count: int = 0
    """Of how many records it tells."""
    last: Sequence[Any] = ()
    """Of a past that many instances share, to which nothing is added: what the last record tells."""
    after: dict[int, InstanceHistory] | None = None
    """Of the same: where known moves lead from it, by the identity of what they tell."""
    looks: dict[Any, Any] | None = None
    """Of the same: how instances look that have it, by their shape; None where they do not look the same."""

    def add(self, entries: Iterable[Any]) -> None:
        """What one record tells."""
        self.count += 1
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

    def own(self) -> InstanceHistory:
        """A copy to which something can be added."""
        return InstanceHistory({**self.elements}, [*self.verbs], {**self.standing}, {**self.works}, self.count)

    def shared(self, last: Sequence[Any] = ()) -> InstanceHistory:
        """The same, for many."""
        self.last, self.after, self.looks = last, {}, {}
        return self


class Followed(msgspec.Struct, gc=False):
    """An instance's past, and the version of the commit this process was last told of, or it was read at.

    It is whole when it tells of as many records. One that does not lags behind, since another process has committed as
    well: it is read anew. One that was read before this process was told of the last commit has that already.
    """

    past: InstanceHistory
    told: int


class InstanceHistoryCache:
    """Of one process: instances begun or shown here are followed, so that showing them again reads nothing.

    Instances that went the same way share one past: where a known move leads from it is worked out once.
    """

    def __init__(self, instances: InstanceReader) -> None:
        self._instances = instances
        self._followed: dict[bytes, Followed] = {}
        self._first = empty_history().shared()
        self._learned = 0
        instances.kernel.listen(self._on_commit, INSTANCE)
        instances.kernel.leave(self._drop)

    def known(self, aggregate: Aggregate) -> InstanceHistory | None:
        """The past of an instance that is followed up to where it is now."""
        followed = self._followed.get(aggregate.id)
        if followed is None or not followed.past.count == followed.told == aggregate.version:
            return None
        return followed.past

    async def of(self, aggregate: Aggregate) -> InstanceHistory:
        known = self.known(aggregate)
        if known is not None:
            return known
        history = await self._instances.history(aggregate.id, Origin(aggregate.tenant))
        read = empty_history()
        for told in history[: aggregate.version]:
            read.add(told.entries)
        followed = self._followed.get(aggregate.id)
        if followed is None or followed.told <= read.count:
            self._keep(aggregate.id, Followed(read, read.count))
        return read

    def _on_commit(self, aggregate: Aggregate, entries: Any) -> None:
        followed, version = self._followed.get(aggregate.id), aggregate.version
        if followed is None:
            self._begin(aggregate, entries)
            return
        past = followed.past
        if followed.told != version:
            if followed.told != past.count:
                del self._followed[aggregate.id]  # another process committed in between
                return
            followed.told = version
        elif past.count >= version:
            return  # it was read before this process was told
        if past.after is not None and type(entries) is Entries:
            known = past.after.get(id(entries.alike))
            if known is not None:
                followed.past = known
                return
        self._add(followed, entries)

    def _begin(self, aggregate: Aggregate, entries: Any) -> None:
        told = entries.alike if type(entries) is Entries else entries
        if told and type(told[0]) is InstanceStarted:
            followed = Followed(self._first, aggregate.version)
            self._add(followed, entries)
            self._keep(aggregate.id, followed)

    def _add(self, followed: Followed, entries: Any) -> None:
        """What is told for the first time, or is an instance's own."""
        told = entries.alike if type(entries) is Entries else entries
        past = followed.past
        if past.after is None:
            if told:
                past.add(told)
        elif told:
            known = past.after.get(id(told))
            followed.past = known or self._learn(past, past.after, told, is_known=told is not entries)

    def _learn(
        self, past: InstanceHistory, after: dict[int, InstanceHistory], told: Sequence[Any], *, is_known: bool
    ) -> InstanceHistory:
        past = past.own()
        past.add(told)
        if is_known and len(past.verbs) <= MAX_SHARED_VERBS:
            self._learned += 1
            if self._learned > MAX_SHARED:
                self._first, self._learned = empty_history().shared(), 0
            after[id(told)] = past.shared(told)  # as long as it is kept there, nothing else has its identity
        return past

    def _keep(self, instance: bytes, followed: Followed) -> None:
        self._followed[instance] = followed
        if len(self._followed) > MAX_PASTS:
            del self._followed[next(iter(self._followed))]

    def _drop(self, instance: bytes) -> None:
        self._followed.pop(instance, None)


def empty_history() -> InstanceHistory:
    return InstanceHistory({}, [], {}, {})
