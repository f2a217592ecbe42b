"""The context of an attempt: its handler passes the trace on, and its log lines name call and tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from perdure.app.telemetry.span_parents import TracePosition, TracePositions, attempt_span
from perdure.sources import ID_LENGTH
from perdure.telemetry import LogScope, logging_within, parse_traceparent, traceparent
from perdure.verbs.handlers import Call


class AttemptContext:
    """Around every attempt of this process. Only where spans are emitted is there one for others to hang theirs on."""

    def __init__(self, places: TracePositions, emits: bool) -> None:
        self._places = places
        self._emits = emits

    @asynccontextmanager
    async def around(self, call: Call) -> AsyncIterator[None]:
        key = call.idempotency_key
        place = await self._place(call, key)
        if self._emits:
            passed = traceparent(place.context(attempt_span(key, call.attempt)))
            call.trace = {"traceparent": passed}
        with logging_within(LogScope(place.trace_id, call.call_id, call.tenant)):
            yield

    async def _place(self, call: Call, key: str) -> TracePosition:
        given = parse_traceparent((call.trace or {}).get("traceparent", ""))
        if given is not None:
            return TracePosition(given.trace_id, given.is_sampled)
        return await self._places.of_call(key[:ID_LENGTH], call.tenant)
