"""Commands about packs: list, show, lint. None of them needs a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, load_verbs
from perdure.surfaces.cli.remote_server import only_on_store

if TYPE_CHECKING:
    from perdure.app import Config
    from perdure.errors import Problem
    from perdure.packs.loader import Shelf


def list_packs(settings: Settings) -> None:
    """List the packs."""
    from perdure.app.packs import brief

    only_on_store(settings, "packs list")
    shelf = _shelf(load_project(settings))
    output.show(
        settings, [brief(pack) for pack in shelf], lambda: output.tables("pack_tables").packs_picture(list(shelf))
    )


def show_pack(
    settings: Settings, id: Annotated[str, typer.Argument(metavar="ID", help="The pack's id.", show_default=False)]
) -> None:
    """Show a pack: its questions, templates, sections and what it hands over to."""
    from perdure.app.packs import whole

    only_on_store(settings, "packs show")
    pack = _shelf(load_project(settings)).get(id)
    output.show(settings, whole(pack), lambda: output.tables("pack_tables").pack_picture(pack))


def lint(
    settings: Settings,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]…", help="Pack files or folders.", show_default=False)
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
) -> None:
    """Check packs against the verbs they speak of. Exits 1 on errors."""
    problems, count = _problems(load_project(settings), paths)
    output.show(
        settings,
        {"packs": count, "problems": problems},
        lambda: output.tables("pack_tables").lint_picture(problems, count),
    )
    if any(strict or problem.severity == "error" for problem in problems):
        raise typer.Exit(FAILED)


def _problems(config: Config, paths: list[Path] | None) -> tuple[list[Problem], int]:
    from perdure.errors import DefinitionError
    from perdure.packs.lint import lint_packs
    from perdure.packs.loader import load_packs

    try:
        shelf = load_packs(paths) if paths else _shelf(config)
        return lint_packs(shelf, load_verbs(config)), len(shelf)
    except DefinitionError as error:
        return error.problems, 0


def _shelf(config: Config) -> Shelf:
    from perdure.app.packs import project_packs

    return project_packs(config)


COMMANDS = {"packs": {"list": list_packs, "show": show_pack, "lint": lint}}
