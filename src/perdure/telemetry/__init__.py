"""What operators see in their own tools: metrics, traces and logs. None of it costs anything until it is asked for."""

from perdure.telemetry.context import TraceContext, derived_trace_id, parse_traceparent, span_id, traceparent
from perdure.telemetry.logs import LogScope, configure_logs, logging_within
from perdure.telemetry.settings import TelemetrySettings, TraceSettings
from perdure.telemetry.spans import Link, Span, SpanEvent, Spans, open_spans

__all__ = [
    "Link", "LogScope", "Span", "SpanEvent", "Spans", "TelemetrySettings", "TraceContext", "TraceSettings",
    "configure_logs", "derived_trace_id", "logging_within", "open_spans", "parse_traceparent", "span_id",
    "traceparent",
]  # fmt: skip
