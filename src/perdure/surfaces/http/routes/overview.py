"""How things stand, at a glance."""

from __future__ import annotations

from typing import Any

from perdure.app import Perdure
from perdure.app.overview import Overview
from perdure.surfaces.http.making import reading


@reading("/overview", "overview.read", tags=("overview",))
async def show_overview(perdure: Perdure) -> Overview:
    """What needs me, what is stuck, what runs, and how much went through in a day."""
    return await perdure.overview()


ROUTES: tuple[Any, ...] = (show_overview,)
