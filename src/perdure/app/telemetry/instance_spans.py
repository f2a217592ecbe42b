"""An instance as spans: the process, where its tokens stood, and every attempt of a job, folded from its entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from perdure.app.telemetry.span_parents import TracePosition, attempt_span, attributes, instance_span, node_span
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.state import ROOT, Failure, Instance, job_key
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text
from perdure.telemetry import Span, SpanEvent

_ERRORS = frozenset({"failed", "compensation_failed"})


class Stand(msgspec.Struct):
    """Where a token stands, and the job it waits for there."""

    element: str
    kind: str
    parent: int
    at: int
    run: int = 0
    began_as: str = ""
    verb: str = ""
    attempt: int = 0
    started_at: int = 0
    events: list[SpanEvent] = []


class Stands(msgspec.Struct):
    """Where the tokens of an instance stand as of a version; made from the journal, from its beginning."""

    version: int = 0
    at: dict[int, Stand] = {}


class ElementSpans(msgspec.Struct, frozen=True):
    """The spans that are over once entries of an instance are durable."""

    aggregate: Aggregate
    place: TracePosition
    stands: Stands

    def of(self, entries: tuple[Any, ...], at: int) -> Iterator[Span]:
        """`at` is when they were committed: leaving an element says no time of its own."""
        for entry in entries:
            yield from self._of(entry, getattr(entry, "at", 0) or at)

    def _of(self, entry: Any, at: int) -> Iterator[Span]:
        stand = self.stands.at.get(getattr(entry, "number", 0))
        match entry:
            case e.Entered():
                self.stands.at[entry.number] = Stand(entry.element, entry.kind, entry.parent, at)
            case e.InstanceMigrated():
                for each in self.stands.at.values():
                    each.element = entry.mapping.get(each.element, each.element)
            case e.InstanceEnded():
                for number in list(self.stands.at):
                    yield from self._left(number, at, entry.status)
                yield self._whole(at, entry.status)
            case e.Left():
                yield from self._left(entry.number, at, entry.how)
            case _ if stand is not None:
                yield from self._at_job(stand, entry, at)

    def _at_job(self, stand: Stand, entry: Any, at: int) -> Iterator[Span]:
        match entry:
            case e.JobMade():
                if stand.run != entry.run:  # one made again keeps its key
                    stand.run, stand.began_as = entry.run, stand.element
                stand.verb = entry.verb
            case e.JobStarted():
                stand.attempt, stand.started_at = entry.attempt, at
            case e.JobFailed():
                yield self._attempt(entry.number, stand, entry.attempt, at, entry.failure)
            case e.JobCompleted() | e.JobAsked() | e.JobHeld():
                yield self._attempt(entry.number, stand, stand.attempt, at)
            case e.IncidentRaised():
                stand.events = [*stand.events, SpanEvent("incident", at, {"perdure.incident": entry.code})]
            case e.Adopted():
                stand.parent = entry.parent
            case _:
                return

    def _left(self, number: int, at: int, how: str) -> Iterator[Span]:
        """The token is gone, and whatever stood inside its element with it."""
        stand = self.stands.at.pop(number, None)
        if stand is None:
            return
        for inner in [each for each, inside in self.stands.at.items() if inside.parent == number]:
            yield from self._left(inner, at, how)
        named = self._named(element=stand.element, element_kind=stand.kind, state=how)
        yield Span(
            self.place.context(node_span(self._letters, number)), self._above(stand.parent), f"element {stand.element}",
            stand.at, at, named, tuple(stand.events), is_error=bool(stand.events),
        )  # fmt: skip

    def _attempt(self, number: int, stand: Stand, attempt: int, at: int, failure: Failure | None = None) -> Span:
        key = job_key(self._letters, stand.began_as, stand.run)
        named = self._named(
            element=stand.element, verb=stand.verb, attempt=attempt, failure=failure.code if failure else "",
            failure_class=failure.kind if failure else "",
        )  # fmt: skip
        return Span(
            self.place.context(attempt_span(key, attempt)), self._above(number), f"attempt {stand.verb}",
            stand.started_at or at, at, named, is_error=failure is not None,
        )  # fmt: skip

    def _above(self, number: int) -> str:
        return instance_span(self._letters) if number <= ROOT else node_span(self._letters, number)

    def _named(self, **more: Any) -> dict[str, Any]:
        return attributes(self.aggregate, instance=self._letters, process=self.aggregate.state.process, **more)

    # --- inside --------------------------------------------------------------------------------------------------

    @property
    def _letters(self) -> str:
        return id_text(self.aggregate.id)

    def _whole(self, at: int, status: str) -> Span:
        state: Instance = self.aggregate.state
        named = attributes(
            self.aggregate, instance=self._letters, process=state.process, process_version=state.process_version,
            state=status,
        )  # fmt: skip
        return Span(
            self.place.context(instance_span(self._letters)), self.place.parent, f"process {state.process}",
            state.started_at, at, named, is_error=status in _ERRORS, is_parent_remote=self.place.is_remote,
        )  # fmt: skip
