"""The composition root: configuration, the running platform, and the list of its operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.app.calls.views import CallView as CallView
    from perdure.app.calls.views import WaitingFor as WaitingFor
    from perdure.app.configuration.project import Config as Config
    from perdure.app.configuration.project import load_config as load_config
    from perdure.app.perdure import Perdure as Perdure

# Names are loaded when first used: who reads a configuration does not wait for the platform.
_HOMES = {
    "calls.views": ("CallView", "WaitingFor"),
    "configuration.project": ("Config", "load_config"),
    "perdure": ("Perdure",),
}
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
