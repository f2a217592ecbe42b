"""API keys on a server."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from datetime import UTC, datetime

from perdure.access.principal import EVERY_VERB, Kind, Role
from perdure.app.access.api_keys import KeyView, NewKey
from perdure.app.facade.performer import Desk
from perdure.app.operations import keys
from perdure.app.operations.keys import CreateKey, RevokeKey
from perdure.app.operations.request_fields import Nothing


class AccessDesk(Desk):
    """The keys of a tenant. Reached as `client.access`."""

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
        return await self._performer.ask(keys.create_key, request)

    async def keys(self) -> builtins.list[KeyView]:
        """Every key that is remembered, oldest first."""
        return (await self._performer.ask(keys.list_keys, Nothing())).items

    async def revoke_key(self, id: str, reason: str = "") -> KeyView:
        """From now on it opens nothing. Revoked twice is revoked once."""
        return await self._performer.ask(keys.revoke_key, RevokeKey(id, reason))


def _moment(expires_at: datetime | int | None) -> datetime | None:
    return datetime.fromtimestamp(expires_at / 1_000_000, UTC) if isinstance(expires_at, int) else expires_at
