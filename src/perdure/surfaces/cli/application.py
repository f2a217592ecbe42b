"""The application: all commands put together, and how a line is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from perdure.surfaces.cli import (
    agents,
    arrivals,
    audits,
    calls,
    databases,
    demonstration,
    drawings,
    formatting,
    instances,
    keys,
    linting,
    measuring,
    messages,
    packs,
    people,
    processes,
    projects,
    proving,
    repl,
    runbooks,
    scenarios,
    serving,
    tasks,
    verbs,
    worker,
)
from perdure.surfaces.cli.exits import INTERRUPTED
from perdure.surfaces.cli.failures import usage_error
from perdure.surfaces.cli.options import Settings, give_options, group, with_options

HELP = "Durable verbs: typed work that is never lost, whether it takes a millisecond or nine days."
ROOMS = (
    projects, demonstration, verbs, packs, repl, linting, formatting, proving, scenarios, drawings, calls, runbooks,
    arrivals, people, tasks, processes, instances, messages, worker, serving, agents, keys, audits, databases,
    measuring,
)  # fmt: skip


def application(words: Sequence[str] = ()) -> typer.Typer:
    """A fresh application with every command; with the one that the words begin with alone, where there is one."""
    app = group(HELP)
    app.callback()(with_options(_any_command))
    app._add_completion = True
    for room in ROOMS:
        room.register(app)
    _narrow(app, words)
    give_options(app)
    return app


def _narrow(app: typer.Typer, words: Sequence[str]) -> None:
    """A line that begins with a command does not wait until all the others are built."""
    groups = [each for each in app.registered_groups if each.name in words[:1]]
    commands = [each for each in app.registered_commands if each.name in words[:1]]
    if groups or commands:
        app.registered_groups, app.registered_commands = groups, commands
    for each in groups:
        assert each.typer_instance is not None
        _narrow(each.typer_instance, words[1:])


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"perdure {version('perdure')}")
        raise typer.Exit


def _any_command(
    settings: Settings,
    version: Annotated[
        bool,
        typer.Option("--version", help="Say which release this is.", callback=_tell_version, is_eager=True),
    ] = False,
) -> None:
    return None


def run(words: list[str]) -> int:
    """Run one line; returns its exit code."""
    app = application(tuple(words[:2]))  # a command, or a group and its command
    if "--json" not in words:
        return _ended(app, words, standalone_mode=True)
    try:
        return _ended(app, words, standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return usage_error(True, error.format_message())


def _ended(app: typer.Typer, words: list[str], standalone_mode: bool) -> int:
    try:
        ended: Any = app(words, prog_name="perdure", standalone_mode=standalone_mode)
    except KeyboardInterrupt:
        return INTERRUPTED
    return ended if isinstance(ended, int) else 0
