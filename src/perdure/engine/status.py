"""Engine status: how an engine stands now, asked of it with a short deadline."""

from __future__ import annotations

import msgspec


class EngineStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One look at an engine. The url names no credentials; they come from the environment or from files."""

    url: str = ""
    is_reachable: bool = True
    version: str = ""
    """What the engine says it is; empty when it says nothing or cannot be reached."""
    reason: str = ""
    """Why it cannot be reached."""
