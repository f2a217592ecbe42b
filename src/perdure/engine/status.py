"""Engine status: how an engine stands now, asked of it with a short deadline."""

from __future__ import annotations

import msgspec

from perdure.engine.capabilities import EVERYTHING, Capabilities


class EngineStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One look at an engine. The url names no credentials; they come from the environment or from files."""

    url: str = ""
    is_reachable: bool = True
    version: str = ""
    """What the engine says it is; empty when it says nothing or cannot be reached."""
    reason: str = ""
    """Why it cannot be reached."""


class NamedEngine(msgspec.Struct, frozen=True, kw_only=True):
    """An engine as settings name it. The url names no credentials."""

    name: str
    url: str = ""
    ui: str = ""
    """The address of its own web interface; empty where none is told."""
    capabilities: Capabilities = EVERYTHING
    is_known: bool = True
    """Whether this process was opened with an engine of the name."""
