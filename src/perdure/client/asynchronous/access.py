"""Keys, verbs and packs on a server."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from perdure.access.principal import EVERY_VERB, Kind, Role
from perdure.app.access.api_keys import KeyView, NewKey
from perdure.app.operations import keys, packs, verbs
from perdure.app.operations.keys import CreateKey, ListKeys, RevokeKey
from perdure.app.operations.packs import ListPacks, ShowPack
from perdure.app.operations.verbs import ListVerbs, ShowVerb
from perdure.app.packs import PackRow
from perdure.app.verb_views import VerbRow, VerbView
from perdure.client.asynchronous.transport import Transport


class AccessDesk:
    """The keys of a tenant. Reached as `client.access`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create_key(
        self,
        name: str,
        *,
        principal: str,
        kind: Kind = "service",
        roles: Iterable[Role],
        groups: Iterable[str] = (),
        verbs: Iterable[str] = EVERY_VERB,
        operations: Iterable[str] = (),
        expires_at: datetime | int | None = None,
    ) -> NewKey:
        """Make a key that may do nothing its maker may not.

        Its text is told now and never again: where the answer is lost, asking again finds the name taken.
        """
        request = CreateKey(
            name, principal, list(roles), kind, list(groups), tuple(verbs), list(operations), _moment(expires_at)
        )
        return await self._transport.ask(keys.create_key, request)

    async def keys(self) -> builtins.list[KeyView]:
        """Every key that is remembered, oldest first."""
        return (await self._transport.ask(keys.list_keys, ListKeys())).items

    async def revoke_key(self, id: str, reason: str = "") -> KeyView:
        """From now on it opens nothing. Revoked twice is revoked once."""
        return await self._transport.ask(keys.revoke_key, RevokeKey(id, reason))


class VerbDesk:
    """What can be asked. Reached as `client.verbs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, q: str = "") -> builtins.list[VerbRow]:
        """Every verb, or those whose name or description has the words."""
        return (await self._transport.ask(verbs.list_verbs, ListVerbs(q))).items

    async def get(self, name: str, version: int | None = None) -> VerbView:
        """One verb, in its newest version unless another is named."""
        return await self._transport.ask(verbs.show_verb, ShowVerb(name, version))


class PackDesk:
    """The packs of the server's project. Reached as `client.packs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> builtins.list[PackRow]:
        """Every pack, each on one line."""
        return (await self._transport.ask(packs.list_packs, ListPacks())).items

    async def get(self, id: str) -> dict[str, Any]:
        """Everything a pack says."""
        return await self._transport.ask(packs.show_pack, ShowPack(id))


def _moment(expires_at: datetime | int | None) -> datetime | None:
    return datetime.fromtimestamp(expires_at / 1_000_000, UTC) if isinstance(expires_at, int) else expires_at
