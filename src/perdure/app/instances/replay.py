"""Instances as they were: the state, the data and the way taken after any record of the journal, by replay alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from perdure.app.calls.views import IncidentView
from perdure.app.instances.history_cache import InstanceHistory, empty_history
from perdure.app.runtime import Runtime
from perdure.bpmn.machine.journal_entries import Entered, Left, Passed
from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text

MAX_RECORDS = 100_000
"""How far one look back goes."""


class CountView(msgspec.Struct, frozen=True):
    """How many at an element."""

    element: str
    count: int


class MarksView(msgspec.Struct, frozen=True):
    """What a diagram shows of an instance: where tokens stand, what is stuck, which way it went.

    `path` are the elements and `flows` the sequence flows, each once, in the order they were first taken.
    """

    tokens: list[CountView] = []
    completed: list[CountView] = []
    incidents: list[IncidentView] = []
    waiting: list[str] = []
    path: list[str] = []
    flows: list[str] = []


class DiagramView(msgspec.Struct, frozen=True):
    """The model an instance ran at a record, and its marks. `last` is the record there are marks up to at most."""

    instance: str
    process: str
    version: int
    state: str
    at: int
    last: int
    marks: MarksView
    xml: str = ""


class Trail:
    """The way an instance went, from its entries."""

    def __init__(self) -> None:
        self.done: dict[str, int] = {}
        self.steps: dict[str, bool] = {}
        """Elements and flows in the order they were first taken; true for flows."""
        self._standing: dict[int, str] = {}

    def add(self, entries: Iterable[Any]) -> None:
        for entry in entries:
            kind = type(entry)
            if kind is Passed or kind is Entered:
                if entry.flow:
                    self.steps.setdefault(entry.flow, True)
                self.steps.setdefault(entry.element, False)
                if kind is Entered:
                    self._standing[entry.number] = entry.element
                else:
                    self._count(entry.element)
            elif kind is Left:
                element = self._standing.pop(entry.number, "")
                if entry.how == "completed" and element:
                    self._count(element)

    def _count(self, element: str) -> None:
        self.done[element] = self.done.get(element, 0) + 1


class ReplayedInstance(NamedTuple):
    """An instance after a record, with what its history said until then."""

    aggregate: Aggregate
    past: InstanceHistory
    trail: Trail


async def replay_instance(runtime: Runtime, aggregate: Aggregate, at: int | None = None) -> ReplayedInstance:
    """The instance as it was after that many records, or as it is; its chain is checked on the way."""
    sequence = aggregate.version if at is None else at
    if not 1 <= sequence <= aggregate.version:
        raise _refused("not_found", aggregate, sequence, f"its journal has {aggregate.version} records")
    if sequence > MAX_RECORDS:
        raise _refused("blocked", aggregate, sequence, f"one look back goes over {MAX_RECORDS:,} records at most")
    machine, state = runtime.machines[aggregate.kind], None
    past, trail = empty_history(), Trail()
    async for row in runtime.store.history(aggregate):
        if row.sequence > sequence:
            continue  # the head says whether all of it is what was written
        entries = machine.records.decode(row.body).entries
        past.add(entries)
        trail.add(entries)
        for entry in entries:
            state = machine.apply(state, entry)
    replayed = Aggregate(
        aggregate.id, aggregate.tenant, aggregate.kind, sequence, state, aggregate.head, aggregate.rows
    )  # fmt: skip
    return ReplayedInstance(replayed, past, trail)


def marks_view(state: Any, trail: Trail, incidents: list[IncidentView]) -> MarksView:
    """The marks of a state and of the way that led to it."""
    here = [node for node in state.nodes.values() if node.parent]
    tokens: dict[str, int] = {}
    for node in here:
        tokens[node.element] = tokens.get(node.element, 0) + 1
    waiting = [node.element for node in here if node.kind in ("task", "wait", "gate")]
    return MarksView(
        [CountView(*each) for each in tokens.items()], [CountView(*each) for each in trail.done.items()], incidents,
        list(dict.fromkeys(waiting)), [name for name, is_flow in trail.steps.items() if not is_flow],
        [name for name, is_flow in trail.steps.items() if is_flow],
    )  # fmt: skip


def _refused(code: Any, aggregate: Aggregate, sequence: int, fact: str) -> RejectedError:
    do = f"go back to record {sequence} of"
    return RejectedError(Rejection(code, do, "instance", id_text(aggregate.id), fact))
