"""What is put around an attempt: its handler gets a context to pass on, and its log lines say what they belong to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from perdure.app.observing.places import Place, Places, attempt_span
from perdure.sources import ID_LENGTH
from perdure.telemetry import LogScope, logging_within, parse_traceparent, traceparent
from perdure.verbs.handlers import Call


class Correlating:
    """Around every attempt of this process. Only where spans are emitted is there one for others to hang theirs on."""

    def __init__(self, places: Places, emits: bool) -> None:
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

    async def _place(self, call: Call, key: str) -> Place:
        given = parse_traceparent((call.trace or {}).get("traceparent", ""))
        if given is not None:
            return Place(given.trace_id, given.is_sampled)
        return await self._places.of_call(key[:ID_LENGTH], call.tenant)
