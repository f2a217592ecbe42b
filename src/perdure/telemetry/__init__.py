"""Telemetry for operators: metrics, traces and logs. None of it costs anything until it is switched on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.telemetry.logs import LogScope as LogScope
    from perdure.telemetry.logs import configure_logs as configure_logs
    from perdure.telemetry.logs import logging_within as logging_within
    from perdure.telemetry.settings import TelemetrySettings as TelemetrySettings
    from perdure.telemetry.settings import TraceSettings as TraceSettings
    from perdure.telemetry.spans import Link as Link
    from perdure.telemetry.spans import Span as Span
    from perdure.telemetry.spans import SpanEvent as SpanEvent
    from perdure.telemetry.spans import Spans as Spans
    from perdure.telemetry.spans import open_spans as open_spans
    from perdure.telemetry.trace_context import TraceContext as TraceContext
    from perdure.telemetry.trace_context import derived_trace_id as derived_trace_id
    from perdure.telemetry.trace_context import parse_traceparent as parse_traceparent
    from perdure.telemetry.trace_context import span_id as span_id
    from perdure.telemetry.trace_context import traceparent as traceparent

# Names are loaded when first used: settings are read without them.
_HOMES = {
    "logs": ("LogScope", "configure_logs", "logging_within"),
    "settings": ("TelemetrySettings", "TraceSettings"),
    "spans": ("Link", "Span", "SpanEvent", "Spans", "open_spans"),
    "trace_context": ("TraceContext", "derived_trace_id", "parse_traceparent", "span_id", "traceparent"),
}
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
