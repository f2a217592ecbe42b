"""The command that checks process models: lint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, load_verbs

if TYPE_CHECKING:
    from perdure.bpmn.contract.policies import PolicyCatalogue
    from perdure.bpmn.lint.findings import Aim, Profile
    from perdure.verbs import Catalogue


def lint(
    settings: Settings,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="Models, folders of them, verb files.", show_default=False)
    ],
    profile: Annotated[
        str, typer.Option("--profile", help="hollow, contract or open, else contract with a workflowDefinition.")
    ] = "",
    target: Annotated[
        str, typer.Option("--target", help="Check for embedded, or for a later move: temporal, camunda or camunda:8.8.")
    ] = "embedded",
    strict: Annotated[
        bool, typer.Option("--strict", help="Take the contract profile in its narrower reading.")
    ] = False,
    policies: Annotated[
        Path | None, typer.Option("--policies", metavar="FILE", help="Policies, else policies.yaml beside each model.")
    ] = None,
    sarif: Annotated[bool, typer.Option("--sarif", help="Print SARIF 2.1.0 for code hosts and editors.")] = False,
) -> None:
    """Check process models: hollow, correct, true to the contract of their verb, portable. Exits 1 on errors."""
    from perdure.app.processes.lint import lint_paths

    aim = aim_of("lint for", target)
    report = lint_paths(
        paths, catalogue_of(settings), profile_of("lint with", profile) if profile else None, aim.target, aim.release,
        is_strict=strict, policies=catalogue_of_policies(policies),
    )  # fmt: skip
    if sarif:
        from importlib.metadata import version

        from perdure.bpmn.lint.sarif import sarif as as_sarif

        output.line(as_sarif(report.findings, version("perdure")))
    else:
        output.show(settings, report, lambda: output.tables("lint_tables").lint_picture(report))
    if report.has_errors():
        raise typer.Exit(FAILED)


def catalogue_of(settings: Settings) -> Catalogue | None:
    """The verbs the options name; without any, lint looks around each model."""
    return load_verbs(load_project(settings)) if settings.definitions or settings.config else None


def catalogue_of_policies(file: Path | None) -> PolicyCatalogue | None:
    """The policies of a file that an option names."""
    from perdure.app.processes.project_models import policies_of

    return policies_of(file) if file is not None else None


def profile_of(do: str, word: str) -> Profile:
    from perdure.bpmn.lint.findings import PROFILES

    for profile in PROFILES:
        if profile == word:
            return profile
    raise usage(do, "profile", word, "there is no such profile", f"Profiles: {', '.join(PROFILES)}.")


def aim_of(do: str, word: str) -> Aim:
    from perdure.bpmn.lint.findings import AIMS, Aim

    found = Aim.from_text(word)
    if found is None:
        raise usage(do, "target", word, "there is no such target", f"Targets: {', '.join(AIMS)}.")
    return found


COMMANDS = {"lint": lint}
