"""Tools for tests of durable verbs: virtual time, fault injection and real services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.testing.fault_injection import Crash as Crash
    from perdure.testing.fault_injection import FaultyDriver as FaultyDriver
    from perdure.testing.postgres_service import PostgresService as PostgresService
    from perdure.testing.sandbox import Sandbox as Sandbox
    from perdure.testing.virtual_clock import VirtualSources as VirtualSources

_HOMES = {
    "fault_injection": ("Crash", "FaultyDriver"),
    "sandbox": ("Sandbox",),
    "postgres_service": ("PostgresService",),
    "virtual_clock": ("VirtualSources",),
}
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
