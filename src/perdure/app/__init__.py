"""The composition root: configuration, the running platform, and the list of its operations."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.app.config import Config as Config
    from perdure.app.config import load_config as load_config
    from perdure.app.perdure import Perdure as Perdure
    from perdure.app.views import CallView as CallView
    from perdure.app.views import WaitingFor as WaitingFor

_HOMES = {
    "CallView": "perdure.app.views",
    "Config": "perdure.app.config",
    "Perdure": "perdure.app.perdure",
    "WaitingFor": "perdure.app.views",
    "load_config": "perdure.app.config",
}


def __getattr__(name: str) -> Any:
    """Names are loaded when first used: who reads a configuration does not wait for the platform."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'perdure.app' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
