"""The composition root: configuration, the running platform, and the list of its operations."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.app.calls.views import CallView as CallView
    from perdure.app.calls.views import WaitingFor as WaitingFor
    from perdure.app.configuration.project import Config as Config
    from perdure.app.configuration.project import load_config as load_config
    from perdure.app.perdure import Perdure as Perdure

_HOMES = {
    "CallView": "perdure.app.calls.views",
    "Config": "perdure.app.configuration.project",
    "Perdure": "perdure.app.perdure",
    "WaitingFor": "perdure.app.calls.views",
    "load_config": "perdure.app.configuration.project",
}


def __getattr__(name: str) -> Any:
    """Names are loaded when first used: who reads a configuration does not wait for the platform."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'perdure.app' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
