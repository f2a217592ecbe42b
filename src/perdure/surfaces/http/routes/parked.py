"""What waits, and tokens for the outsiders who were asked."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request
from litestar.params import Parameter

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.access.tokens import wait_token
from perdure.app import Perdure
from perdure.app.listing_views import ParkedItem
from perdure.app.paging import Page
from perdure.errors import RejectedError, Rejection
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import MAX_TEXT, After, Limit
from perdure.surfaces.http.problems import RefusedRequest

TAGS = ("parked",)
AnyRequest = Request[Any, Any, Any]
Key = Annotated[str, Parameter(max_length=MAX_TEXT, description="The key of a wait.")]


class WaitKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The key of a wait, whatever letters it has."""

    key: str


class WaitToken(msgspec.Struct, frozen=True):
    """What ends one wait and sends its progress: `Authorization: Wait <token>`. Good until the wait is over."""

    key: str
    token: str


@reading("/parked", "parked.list", tags=TAGS)
async def list_parked(
    perdure: Perdure, principal: Principal, limit: Limit = 50, after: After = None
) -> Page[ParkedItem]:
    """What calls and runbooks wait for, oldest first; keys are told to those whose own reaches the verb."""
    return await perdure.listing.seen_by(principal.verbs).parked(limit=limit, after=after)


@acting("/parked/{key:str}/token", "parked.token", repeats="domain", tags=TAGS)
async def make_wait_token(perdure: Perdure, principal: Principal, request: AnyRequest, key: Key) -> WaitToken:
    """A token for the outsider who was asked: it ends this wait and nothing else."""
    return await _token(perdure, principal, request, key)


@acting("/parked/token", "parked.token", repeats="domain", tags=TAGS)
async def make_token_by_key(perdure: Perdure, principal: Principal, request: AnyRequest, data: WaitKey) -> WaitToken:
    """The same for a key that a path cannot hold."""
    return await _token(perdure, principal, request, data.key)


async def _token(perdure: Perdure, principal: Principal, request: AnyRequest, key: str) -> WaitToken:
    verbs = await perdure.waits.verbs_under(key)
    if not verbs and not await perdure.waits.is_task(key):
        raise RejectedError(Rejection("not_found", "make a token for", "wait", key[:200], "nothing waits under it"))
    for verb in verbs:
        check(principal, "parked.token", verb=verb)
    secret: bytes | None = request.app.state.get("secret")
    if not secret:
        hint = "Set server.authentication: who needs no credential needs no token either."
        raise RefusedRequest(409, "server.no_secret", "This server signs nothing.", hint)
    return WaitToken(key, wait_token(secret, principal.tenant, key, await perdure.waits.name_under(key)))


ROUTES: tuple[Any, ...] = (list_parked, make_wait_token, make_token_by_key)
