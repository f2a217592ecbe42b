"""Span parents: one trace holds a runbook and everything it started, found from the journal alone."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any, NamedTuple

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.errors import PerdureError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import Id, id_text, parse_id
from perdure.store.store import Store
from perdure.telemetry import TraceContext, derived_trace_id, parse_traceparent, span_id
from perdure.telemetry.trace_context import is_kept

MAX_DEPTH = 100
TRACED = (RunbookMachine.kind, INSTANCE)
"""Kinds of aggregates whose work has spans."""
REMEMBERED = 8192
_LETTERS = re.compile(r"(?:^|:)([0-7][0-9a-hjkmnp-tv-z]{25})(?=[:/.]|$)")


class TracePosition(NamedTuple):
    """The trace of something, and the span above it."""

    trace_id: str
    is_sampled: bool
    parent: str = ""
    is_remote: bool = False

    def context(self, span: str) -> TraceContext:
        return TraceContext(self.trace_id, span, self.is_sampled)


class TracePositions:
    """Finds the trace of an aggregate: the one it was begun under, or that of whatever it all began with.

    A trace that nobody gave is derived from the first one's id, so that it is the same in every process.
    """

    def __init__(self, kernel: Kernel, store: Store, sample: float) -> None:
        self._kernel = kernel
        self._store = store
        self._sample = sample
        self._known: OrderedDict[bytes, tuple[str, bool]] = OrderedDict()

    async def of(self, aggregate: Aggregate) -> TracePosition:
        state = aggregate.state
        above = span_above(state.parent)
        given = parse_traceparent(state.trace)
        if given is not None:
            return TracePosition(given.trace_id, given.is_sampled, above or given.span_id, not above)
        trace_id, is_sampled = await self._inherited(aggregate)
        return TracePosition(trace_id, is_sampled, above)

    async def of_call(self, letters: str, tenant: str) -> TracePosition:
        """The place of what an attempt belongs to; one that is not committed yet begins its own trace."""
        aggregate = self._kernel.remembered(parse_id(letters))
        if aggregate is not None and aggregate.tenant == tenant:
            return await self.of(aggregate)
        return self._derived(letters)

    def _derived(self, letters: str) -> TracePosition:
        trace_id = derived_trace_id(letters)
        return TracePosition(trace_id, is_kept(trace_id, self._sample))

    async def _inherited(self, aggregate: Aggregate) -> tuple[str, bool]:
        known = self._known.get(aggregate.id)
        if known is None:
            known = self._known[aggregate.id] = await self._climbed(aggregate)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return known

    async def _climbed(self, aggregate: Aggregate) -> tuple[str, bool]:
        for _ in range(MAX_DEPTH):
            given = parse_traceparent(aggregate.state.trace)
            if given is not None:
                return given.trace_id, given.is_sampled
            above = await self._above(aggregate)
            if above is None:
                break
            aggregate = above
        place = self._derived(id_text(aggregate.id))
        return place.trace_id, place.is_sampled

    async def _above(self, aggregate: Aggregate) -> Aggregate | None:
        """What began it; None for what began by itself, and where that cannot be read."""
        parent = aggregate.state.parent
        if not parent:
            return None
        try:
            id = await self._id_above(parent, aggregate.tenant)
            found = await self._kernel.recall(id, Origin(aggregate.tenant)) if id is not None else None
            return found if found is not None and found.kind in TRACED else None
        except PerdureError:
            return None

    async def _id_above(self, parent: str, tenant: str) -> Id | None:
        match = _LETTERS.search(parent)
        if match is not None:
            return parse_id(match[1])
        found = await self._store.find_tokens(tenant, parent)  # an escalation under a key of its verb's own
        return found[0].aggregate if found else None


def span_above(parent: str) -> str:
    """The span under which something runs, from what its state says of who began it; empty for what began by itself."""
    kind, _, place = parent.partition(":")
    if not parent:
        return ""
    if kind == "step":
        return carried_span(place)
    if kind == "node":
        letters, _, number = place.partition(":")
        return node_span(letters, int(number))
    match = _LETTERS.search(parent)
    return runbook_span(match[1]) if match is not None else ""


def runbook_span(letters: str) -> str:
    return span_id("runbook", letters)


def instance_span(letters: str) -> str:
    return span_id("instance", letters)


def node_span(letters: str, number: int) -> str:
    return span_id("node", letters, number)


def carried_span(place: str) -> str:
    """The wait of a step for the process that carries it, by what that process knows the step as."""
    return span_id("carried", place)


def attempt_span(idempotency_key: str, attempt: int) -> str:
    """One execution of a handler, by the key the handler sees."""
    return span_id("attempt", idempotency_key, attempt)


def attributes(aggregate: Aggregate, **more: Any) -> dict[str, Any]:
    """Names, ids and states; what is empty is left out."""
    named = {"perdure.tenant": aggregate.tenant, **{f"perdure.{name}": value for name, value in more.items()}}
    return {name: value for name, value in named.items() if value not in ("", None)}
