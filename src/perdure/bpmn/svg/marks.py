"""Marks on a picture: tokens, incidents, paths taken, findings."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["", "active", "waiting", "completed", "failed", "cancelled"]


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown at one element. `findings` are codes of lint rules."""

    tokens: int = 0
    completed: int = 0
    has_incident: bool = False
    is_waiting: bool = False
    state: State = ""
    findings: tuple[str, ...] = ()


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """Marks by element id, and the nodes and flows of a path in the order they were taken."""

    elements: dict[str, Mark] = {}
    path: tuple[str, ...] = ()
    is_numbered: bool = True
    """Whether the steps of the path carry their numbers."""
