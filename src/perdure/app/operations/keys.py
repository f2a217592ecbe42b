"""Operations on keys: administrators make, list and revoke them."""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from perdure.access.principal import EVERY_VERB, Kind, Role
from perdure.app.access.api_keys import KeyView, NewKey
from perdure.app.lists.cursors import Page
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Id, Nothing
from perdure.app.operations.verb_scopes import NO_VERB

TAG = "keys"


class CreateKey(Request, frozen=True):
    """The principal a key acts as and how far it reaches: `operations` narrow the roles, `verbs` are patterns."""

    name: str
    principal: str
    roles: list[Role]
    kind: Kind = "service"
    groups: list[str] = field(default_factory=list)
    verbs: tuple[str, ...] = EVERY_VERB
    operations: list[str] = field(default_factory=list)
    expires_at: datetime | None = None


class RevokeKey(Request, frozen=True):
    """Why a key is revoked; the journal keeps it."""

    id: Id
    reason: str = ""


@operation("key.list", Route("GET", "/keys"), tag=TAG, scope=NO_VERB)
async def list_keys(context: Context, request: Nothing) -> Page[KeyView]:
    """Every key, oldest first, without its text."""
    return Page(await context.perdure.access.keys())


# The answer holds a secret and is kept nowhere: asked for again, the name is taken.
@operation("key.create", Route("POST", "/keys", 201), tag=TAG, scope=NO_VERB, repeat="domain")
async def create_key(context: Context, request: CreateKey) -> NewKey:
    """Make a key that may do nothing its maker may not. Its text is told now and never again."""
    return await context.perdure.access.create_key(
        request.name,
        principal=request.principal,
        kind=request.kind,
        roles=request.roles,
        groups=request.groups,
        verbs=request.verbs,
        operations=request.operations,
        expires_at=request.expires_at,
        by=context.principal,
    )


@operation("key.revoke", Route("POST", "/keys/{id}/revoke"), tag=TAG, scope=NO_VERB)
async def revoke_key(context: Context, request: RevokeKey) -> KeyView:
    """From now on it opens nothing."""
    return await context.perdure.access.revoke_key(request.id, request.reason)
