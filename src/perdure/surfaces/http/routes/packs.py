"""Packs: guided journeys over verbs."""

from __future__ import annotations

from typing import Any

from perdure.app import Perdure
from perdure.app.packs import PackRow
from perdure.app.paging import Page
from perdure.surfaces.http.making import reading
from perdure.surfaces.http.parameters import Name

TAGS = ("packs",)


@reading("/packs", "pack.list", tags=TAGS)
async def list_packs(perdure: Perdure) -> Page[PackRow]:
    """Every pack of the project."""
    return Page(perdure.packs.list())


@reading("/packs/{name:str}", "pack.read", tags=TAGS)
async def show_pack(perdure: Perdure, name: Name) -> dict[str, Any]:
    """A pack: its questions, templates, sections and what it hands over to."""
    return perdure.packs.get(name)


ROUTES: tuple[Any, ...] = (list_packs, show_pack)
