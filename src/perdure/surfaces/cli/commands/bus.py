"""Commands about brokers: how far the consumers of task results have come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.surfaces.cli import output
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, open_store
from perdure.surfaces.cli.remote_server import only_on_store

if TYPE_CHECKING:
    from perdure.app.task_results.bus_doors import BusStatus


async def status(settings: Settings) -> None:
    """Show where task results come from, how many wait there, and how many were parked."""
    from perdure.app.task_results.bus_doors import status_of
    from perdure.verbs import Catalogue

    only_on_store(settings, "bus status")
    config = load_project(settings)
    async with open_store(settings, "reader", config, Catalogue(), must_exist=True) as perdure:
        found = await status_of(perdure.runtime, perdure._origin.tenant)
    output.show(settings, found, lambda: _picture(found))


def _picture(found: BusStatus) -> Any:
    from rich.table import Table
    from rich.text import Text

    made = Table("source", "group", "waiting", "trouble", box=None, header_style="dim")
    for each in found.sources:
        waiting = "unknown" if each.lag is None else f"{each.lag:,}"
        made.add_row(Text(each.name), Text(each.group), waiting, Text(each.trouble or "none"))
    made.add_row("task_result_queue", "", f"{found.queued:,}", "none")
    parked = f"{found.parked:,}: see `perdure dead-letters list`" if found.parked else "0"
    made.add_row("parked", "", parked, "")
    return made


COMMANDS = {"bus": {"status": status}}
