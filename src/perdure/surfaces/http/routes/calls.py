"""Calls: how one is, and acting on it."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Response

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.views import CallView
from perdure.surfaces.http.making import acting, reading

TAGS = ("calls",)


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why; it is kept in the journal."""

    reason: str = ""


def answered(view: CallView, status: int = 200) -> Response[CallView]:
    """A call with the tag that says which state of it this is."""
    return Response(view, status_code=status, headers={"ETag": f'"{view.sequence}"'})


@reading("/calls/{id:str}", "call.read", tags=TAGS)
async def show_call(perdure: Perdure, id: str) -> Response[CallView]:
    """A call as it is now."""
    return answered(await perdure.status(id))


@acting("/calls/{id:str}/cancel", "call.cancel", tags=TAGS)
async def cancel_call(perdure: Perdure, principal: Principal, id: str, data: Reason) -> Response[CallView]:
    """Stop a call. What it already did stays done; nothing is compensated."""
    check(principal, "call.cancel", verb=(await perdure.status(id)).verb)
    return answered(await perdure.cancel(id, data.reason))


ROUTES: tuple[Any, ...] = (show_call, cancel_call)
