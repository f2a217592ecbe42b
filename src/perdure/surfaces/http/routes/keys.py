"""Keys: made, listed and revoked by administrators."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from perdure.access.principal import EVERY_VERB, Kind, Principal, Role
from perdure.app import Perdure
from perdure.app.access import KeyView, NewKey
from perdure.app.paging import Page
from perdure.errors import RejectedError
from perdure.surfaces.http.bodies import NO_REASON, Reason
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import Id
from perdure.surfaces.http.problems import RefusedRequest

TAGS = ("keys",)


class KeyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whom a key stands for and how far it reaches: `operations` narrow the roles, `verbs` are patterns."""

    name: str
    principal: str
    roles: list[Role]
    kind: Kind = "service"
    groups: list[str] = []
    verbs: tuple[str, ...] = EVERY_VERB
    operations: list[str] = []
    expires_at: datetime | None = None


@reading("/keys", "key.list", tags=TAGS)
async def list_keys(perdure: Perdure) -> Page[KeyView]:
    """Every key, oldest first, without its text."""
    return Page(await perdure.access.keys())


# The answer holds a secret and is kept nowhere: asked for again, the name is taken.
@acting("/keys", "key.create", repeats="domain", status=201, tags=TAGS)
async def create_key(perdure: Perdure, principal: Principal, data: KeyRequest) -> NewKey:
    """Make a key that may do nothing its maker may not. Its text is told now and never again."""
    try:
        return await perdure.access.create_key(
            data.name, principal=data.principal, kind=data.kind, roles=data.roles, groups=data.groups,
            verbs=data.verbs, operations=data.operations, expires_at=data.expires_at, by=principal,
        )  # fmt: skip
    except RejectedError as error:
        if error.rejection.code != "already_exists":
            raise
        hint = "Its text was told once. Revoke it and make another, or choose another name."
        raise RefusedRequest(409, "key.exists", str(error), hint) from error


@acting("/keys/{id:str}/revoke", "key.revoke", tags=TAGS)
async def revoke_key(perdure: Perdure, id: Id, data: Reason = NO_REASON) -> KeyView:
    """From now on it opens nothing."""
    return await perdure.access.revoke_key(id, data.reason)


ROUTES: tuple[Any, ...] = (list_keys, create_key, revoke_key)
