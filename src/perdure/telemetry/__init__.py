"""Telemetry for operators: metrics, traces and logs. None of it costs anything until it is switched on."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "Link": "perdure.telemetry.spans",
    "LogScope": "perdure.telemetry.logs",
    "Span": "perdure.telemetry.spans",
    "SpanEvent": "perdure.telemetry.spans",
    "Spans": "perdure.telemetry.spans",
    "TelemetrySettings": "perdure.telemetry.settings",
    "TraceContext": "perdure.telemetry.trace_context",
    "TraceSettings": "perdure.telemetry.settings",
    "configure_logs": "perdure.telemetry.logs",
    "derived_trace_id": "perdure.telemetry.trace_context",
    "logging_within": "perdure.telemetry.logs",
    "open_spans": "perdure.telemetry.spans",
    "parse_traceparent": "perdure.telemetry.trace_context",
    "span_id": "perdure.telemetry.trace_context",
    "traceparent": "perdure.telemetry.trace_context",
}


def __getattr__(name: str) -> Any:
    """Names are loaded when first used: settings are read without them."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'perdure.telemetry' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
