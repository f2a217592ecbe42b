"""Which waits somebody may end: permission for the verb that waits, or the token that was given for that wait."""

from __future__ import annotations

from typing import Any

from litestar import Request

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.access.tokens import WaitName
from perdure.app import Perdure
from perdure.app.reaching import check_reach
from perdure.surfaces.http.problems import RefusedRequest


async def check_wait(
    perdure: Perdure, principal: Principal, request: Request[Any, Any, Any], operation: str, key: str, verb: str = ""
) -> WaitName | None:
    """Refuse whoever may not end the wait under a key. Who shows a wait's token may end that one, and no later one."""
    if principal.via == "wait":
        return _check_token(principal, request, operation, key)
    await check_reach(perdure, principal, operation, key, verb)
    return None


async def check_every_verb(perdure: Perdure, principal: Principal, operation: str, id: str) -> None:
    """Refuse whose key does not reach every verb of a call, a runbook or an instance."""
    for verb in await perdure.waits.verbs_of(id):
        check(principal, operation, verb=verb)


def _check_token(principal: Principal, request: Request[Any, Any, Any], operation: str, key: str) -> WaitName:
    check(principal, operation)
    name: WaitName | None = request.scope["state"].get("wait")
    if name is None or (name.tenant, name.key) != (principal.tenant, key):
        detail = "This token is for another wait."
        raise RefusedRequest(403, "access.forbidden", detail, "Use the token that was given for this one.")
    return name
