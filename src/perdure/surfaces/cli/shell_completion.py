"""Shell completion: words offered while a line is typed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import typer


def verb_names(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Verbs of the project that begin so; also inside an expression."""
    from perdure.errors import PerdureError
    from perdure.surfaces.cli.global_options import settings_of
    from perdure.surfaces.cli.project_context import load_project, load_verbs

    opening = "(" if incomplete.startswith("(") else ""
    try:
        catalogue = load_verbs(load_project(settings_of(context)))
    except PerdureError:
        return []
    found = [(f"{opening}{verb.name}", verb.definition.description) for verb in catalogue]
    return [each for each in found if each[0].startswith(incomplete)]


def process_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Deployed processes that begin so."""
    found = _asked(context, lambda perdure: perdure.processes.list())
    return [(each.process, each.verb) for each in found if each.process.startswith(incomplete)]


def instance_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The newest instances whose ids begin so."""
    found = _asked(context, lambda perdure: perdure.instances.list())
    return [(each.id, f"{each.process}: {each.progress}") for each in found if each.id.startswith(incomplete)]


def _asked(context: typer.Context, ask: Callable[[Any], Awaitable[Sequence[Any]]]) -> Sequence[Any]:
    """What the store says; nothing is offered where it cannot be asked."""
    from perdure.errors import PerdureError
    from perdure.surfaces.cli.global_options import settings_of
    from perdure.surfaces.cli.project_context import open_store

    async def asked() -> Sequence[Any]:
        async with open_store(settings_of(context), "reader", must_exist=True) as perdure:
            return await ask(perdure)

    try:
        return asyncio.run(asked())
    except PerdureError:
        return []
