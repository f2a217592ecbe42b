"""Every endpoint: those of operations, and those of the server itself."""

from __future__ import annotations

from perdure.app.operations.operation_table import TABLE
from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.operation_routes import endpoints
from perdure.surfaces.http.routes import content, dashboard, probes, requests, sessions, task_channels, webhooks

_SERVER = (
    *content.ENDPOINTS,
    *requests.ENDPOINTS,
    *sessions.ENDPOINTS,
    *probes.ENDPOINTS,
    *task_channels.ENDPOINTS,
    *webhooks.ENDPOINTS,
    *dashboard.ENDPOINTS,
)
ENDPOINTS: tuple[Endpoint, ...] = (*endpoints(TABLE), *_SERVER)
