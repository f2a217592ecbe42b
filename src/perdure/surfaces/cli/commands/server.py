"""The command that opens the platform to browsers, programs and agents."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.commands.worker import log_as_told, log_to_stderr, settle_memory, shown_url, tell
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, load_verbs, open_store
from perdure.surfaces.cli.remote_server import only_on_store

KEYS_ALONE = (
    "There are keys, and perdure.yaml does not say `server: {authentication: [keys]}`.\n"
    "Requests without a key are refused: nobody is taken for the person at this machine."
)


def serve(
    settings: Settings,
    host: Annotated[str | None, typer.Option("--host", help="Where to listen; loopback unless said.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = None,
    is_caller: Annotated[bool, typer.Option("--no-worker", help="Leave timers and abandoned work to others.")] = False,
) -> None:
    """Serve the API and the dashboard, and work, until stopped (Ctrl-C or SIGTERM)."""
    _on_fast_loop(_serve(settings, host, port, is_caller))


def _on_fast_loop(work: Coroutine[Any, Any, None]) -> None:
    """Requests cost a good deal less on uvloop; it is there wherever it exists for the machine."""
    if find_spec("uvloop") is None:
        asyncio.run(work)
        return
    import uvloop

    uvloop.run(work)


async def _serve(settings: Settings, host: str | None, port: int | None, is_caller: bool) -> None:
    from perdure.surfaces.http.server import run_server

    only_on_store(settings, "serve")
    if settings.principal or settings.groups:
        option = "--as" if settings.principal else "--group"
        fact = f"{option} names one person, and whoever asks a server says who they are"
        hint = (
            "'perdure keys create' makes keys for people and groups; without any, a browser here is the local person."
        )
        raise usage("run", "command", "serve", fact, hint)
    log_to_stderr()
    config = load_project(settings)
    log_as_told(config)
    catalogue = load_verbs(config)
    async with open_store(settings, "caller" if is_caller else "worker", config, catalogue) as perdure:
        if not config.server.authentication and await perdure.access.has_keys():
            output.warn_in_box(KEYS_ALONE)

        def ready(url: str) -> None:
            settle_memory()
            shown = {"ready": True, "pid": os.getpid(), "url": url, "store": shown_url(config.store)}
            tell(settings, shown, f"✓ ready: {url} with {output.counted(len(catalogue), 'verb')} on {shown['store']}")

        await run_server(perdure, config, host=host, port=port, ready=ready)
    tell(settings, {"ready": False, "stopped": True}, "✓ stopped")


COMMANDS = {"serve": serve}
