"""Spans that are over, on their way to a collector: made as values, turned into OpenTelemetry's when one listens."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.errors import StoreSettingError
from perdure.telemetry.settings import SERVICE, TraceSettings
from perdure.telemetry.trace_context import TraceContext

REMEMBERED = 16_384
"""So many spans a process remembers having emitted: what is delivered again within that is seen once."""
MICRO = 1000
SCOPE = "perdure"
SEND_SECONDS = 5
"""So long one batch is tried to be sent; also the most that a process waits for a collector when it stops."""

Attributes = Mapping[str, str | int | float | bool]


class SpanEvent(msgspec.Struct, frozen=True):
    """Something that happened in a span, at a time in microseconds."""

    name: str
    at: int
    attributes: Attributes = {}


class Link(msgspec.Struct, frozen=True):
    """Another trace that had a part in it."""

    context: TraceContext
    attributes: Attributes = {}


class Span(msgspec.Struct, frozen=True):
    """What happened from one time to another, in microseconds. It carries names, ids and states, never data."""

    context: TraceContext
    parent: str
    name: str
    start: int
    end: int
    attributes: Attributes = {}
    events: tuple[SpanEvent, ...] = ()
    links: tuple[Link, ...] = ()
    is_error: bool = False
    is_parent_remote: bool = False


class Spans:
    """Hands spans to an exporter, each once."""

    def __init__(self, processor: Any, service_name: str = SERVICE) -> None:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope  # noqa: PLC0415

        self._processor = processor
        self._resource = Resource.create({"service.name": service_name})
        self._scope = InstrumentationScope(SCOPE)
        self._emitted: OrderedDict[tuple[str, str], None] = OrderedDict()

    def emit(self, span: Span) -> None:
        if not span.context.is_sampled or not self._is_new(span):
            return
        self._processor.on_end(self._readable(span))

    def _is_new(self, span: Span) -> bool:
        name = (span.context.trace_id, span.context.span_id)
        if name in self._emitted:
            return False
        self._emitted[name] = None
        if len(self._emitted) > REMEMBERED:
            self._emitted.popitem(last=False)
        return True

    def _readable(self, span: Span) -> Any:
        from opentelemetry import trace  # noqa: PLC0415
        from opentelemetry.sdk.trace import Event, ReadableSpan  # noqa: PLC0415

        parent = TraceContext(span.context.trace_id, span.parent) if span.parent else None
        code = trace.StatusCode.ERROR if span.is_error else trace.StatusCode.UNSET
        return ReadableSpan(
            span.name, _context(span.context), _context(parent, span.is_parent_remote) if parent else None,
            self._resource, dict(span.attributes),
            [Event(each.name, dict(each.attributes), each.at * MICRO) for each in span.events],
            [trace.Link(_context(each.context, True), dict(each.attributes)) for each in span.links],
            trace.SpanKind.INTERNAL, None, trace.Status(code), span.start * MICRO, max(span.start, span.end) * MICRO,
            self._scope,
        )  # fmt: skip

    def flush(self, seconds: float = 5.0) -> None:
        self._processor.force_flush(int(seconds * 1000))

    def close(self) -> None:
        """Send what is left and stop; a collector that does not answer is not waited for without end."""
        self._processor.shutdown()


def open_spans(settings: TraceSettings, exporter: Any = None) -> Spans:
    """Spans by OTLP over HTTP, in batches and by a thread of their own; or by any exporter given."""
    try:
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

        if exporter is None:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

            exporter = OTLPSpanExporter(
                endpoint=settings.endpoint, headers=settings.headers(os.environ), timeout=SEND_SECONDS
            )
    except ImportError as error:
        raise StoreSettingError(
            "send traces to", "collector", settings.endpoint, f"a package is missing ({error})",
            "Install perdure[telemetry].",
        ) from error  # fmt: skip
    return Spans(BatchSpanProcessor(exporter), settings.service_name)


def _context(context: TraceContext, is_remote: bool = False) -> Any:
    from opentelemetry import trace  # noqa: PLC0415

    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED if context.is_sampled else 0)
    return trace.SpanContext(int(context.trace_id, 16), int(context.span_id, 16), is_remote, flags)
