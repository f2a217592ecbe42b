"""Waiting within a request: until something has come so far, the time is up, or the server is to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, Literal

from litestar import Request
from litestar.params import Parameter

from perdure.access.principal import Principal
from perdure.surfaces.http.problems import RefusedRequest
from perdure.surfaces.http.streams import Streams

STOPPING = "This server stops, and nobody waits at it any more."
MAX_SECONDS = 30.0
"""How long a look may wait: never so long that those between give up."""
Goal = Annotated[
    Literal["", "rest", "end"],
    Parameter(description="Answer when it has ended, or has gone as far as it goes by itself; else at once."),
]
Patience = Annotated[float, Parameter(ge=0, le=MAX_SECONDS, description="How long to wait for that, in seconds.")]


async def patiently(request: Request[Any, Any, Any], principal: Principal, waiting: Coroutine[Any, Any, Any]) -> None:
    """Wait. A server that stops lets nobody wait: whoever does asks again, elsewhere or a little later."""
    streams: Streams = request.app.state.streams
    pursuing = asyncio.ensure_future(waiting)
    try:
        streams.check(principal)
        stop = streams.begin(principal)
        try:
            await asyncio.wait({pursuing, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            streams.end(principal, stop)
        if not pursuing.done():
            raise RefusedRequest(503, "server.draining", STOPPING, "Ask again.", headers={"Retry-After": "1"})
        await pursuing
    finally:
        pursuing.cancel()
        await asyncio.gather(pursuing, return_exceptions=True)
