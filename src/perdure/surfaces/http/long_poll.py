"""The long poll: a request waits until a condition holds, its time is up, or the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, cast

from perdure.access.principal import Principal
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.server_sent_events import Streams

STOPPING = "This server stops, and nobody waits at it any more."
T = TypeVar("T")


async def while_there(request: JsonRequest, work: Coroutine[Any, Any, T]) -> T:
    """Work something out, unless whoever asked leaves: then it is abandoned."""
    pursuing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(request.left())
    try:
        await asyncio.wait({pursuing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not pursuing.done():
            raise RefusedRequest(408, "request.left", "Whoever asked has left.")
        return await pursuing
    finally:
        for each in (pursuing, leaving):
            each.cancel()
        await asyncio.gather(pursuing, leaving, return_exceptions=True)


async def patiently(request: JsonRequest, principal: Principal, waiting: Coroutine[Any, Any, T]) -> T:
    """Wait for an answer. A server that stops lets nobody wait: clients ask again, elsewhere or a little later."""
    streams: Streams = request.state.streams
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
