"""The server over stdin and stdout, for a client that starts it as a process of its own."""

from __future__ import annotations

import contextlib
import sys
from contextlib import AbstractAsyncContextManager

from mcp.server.stdio import stdio_server

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.surfaces.mcp.server import Protocol


async def run_stdio(opening: AbstractAsyncContextManager[Perdure], principal: Principal) -> None:
    """Serve until stdin ends. Stdout is the protocol's from the first moment: what handlers print goes to stderr."""
    async with stdio_server() as (reading, writing):
        with contextlib.redirect_stdout(sys.stderr):
            async with opening as perdure:
                protocol = Protocol(perdure, lambda context: principal)
                server = protocol.server()
                await server.run(reading, writing, server.create_initialization_options())
                await protocol.finish()
