"""A runbook as spans: the whole of it, every attempt, every wait and every gate, from what its journal says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from perdure.app.telemetry.span_parents import TracePosition, attempt_span, attributes, carried_span, runbook_span
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.runbook_machine import carried_as
from perdure.runbooks.machine.state import CANCELLED, TOKEN_STATES, Failure, Runbook, Step, Token, step_id
from perdure.sources import id_text
from perdure.telemetry import Link, Span, SpanEvent, span_id

ENDINGS = frozenset({e.RunbookCompleted, e.RunbookFailed, e.CallCancelled, e.CompensationEnded})
CALL_ENDINGS = frozenset({e.StepCompleted, e.StepFailed, e.CallCancelled})
_LEAVES = frozenset({e.StepFailed, e.StepCancelled})
_FINISHES = frozenset({e.StepCompleted, e.StepFailed, e.StepParked, e.IncidentRaised, e.StepCancelled})


class RunbookSpans(msgspec.Struct, frozen=True):
    """The spans that are over once an entry of a runbook is durable."""

    aggregate: Aggregate
    place: TracePosition

    def of(self, entry: Any, link: Link | None = None) -> Iterator[Span]:
        """`link` is the context that came with the command, where it was another one than the runbook's."""
        kind = type(entry)
        if kind is e.AttemptFailed:
            yield self._attempt(entry.step, entry.attempt, entry.at, entry.failure)
        elif kind is e.StepHeld:
            yield self._attempt(entry.step, entry.attempt, entry.at, None)
        elif kind in _FINISHES:
            yield from self._finished(entry)
        elif kind in (e.CompletionReceived, e.TimedOut):
            yield self._wait(entry.step, entry.token, entry.at, (link,) if link is not None else ())
        elif kind is e.GateAnswered:
            yield from self._gate(entry)
        elif kind is e.IncidentCreated:
            yield self._incident(entry.step, entry.at, entry.code)
        if kind in _LEAVES:
            yield from self._abandoned(entry.step, entry.at)
        elif kind is e.CallCancelled:
            for number, step in enumerate(self._state.steps, 1):
                if step.status == "cancelled" and step.tokens:
                    yield from self._abandoned(number, entry.at)

    def whole(self, at: int, status: str) -> Span:
        """The runbook itself, from its start to its first end."""
        state = self._state
        verb = state.steps[0].verb if state.course is None and state.steps else ""
        named = attributes(
            self.aggregate, runbook=self._letters, verb=verb, state=status, steps=len(state.steps)
        )  # fmt: skip
        return Span(
            self.place.context(runbook_span(self._letters)), self.place.parent, f"runbook {verb}".strip(),
            state.started_at, at, named, is_error=status == "failed", is_parent_remote=self.place.is_remote,
        )  # fmt: skip

    def resumed(self, since: int, at: int, status: str, sequence: int) -> Span:
        """What became of a runbook that had ended before: retried, extended or taken back."""
        span = span_id("resumed", self._letters, sequence)
        named = attributes(self.aggregate, runbook=self._letters, state=status)
        return self._span(span, "runbook resumed", since, at, named, is_error=status == "failed")

    # --- inside --------------------------------------------------------------------------------------------------

    @property
    def _state(self) -> Runbook:
        state: Runbook = self.aggregate.state
        return state

    @property
    def _letters(self) -> str:
        return id_text(self.aggregate.id)

    def _span(self, span: str, name: str, start: int, end: int, named: dict[str, Any], **more: Any) -> Span:
        above = more.pop("parent", None) or runbook_span(self._letters)
        return Span(self.place.context(span), above, name, start, end, named, **more)

    def _named(self, number: int, **more: Any) -> dict[str, Any]:
        step = self._state.steps[number - 1]
        name = step.links.name if step.links is not None else ""
        return attributes(
            self.aggregate, runbook=self._letters, step=number, step_name=name, verb=step.verb, **more
        )  # fmt: skip

    def _finished(self, entry: Any) -> Iterator[Span]:
        """The attempt that ended with the entry, if one did: after a wait, none was under way."""
        step = self._state.steps[entry.step - 1]
        frame = step.frame
        failure = getattr(entry, "failure", None)
        code = entry.code if type(entry) is e.IncidentRaised else ""
        if frame is None:
            if type(entry) in (e.StepCompleted, e.StepFailed) and step.verb and not step.tokens:
                yield self._attempt(entry.step, 1, entry.at, failure)
            elif code:
                yield self._incident(entry.step, entry.at, code)
            return
        has_parked = any(token.parked_at == frame.ended_at for token in step.tokens)
        if frame.ended_at == entry.at and (type(entry) is e.StepParked or not has_parked):
            yield self._attempt(entry.step, frame.attempt, entry.at, failure or frame.failure, code)
        elif code:
            yield self._incident(entry.step, entry.at, code)

    def _attempt(self, number: int, attempt: int, at: int, failure: Failure | None, incident: str = "") -> Span:
        step = self._state.steps[number - 1]
        frame = step.frame
        start = frame.started_at if frame is not None and frame.attempt == attempt else self._began(step, at)
        named = self._named(
            number, attempt=attempt, failure=failure.code if failure else "",
            failure_class=failure.kind if failure else "", incident=incident,
        )  # fmt: skip
        events = (_incident_event(at, incident),) if incident else ()
        return self._span(
            attempt_span(step_id(self._letters, number), attempt), f"attempt {step.verb}", start, at, named,
            events=events, is_error=failure is not None or bool(incident),
        )  # fmt: skip

    def _began(self, step: Step, at: int) -> int:
        began = step.links.begun_at if step.links is not None else self._state.started_at
        return min(began or at, at)

    def _wait(self, number: int, position: int, at: int, links: tuple[Link, ...] = ()) -> Span:
        step = self._state.steps[number - 1]
        token = step.tokens[position - 1]
        named = self._named(number, token=position, waited_for=token.name, state=TOKEN_STATES[token.status])
        if step.carrier is not None:
            named["perdure.process"] = step.carrier.process
        return self._span(
            self._wait_span(number, position, step, token), f"wait {token.name}", token.parked_at, at, named,
            links=links,
        )  # fmt: skip

    def _wait_span(self, number: int, position: int, step: Step, token: Token) -> str:
        if step.carrier is not None and not token.escalates:
            return carried_span(carried_as(self._letters, number, step))
        return span_id("wait", self._letters, number, position)

    def _abandoned(self, number: int, at: int) -> Iterator[Span]:
        """The waits that ended because their step did."""
        step = self._state.steps[number - 1]
        began = self._began(step, at)
        for position, token in enumerate(step.tokens, 1):
            if token.status == CANCELLED and token.parked_at >= began:
                yield self._wait(number, position, at)

    def _gate(self, entry: e.GateAnswered) -> Iterator[Span]:
        links = self._state.steps[entry.step - 1].links
        if links is not None and links.gated_at:
            span = span_id("gate", self._letters, entry.step, links.round)
            named = self._named(entry.step, agrees=entry.agrees)
            yield self._span(span, "gate", links.gated_at, entry.at, named)

    def _incident(self, number: int, at: int, code: str) -> Span:
        """An incident outside any attempt: there is no span of its own to be an event of, so it gets one."""
        span = span_id("incident", self._letters, number, at, code)
        named = self._named(number, incident=code)
        return self._span(span, "incident", at, at, named, events=(_incident_event(at, code),), is_error=True)


def _incident_event(at: int, code: str) -> SpanEvent:
    return SpanEvent("incident", at, {"perdure.incident": code})
