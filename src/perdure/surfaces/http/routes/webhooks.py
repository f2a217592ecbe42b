"""Hooks: signed messages of other systems. Nobody signs in here; the signature is the credential."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, post

from perdure.app import Perdure
from perdure.app.webhooks.receipt import HookReceipt, UnsignedError, receive
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.route_decorators import public

KNOWN = frozenset({"duplicate", "late"})
"""What came before, or after the end: nothing more will come of it."""


@public(post, "/hooks/{name:str}", tags=["hooks"], status_code=202, twofold=True)
async def take_hook(request: Request[Any, Any, Any], name: str) -> Response[HookReceipt]:
    """Take in a message signed as Standard Webhooks has it. The same id again within its window counts once."""
    perdure: Perdure = request.app.state.perdure
    try:
        receipt = await receive(perdure, perdure.runtime.hooks, name, dict(request.headers), await request.body())
    except UnsignedError as error:
        raise RefusedRequest(401, error.code, str(error), error.hint) from error
    return Response(receipt, status_code=200 if receipt.outcome in KNOWN else 202)


ROUTES: tuple[Any, ...] = (take_hook,)
