"""The long poll: a request waits until a condition holds, its time is up, or the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, cast

from litestar import Request

from perdure.access.principal import Principal
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.server_sent_events import Streams

STOPPING = "This server stops, and nobody waits at it any more."
T = TypeVar("T")


async def patiently(request: Request[Any, Any, Any], principal: Principal, waiting: Coroutine[Any, Any, T]) -> T:
    """Wait for an answer. A server that stops lets nobody wait: clients ask again, elsewhere or a little later."""
    streams: Streams = request.app.state.streams
    pursuing = asyncio.ensure_future(waiting)
    try:
        streams.check(principal)
        stop = streams.begin(principal)
        try:
            await asyncio.wait(cast("list[asyncio.Future[Any]]", [pursuing, stop]), return_when=asyncio.FIRST_COMPLETED)
        finally:
            streams.end(principal, stop)
        if not pursuing.done():
            raise RefusedRequest(503, "server.draining", STOPPING, "Ask again.", headers={"Retry-After": "1"})
        return await pursuing
    finally:
        pursuing.cancel()
        await asyncio.gather(pursuing, return_exceptions=True)
