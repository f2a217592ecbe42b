"""Commands for people: incidents that need one."""

from __future__ import annotations

from typing import Annotated

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.calls import IdWord, Reason, described, show_call
from perdure.surfaces.cli.exits import FAILED
from perdure.surfaces.cli.failures import usage
from perdure.surfaces.cli.options import Settings, command, group
from perdure.surfaces.cli.project import open_store
from perdure.surfaces.cli.reading import json_option


def register(app: typer.Typer) -> None:
    """Add these commands."""
    incidents = group("Look after calls that are stuck and need a person.")
    command(incidents, "list")(list_incidents)
    command(incidents, "retry")(retry)
    command(incidents, "resolve")(resolve)
    app.add_typer(incidents, name="incidents", rich_help_panel="People")


async def list_incidents(
    settings: Settings, limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 1000
) -> None:
    """List calls that need a person, and why."""
    async with open_store(settings, "reader") as perdure:
        found = [described(perdure, view) for view in await perdure.incidents(limit)]
        output.show(settings, found, lambda: _picture(found))


def _picture(found: list[object]) -> object:
    from rich.text import Text

    from perdure.app import CallView
    from perdure.surfaces.cli.pictures import table
    from perdure.surfaces.cli.times import relative

    rows = []
    for view in found:
        assert isinstance(view, CallView)
        waiting = view.waiting_for
        told = (waiting.code, waiting.text, waiting.since) if waiting else ("", "", None)
        rows.append((
            Text(view.id, style="bold"), Text(view.verb), Text(told[0], style="red"), Text(told[1]),
            Text(relative(told[2])),
        ))  # fmt: skip
    return table("Incidents", ("call", "verb", "code", "what happened", "since"), rows, "Nothing needs a person.")


async def retry(settings: Settings, id: IdWord) -> None:
    """Try again what an incident stopped."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        view = await perdure.retry(id)
        show_call(settings, perdure, view)
    if view.state == "failed" or (view.waiting_for is not None and view.waiting_for.kind == "incident"):
        raise typer.Exit(FAILED)


async def resolve(
    settings: Settings,
    id: IdWord,
    result: Annotated[str | None, typer.Option("--result", metavar="JSON", help="The result, by hand.")] = None,
    error: Annotated[str | None, typer.Option("--error", metavar="TEXT", help="Or the failure, by hand.")] = None,
    reason: Reason = "",
) -> None:
    """End by hand what an incident stopped, with a result or an error."""
    if (result is None) == (error is None):
        raise usage("resolve", "call", id, "it needs either --result or --error", "A result is JSON, an error is text.")
    value = json_option("--result", result) if result is not None else None
    async with open_store(settings, "reader", must_exist=True) as perdure:
        show_call(settings, perdure, await perdure.resolve(id, value, error=error, reason=reason))
