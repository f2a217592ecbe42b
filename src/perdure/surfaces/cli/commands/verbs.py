"""Commands about verbs: list, show, search, lint. None of them needs a store."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_declared_verbs, load_project, load_verbs
from perdure.surfaces.cli.remote_server import get_verb, open_server, server_of, server_verbs
from perdure.surfaces.cli.shell_completion import verb_names

if TYPE_CHECKING:
    from perdure.app import Config
    from perdure.errors import Problem
    from perdure.verbs import Catalogue, Verb

EMPTY = "No verbs are declared here. Run `perdure init`, or name a folder with --definitions."


async def list_verbs(settings: Settings) -> None:
    """List the verbs."""
    _list(settings, "Verbs", list(await _verbs(settings)), EMPTY)


async def _verbs(settings: Settings) -> Catalogue:
    """Those of the project, or of the server."""
    if not server_of(settings):
        return load_verbs(load_project(settings))
    async with open_server(settings) as client:
        return await server_verbs(client)


async def search(
    settings: Settings,
    words: Annotated[list[str], typer.Argument(help="What it should do.", show_default=False)],
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 20,
) -> None:
    """Find verbs by what they do, best first."""
    found = (await _verbs(settings)).search(" ".join(words), limit)
    _list(settings, "Found", found, "No verb speaks of that. See `perdure verbs list`.")


async def show_verb(
    settings: Settings,
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=verb_names, show_default=False)],
    version: Annotated[int | None, typer.Option("--version", help="Else the newest.")] = None,
) -> None:
    """Show a verb: its arguments, schemas, sentences, tier and how it is carried out."""
    if server_of(settings):
        async with open_server(settings) as client:
            verb = await get_verb(client, name, version)
    else:
        verb = load_verbs(load_project(settings)).get(name, version)
    from perdure.surfaces.cli.renderers.verb_tables import verb_picture

    output.show(settings, whole(verb), lambda: verb_picture(verb))


def lint(
    settings: Settings,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
) -> None:
    """Check definitions and handlers: everything that does not load, or could be better. Exits 1 on errors."""
    from perdure.surfaces.cli.renderers.verb_tables import lint_picture

    config = load_project(settings)
    problems, count = _problems(config)
    output.show(settings, {"verbs": count, "problems": problems}, lambda: lint_picture(problems, count))
    if any(strict or problem.severity == "error" for problem in problems):
        raise typer.Exit(FAILED)


def _problems(config: Config) -> tuple[list[Problem], int]:
    from perdure.errors import DefinitionError

    try:
        catalogue = load_declared_verbs(config)
    except DefinitionError as error:
        return error.problems, 0
    return [*_handler_problems(config, catalogue), *_process_problems(config, catalogue), *catalogue.lint()], len(
        catalogue
    )


def _process_problems(config: Config, catalogue: Catalogue) -> Iterator[Problem]:
    """Processes that verbs name and no model of the project holds; a project without models deploys them elsewhere."""
    from perdure.app.processes.project_models import default_places, load_model, model_files
    from perdure.errors import DefinitionError, ModelError, Problem
    from perdure.verbs.near_names import did_you_mean

    places = config.models if config.models is not None else default_places(config.definitions)
    try:
        known = {process.id for file in model_files(places) for process in load_model(file).definitions.executable()}
    except (DefinitionError, ModelError) as error:
        yield from error.problems
        return
    for verb in catalogue.every_version() if known else ():
        definition, process = verb.definition, verb.execution.process
        if process is not None and process not in known:
            yield Problem(
                "lint.unknown_process", definition.file, definition.line, 1, f"{verb.name} execution.process",
                f"no model of the project holds a process '{process}'",
                did_you_mean(process, known) or "Write its model, or deploy it from elsewhere before it is called.",
                "warning",
            )  # fmt: skip


def _handler_problems(config: Config, catalogue: Catalogue) -> list[Problem]:
    from perdure.errors import DefinitionError
    from perdure.verbs import HandlerRegistry

    sys.path.insert(0, str(config.folder.resolve()))
    try:
        return HandlerRegistry.collect(config.handlers, catalogue).missing(catalogue)
    except DefinitionError as error:
        return error.problems


def brief(verb: Verb) -> dict[str, Any]:
    """A verb on one line."""
    definition = verb.definition
    return {
        "name": verb.name, "version": verb.version, "description": definition.description,
        "execution": definition.execution.kind, "consequence": definition.consequence,
    }  # fmt: skip


def whole(verb: Verb) -> dict[str, Any]:
    """Everything declared about a verb."""
    import msgspec

    told: dict[str, Any] = msgspec.to_builtins(verb.definition)
    return {**told, "content_hash": verb.content_hash}


def _list(settings: Settings, title: str, verbs: list[Verb], empty: str) -> None:
    from perdure.surfaces.cli.renderers.verb_tables import verbs_picture

    output.show(settings, [brief(verb) for verb in verbs], lambda: verbs_picture(title, verbs, empty))


COMMANDS = {"verbs": {"list": list_verbs, "show": show_verb, "search": search, "lint": lint}}
