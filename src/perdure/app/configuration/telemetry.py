"""The section `telemetry` of `perdure.yaml`."""

from __future__ import annotations

from typing import get_args
from urllib.parse import urlsplit

from perdure.telemetry import TelemetrySettings, TraceSettings
from perdure.telemetry.settings import SERVICE, LogForm
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node

TELEMETRY_KEYS = frozenset({"metrics", "metrics_bind", "traces", "logs"})
TRACE_KEYS = frozenset({"endpoint", "headers_env", "service_name", "sample"})
LOG_FORMS: tuple[LogForm, ...] = tuple(form for form in get_args(LogForm) if form)


def read_telemetry(config: Fields) -> TelemetrySettings:
    """The section as declared; what is wrong is in the report."""
    node = config.get("telemetry")
    if node is None:
        return TelemetrySettings()
    fields = Fields(node, "telemetry", config.file, config.report, accepted=TELEMETRY_KEYS)
    traces = fields.get("traces")
    return TelemetrySettings(
        metrics=fields.boolean("metrics"),
        metrics_bind=fields.text("metrics_bind"),
        traces=_traces(traces, fields) if traces is not None else None,
        logs=fields.word("logs", LOG_FORMS, "") if "logs" in fields else "",
    )


def _traces(node: Node, around: Fields) -> TraceSettings:
    fields = Fields(node, "traces", around.file, around.report, accepted=TRACE_KEYS)
    endpoint = fields.text("endpoint", required=True)
    if endpoint and urlsplit(endpoint).scheme not in ("http", "https"):
        hint = "Write the whole address, such as http://localhost:4318/v1/traces."
        fields.wrong(fields.get("endpoint"), "wrong_value", f"'{endpoint[:200]}' is not an http address", hint)
    return TraceSettings(
        endpoint, fields.text("headers_env"), fields.text("service_name", SERVICE), fields.fraction("sample", 1.0)
    )
