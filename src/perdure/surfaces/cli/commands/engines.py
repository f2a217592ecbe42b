"""The command about engines that carry processes."""

from __future__ import annotations

from typing import Any

from perdure.surfaces.cli import output
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store


async def engines(settings: Settings) -> None:
    """List the engines that carry processes: reachable or not, version, lag, open dispatches, steps that wait."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.engines()
    output.show(settings, found, lambda: output.tables("engine_tables").engines_picture(found))


COMMANDS: dict[str, Any] = {"engines": engines}
