"""Host builds: the code of ours that a carrier runs instances with, as its server and recorded histories tell it."""

from __future__ import annotations

import msgspec


class HostBuild(msgspec.Struct, frozen=True, kw_only=True):
    """Instances that were begun with one build of a carrier's workers."""

    engine: str
    build: str
    """Empty where the server gives every instance to any worker."""
    current: str
    """The build of this process."""
    deployment: str = ""
    """What the server calls the workers of this store."""
    count: int
    instances: tuple[str, ...]
    """The first of them."""
    is_working: bool
    """Whether a worker of that build asks for work."""
    replayed: int
    """The recorded histories that were replayed with the code of this process."""
    failure: str = ""
    """What differed in the first one that could not be replayed."""


class HostBuilds(msgspec.Struct, frozen=True):
    """What engines outside run instances with; `unknown` are sentences on what could not be found out."""

    builds: tuple[HostBuild, ...] = ()
    unknown: tuple[str, ...] = ()
