"""Commands about the database itself: upgrade, check, backup, restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from perdure.errors import PerdureError
from perdure.surfaces.cli import output
from perdure.surfaces.cli.commands.worker import shown_url
from perdure.surfaces.cli.exit_codes import INTEGRITY
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.progress_bar import progress_bar
from perdure.surfaces.cli.project_context import load_project, make_store, open_store, require_store
from perdure.surfaces.cli.remote_server import only_on_store

OWN_CHECK = ("method", "findings", "notes")
"""The fields of the database's own check."""


async def upgrade(settings: Settings) -> None:
    """Bring the schema up to date, making the store where there is none. Any other command does so, too."""
    only_on_store(settings, "db upgrade")
    await make_store(load_project(settings).store)
    told = await _checked(settings)
    lines = [f"✓ {told['store']} has schema {told['schema']}, the newest this release knows"]
    lines += [f"! {each} still runs an older release: stop it, it can write nothing more" for each in told["outgrown"]]
    shown = {name: told[name] for name in ("store", "dialect", "schema", "outgrown")}
    output.show(settings, shown, lambda: "\n".join(lines))


async def check(settings: Settings) -> None:
    """Let the database check itself, and show how the store stands. Changes no schema; exits 9 on any damage."""
    import msgspec

    from perdure.store.database_check import check_database

    only_on_store(settings, "db check")
    config = load_project(settings)
    require_store(config.store)
    report = await check_database(config.store)
    checked = msgspec.to_builtins(report)
    told: dict[str, Any] = {"store": shown_url(config.store), **checked, "quarantined": None}
    if report.schema == report.newest_schema:
        try:
            told = {**await _checked(settings), **{name: checked[name] for name in OWN_CHECK}}
        except PerdureError as error:
            told["notes"] = [*checked["notes"], str(error)]
    output.show(settings, told, lambda: _picture(told))
    if told["quarantined"] or report.findings:
        raise typer.Exit(INTEGRITY)


async def backup(
    settings: Settings,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.", show_default=False)],
) -> None:
    """Write everything acknowledged before now into one new file; work goes on meanwhile."""
    from perdure.store.backup import backup as write_backup

    only_on_store(settings, "db backup")
    config = load_project(settings)
    require_store(config.store)
    with progress_bar(settings, "Backing up") as progress:
        await write_backup(config.store, file, progress)
    told = {"file": str(file.resolve()), "bytes": file.stat().st_size, "store": shown_url(config.store)}
    output.show(settings, told, lambda: f"✓ {told['bytes']:,} bytes written to {file}")


async def restore(
    settings: Settings,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Also in the place of a store that is not empty.")] = False,
) -> None:
    """Put a backup in the place of an empty or missing store. Never while a process works on it."""
    from perdure.store.backup import restore as put_back

    only_on_store(settings, "db restore")
    config = load_project(settings)
    with progress_bar(settings, "Restoring") as progress:
        await put_back(file, config.store, force, progress=progress)
    told = {"file": str(file.resolve()), "store": shown_url(config.store)}
    output.show(settings, told, lambda: f"✓ {told['store']} is restored from {file}")


async def _checked(settings: Settings) -> dict[str, Any]:
    from perdure.store.backup import check as look
    from perdure.verbs import Catalogue

    config = load_project(settings)
    async with open_store(settings, "reader", config, Catalogue(), must_exist=True) as perdure:
        runtime = perdure.runtime
        return {"store": shown_url(config.store), **await look(runtime.store, runtime.sources.now())}


def _picture(told: dict[str, Any]) -> Any:
    from rich.table import Table
    from rich.text import Text

    rows = [
        ("store", told["store"]),
        ("schema", f"{told['schema']} of {told['newest_schema']} ({told['dialect']})"),
        *_own_check(told),
        *(_figures(told) if "rows" in told else ()),
    ]
    made = Table.grid(padding=(0, 2))
    for name, value in rows:
        made.add_row(Text(name, style="dim"), Text(value))
    return made


def _own_check(told: dict[str, Any]) -> list[tuple[str, str]]:
    """What the database found in itself."""
    found = "nothing was checked" if not told["method"] else "nothing wrong" if not told["findings"] else ""
    said = [*([found] if found else []), *told["findings"], *told["notes"]]
    return [(told["method"] or "database check" if not number else "", each) for number, each in enumerate(said)]


def _figures(told: dict[str, Any]) -> list[tuple[str, str]]:
    live = [f"{each['process']} on {each['host']}" for each in told["workers"] if each["is_live"]]
    aside = output.counted(told["quarantined"], "call")
    return [
        ("durability", ", ".join(f"{name} {value}" for name, value in told["durability"].items())),
        ("rows", ", ".join(f"{count} {name}" for name, count in told["rows"].items() if count) or "none"),
        ("not sealed yet", output.counted(told["unsealed_records"], "record")),
        ("overdue timers", "yes: is a worker running?" if told["is_timer_overdue"] else "none"),
        ("at work", ", ".join(live) or "nobody"),
        ("quarantined", f"{aside}: see `perdure incidents list`" if told["quarantined"] else "none"),
    ]


COMMANDS = {"db": {"upgrade": upgrade, "check": check, "backup": backup, "restore": restore}}
