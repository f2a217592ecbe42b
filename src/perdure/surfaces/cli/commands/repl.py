"""The command that begins a conversation: repl."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, load_verbs, open_store, principal_of
from perdure.surfaces.cli.remote_server import only_on_store


async def repl(
    settings: Settings,
    resume: Annotated[
        str, typer.Option("--resume", metavar="ID", help="Come back to a runbook.", show_default=False)
    ] = "",
) -> None:
    """Talk your way to a plan: choose a pack or a verb, answer, read it back, run it, come back to it days later."""
    from perdure.app.packs import project_packs
    from perdure.surfaces.cli.console import make_console
    from perdure.surfaces.repl.conversation_loop import converse
    from perdure.surfaces.repl.platform_adapter import PlatformAdapter
    from perdure.surfaces.repl.turn import Knowledge

    only_on_store(settings, "repl")
    config = load_project(settings)
    catalogue = load_verbs(config)
    shelf = project_packs(config)
    async with open_store(settings, "caller", config, catalogue) as perdure:
        knowledge = Knowledge(perdure.catalogue, shelf, principal=principal_of(settings))
        await converse(PlatformAdapter(perdure, knowledge.principal), knowledge, make_console(), resume)


COMMANDS = {"repl": repl}
