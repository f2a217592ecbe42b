"""The application: all commands put together, and how a line is run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from perdure.surfaces.cli import COMPLETING
from perdure.surfaces.cli.command_table import COMMANDS
from perdure.surfaces.cli.error_output import usage_error
from perdure.surfaces.cli.exit_codes import INTERRUPTED
from perdure.surfaces.cli.global_options import Settings, give_options, group, with_options
from perdure.surfaces.cli.root_help import HELP


def application(words: Sequence[str] = ()) -> typer.Typer:
    """A fresh application with every command; with the one that the words begin with alone, where there is one."""
    app = _root()
    named = [each for each in COMMANDS if each.name in words[:1]]
    for module in dict.fromkeys(each.module for each in named or COMMANDS):
        _add(app, import_module(f"perdure.surfaces.cli.{module}").COMMANDS)
    _narrow(app, words)
    give_options(app)
    return app


def _add(app: typer.Typer, commands: Mapping[str, Any]) -> None:
    """Add the commands of a module under the panels of the table; a mapping is a group, which its row describes."""
    rows = {each.name: each for each in COMMANDS}
    for name, made in commands.items():
        if isinstance(made, Mapping):
            inner = group(rows[name].help)
            for word, function in made.items():
                inner.command(word)(function)
            app.add_typer(inner, name=name, rich_help_panel=rows[name].panel)
        else:
            app.command(name, rich_help_panel=rows[name].panel)(made)


def outline() -> typer.Typer:
    """An application that knows its commands by name and sentence only: all that completing the first word needs."""
    app = _root()
    for each in COMMANDS:
        app.command(each.name, help=each.help)(_outlined)
    return app


def _outlined() -> None:
    raise AssertionError("an outline is completed, never run")


def _root() -> typer.Typer:
    app = group(HELP)
    app.info.context_settings = {"help_option_names": ["--help", "-h"]}
    app.callback()(with_options(_any_command))
    app._add_completion = True
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
        typer.Option("--version", "-V", help="Say which release this is.", callback=_tell_version, is_eager=True),
    ] = False,
) -> None:
    return None


def run(words: list[str]) -> int:
    """Run one line; returns its exit code."""
    if COMPLETING in os.environ:
        return _ended(_completed(os.environ), words, standalone_mode=True)
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


def _completed(environment: Mapping[str, str]) -> typer.Typer:
    """What a shell's line is completed from: the command it begins with, or the names of all."""
    typed = environment.get("_TYPER_COMPLETE_ARGS") or environment.get("COMP_WORDS", "")
    try:
        words = shlex.split(typed)[1:]
    except ValueError:  # a quote that is still open
        words = typed.split()[1:]
    is_past_the_first = len(words) > 1 or typed[-1:].isspace()
    return application(tuple(words[:2])) if words and is_past_the_first else outline()
