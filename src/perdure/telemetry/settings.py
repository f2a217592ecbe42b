"""Telemetry settings: everything is off until a setting says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

LogForm = Literal["", "text", "json"]
SERVICE = "perdure"


class TraceSettings(msgspec.Struct, frozen=True):
    """Where spans go. `sample` is the part of new traces that is kept; a caller's own decision is always honoured."""

    endpoint: str
    headers_env: str = ""
    """The environment variable that holds `name=value,name=value`; a secret has no place in a file."""
    service_name: str = SERVICE
    sample: float = 1.0

    def headers(self, environment: Mapping[str, str]) -> dict[str, str]:
        pairs = (pair.partition("=") for pair in environment.get(self.headers_env, "").split(","))
        return {name.strip(): value.strip() for name, equals, value in pairs if equals and name.strip()}


class TelemetrySettings(msgspec.Struct, frozen=True):
    """The section `telemetry` of a project's configuration."""

    metrics: bool = False
    """Whether a process measures from its start; a server does at the latest from the first scrape on."""
    metrics_bind: str = ""
    """Where a worker, which serves nothing else, answers scrapes: a port of the loopback."""
    traces: TraceSettings | None = None
    logs: LogForm = ""
