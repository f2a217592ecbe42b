"""Verbs and packs on a server."""

from __future__ import annotations

import builtins
from typing import Any

from perdure.app.facade.performer import Desk
from perdure.app.operations import packs, verbs
from perdure.app.operations.packs import ShowPack
from perdure.app.operations.request_fields import Nothing
from perdure.app.operations.verbs import ListVerbs, ShowVerb
from perdure.app.packs import PackRow
from perdure.app.verb_views import VerbRow, VerbView


class VerbDesk(Desk):
    """What can be asked. Reached as `client.verbs`."""

    async def list(self, q: str = "") -> builtins.list[VerbRow]:
        """Every verb, or those whose name or description has the words."""
        return (await self._performer.ask(verbs.list_verbs, ListVerbs(q))).items

    async def get(self, name: str, version: int | None = None) -> VerbView:
        """One verb, in its newest version unless another is named."""
        return await self._performer.ask(verbs.show_verb, ShowVerb(name, version))


class PackDesk(Desk):
    """The packs of the server's project. Reached as `client.packs`."""

    async def list(self) -> builtins.list[PackRow]:
        """Every pack, each on one line."""
        return (await self._performer.ask(packs.list_packs, Nothing())).items

    async def get(self, id: str) -> dict[str, Any]:
        """Everything a pack says."""
        return await self._performer.ask(packs.show_pack, ShowPack(id))
