"""The check of a deployment: what `deploy --check` asks, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import text_pairs
from perdure.surfaces.cli.exit_codes import FAILED, NOT_YET
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, load_verbs, on_import_path, open_store

if TYPE_CHECKING:
    from perdure.app.configuration.project import Config
    from perdure.app.deployments.views import DeploymentImpact, LoadedVerb
    from perdure.verbs import Catalogue


async def check_deployment(
    settings: Settings, models: Sequence[Path], *, process: str, profile: Literal["hollow", "contract", "open"] | None,
    policies: Path | None, mapping: list[str] | None, states: int, seconds: float,
) -> None:  # fmt: skip
    """Ask the store or the server with the verbs and handlers of this project, and show the answer."""
    from perdure.app.processes.project_models import model_files, unreadable

    files = model_files(models)
    if models and not files:
        raise unreadable(models[0], "there is no model in it")
    config = load_project(settings)
    verbs = load_verbs(config) if config.definitions else None
    told = _serving(config, verbs) if verbs is not None else (None, [])
    opened: Any = open_store(settings, "reader", config, verbs)
    async with opened as perdure:
        found = await perdure.deployments.check(
            files, process=process, profile=profile, policies=policies, mapping=text_pairs("--map", mapping),
            verbs=told[0], handlers=told[1], states=states, seconds=seconds,
        )  # fmt: skip
    output.show(settings, found, lambda: output.tables("deployment_tables").impact_picture(found))
    _end(found)


def _serving(config: Config, verbs: Catalogue) -> tuple[list[LoadedVerb], list[str]]:
    """The verbs and handlers that a worker of this project would have; nothing is stored."""
    from perdure.app.deployments.pinned_texts import is_of_platform, loaded_verb
    from perdure.app.workflows.project_workflows import ProjectWorkflows

    on_import_path(config)
    registry = ProjectWorkflows.load(config.workflows).handlers(config.handlers, verbs)
    own = [each for each in verbs.every_version() if not is_of_platform(each)]
    return [loaded_verb(each, registry.serves(each)) for each in own], list(registry.names)


def _end(found: DeploymentImpact) -> None:
    pinned = [each for process in found.processes for each in process.states if each.verdict == "stays_pinned"]
    others = [*(each.verdict for each in found.verbs), *(each.verdict for each in found.carriers)]
    if "stays_pinned" in others or any(not each.bound for each in pinned):
        raise typer.Exit(FAILED)
    if not found.is_decided:
        raise typer.Exit(NOT_YET)
