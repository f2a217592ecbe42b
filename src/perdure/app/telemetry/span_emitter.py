"""Committed entries as spans, each once and always in the same trace, whichever process commits them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from perdure.app.telemetry.instance_spans import ElementSpans, Stands
from perdure.app.telemetry.observed_commit import ObservedCommit
from perdure.app.telemetry.runbook_spans import CALL_ENDINGS, ENDINGS, RunbookSpans
from perdure.app.telemetry.span_parents import TracePosition, TracePositions
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.journal import Machine, Record
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.machine.journal_entries import CompletionReceived
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import Runbook
from perdure.sources import Id
from perdure.store.store import Store
from perdure.telemetry import Link, Spans, parse_traceparent

INSTANCES = 1024
"""So many instances are remembered by where their tokens stand; those of others are read from the journal."""
PAGE = 500


class SpanEmitter:
    """Between entries and spans."""

    def __init__(
        self, spans: Spans, places: TracePositions, store: Store, machines: Mapping[str, Machine[Any, Any, Any]]
    ) -> None:
        self.spans = spans
        self._store = store
        self._machines = machines
        self._places = places
        self._stands: OrderedDict[bytes, Stands] = OrderedDict()

    async def trace(self, seen: ObservedCommit) -> None:
        aggregate = seen.aggregate
        if aggregate.kind not in (RunbookMachine.kind, INSTANCE):
            return
        place = await self._places.of(aggregate)
        if not place.is_sampled:
            return
        if aggregate.kind == INSTANCE:
            await self._trace_instance(seen, place)
        else:
            await self._trace_runbook(seen, place)

    # --- runbooks ------------------------------------------------------------------------------------------------

    async def _trace_runbook(self, seen: ObservedCommit, place: TracePosition) -> None:
        spans = RunbookSpans(seen.aggregate, place)
        state: Runbook = seen.aggregate.state
        endings = CALL_ENDINGS if state.course is None else ENDINGS
        for sequence, entries in seen.commands():
            for entry in entries:
                link = await self._link(seen.aggregate, sequence, place) if type(entry) is CompletionReceived else None
                for span in spans.of(entry, link):
                    self.spans.emit(span)
                if type(entry) in endings:
                    await self._end(spans, entry, sequence, seen)

    async def _end(self, spans: RunbookSpans, entry: Any, sequence: int, seen: ObservedCommit) -> None:
        state: Runbook = seen.aggregate.state
        since = await self._ended_before(seen.aggregate, sequence) if _may_have_ended(state) else 0
        if since:
            self.spans.emit(spans.resumed(since, entry.at, state.status, sequence))
        else:
            self.spans.emit(spans.whole(entry.at, state.status))

    async def _ended_before(self, aggregate: Aggregate, sequence: int) -> int:
        """When the runbook had ended last before a record; 0 when it had not."""
        ended_at = 0
        async for record in self._records(aggregate, 0, sequence - 1):
            if any(type(entry) in ENDINGS for entry in record.entries):
                ended_at = record.at
        return ended_at

    async def _link(self, aggregate: Aggregate, sequence: int, place: TracePosition) -> Link | None:
        """The context that whoever completed a wait came with: their own trace, which had a part in this one."""
        async for record in self._records(aggregate, sequence - 1, sequence):
            context = parse_traceparent(record.trace)
            if context is not None and (context.trace_id, context.span_id) != (place.trace_id, place.parent):
                return Link(context, {"perdure.part": "completion"})
        return None

    async def _records(self, aggregate: Aggregate, after: int, last: int) -> AsyncIterator[Record[Any]]:
        codec = self._machines[aggregate.kind].records
        while after < last:
            rows = await self._store.records(Id(aggregate.id), after, min(PAGE, last - after))
            if not rows:
                return
            for row in rows:
                after = row.sequence
                yield codec.decode(row.body)

    # --- instances -----------------------------------------------------------------------------------------------

    async def _trace_instance(self, seen: ObservedCommit, place: TracePosition) -> None:
        spans = ElementSpans(seen.aggregate, place, await self._standing(seen))
        for _, entries in seen.commands():
            for span in spans.of(entries, seen.at):
                self.spans.emit(span)
        spans.stands.version = seen.aggregate.version

    async def _standing(self, seen: ObservedCommit) -> Stands:
        """Where the tokens stood before this commit: remembered, or read again when others have committed since."""
        aggregate = seen.aggregate
        known = self._stands.pop(aggregate.id, None) or Stands()
        if known.version != seen.before:
            known = Stands()
            replay = ElementSpans(aggregate, TracePosition("", False), known)
            async for record in self._records(aggregate, 0, seen.before):
                _exhaust(replay.of(record.entries, record.at))
        if not aggregate.state.ended_at:
            self._stands[aggregate.id] = known
            if len(self._stands) > INSTANCES:
                self._stands.popitem(last=False)
        return known


def _may_have_ended(state: Runbook) -> bool:
    """Whether something may have begun a plan anew after it had ended: else its journal need not be asked."""
    course = state.course
    if course is None:
        return False
    return bool(course.ending) or len(course.fragments) > 1 or any(
        step.links is not None and step.links.round for step in state.steps
    )  # fmt: skip


def _exhaust(spans: Iterator[Any]) -> None:
    for _ in spans:
        pass
