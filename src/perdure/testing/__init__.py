"""Tools for tests of durable verbs: virtual time, fault injection and real services."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.testing.fault_injection import Crash as Crash
    from perdure.testing.fault_injection import FaultyDriver as FaultyDriver
    from perdure.testing.sandbox import Sandbox as Sandbox
    from perdure.testing.services import PostgresService as PostgresService
    from perdure.testing.virtual_clock import VirtualSources as VirtualSources

_HOMES = {
    "Crash": "perdure.testing.fault_injection",
    "FaultyDriver": "perdure.testing.fault_injection",
    "PostgresService": "perdure.testing.services",
    "Sandbox": "perdure.testing.sandbox",
    "VirtualSources": "perdure.testing.virtual_clock",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'perdure.testing' has no attribute '{name}'")
    return getattr(import_module(home), name)
