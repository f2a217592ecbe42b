"""The command that proves processes: prove."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED, NOT_YET
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.progress_bar import progress_bar
from perdure.surfaces.cli.project_context import load_project, load_verbs

if TYPE_CHECKING:
    from perdure.app.processes.proof import ProofReport
    from perdure.bpmn.lint.findings import Profile
    from perdure.verbs import Catalogue

WORDS = ("refuted", "undecided", "proved")
"""The gravest first."""


def prove(
    settings: Settings,
    file: Annotated[Path, typer.Argument(metavar="MODEL", help="A BPMN file.", show_default=False)],
    process: Annotated[str, typer.Option("--process", metavar="ID", help="Else every executable one.")] = "",
    profile: Annotated[
        str, typer.Option("--profile", help="hollow, contract or open, else contract with a workflowDefinition.")
    ] = "",
    scenario: Annotated[
        Path | None, typer.Option("--scenario", metavar="FILE", help="Write counterexamples as scenarios.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Write counterexamples drawn on the diagram.")
    ] = None,
    states: Annotated[int, typer.Option("--states", min=1, help="Give up after so many states.")] = 200_000,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="Or so much processor time.")] = 10,
    memory: Annotated[int, typer.Option("--memory", min=1, metavar="MB", help="Or so many megabytes.")] = 512,
) -> None:
    """Prove that every way through a process ends well, or show how it does not. Exits 1 if refuted, 11 if undecided.

    With several counterexamples, further files are numbered.
    """
    from perdure.app.processes.contract_binding import profile_of
    from perdure.app.processes.lint import verbs_beside
    from perdure.app.processes.project_models import load_model
    from perdure.app.processes.proof import prove_file
    from perdure.bpmn.proof import Bounds

    model = load_model(file)
    bounds = Bounds(states=states, seconds=seconds, bytes=memory * 1024 * 1024)
    given = _catalogue(settings)
    verbs = verbs_beside(file) if given is None else given
    with progress_bar(settings, "Proving") as progress:
        reports = prove_file(
            model, process, verbs, _profile(profile) if profile else profile_of(model, process), bounds=bounds,
            told=lambda count: progress("states", count, 0),
        )  # fmt: skip
    if scenario is not None:
        _write(reports, scenario, lambda report, number, to: report.scenario(number, _relative(file, to)))
    if svg is not None:
        from perdure.app.processes.proof import picture_of_finding

        _write(reports, svg, lambda report, number, to: picture_of_finding(model, report, number, verbs))
    output.show(settings, told(reports), lambda: output.tables("proof_tables").proof_picture(reports))
    _end(reports)


def told(reports: list[ProofReport]) -> dict[str, Any]:
    """The reports as one value: the gravest verdict, everything found, and each process by itself."""
    processes = [_told(report) for report in reports]
    first = min(processes, key=lambda each: WORDS.index(each["verdict"]), default={"verdict": "proved", "bound": ""})
    findings = [finding for each in processes for finding in each["findings"]]
    return {"verdict": first["verdict"], "bound": first["bound"], "findings": findings, "processes": processes}


def _told(report: ProofReport) -> dict[str, Any]:
    verdict = report.verdict
    findings = [
        {
            "code": finding.code, "severity": finding.severity, "element": finding.element,
            "elements": finding.elements, "message": finding.message(), "hint": finding.hint, "process": report.process,
            "steps": [{"sentence": step.sentence(), **_step(step)} for step in finding.steps],
            "scenario": scenario,
        }
        for finding, scenario in zip(verdict.findings, report.scenarios, strict=True)
    ]  # fmt: skip
    return {
        "file": report.file, "process": report.process, "verb": report.verb, "verdict": verdict.word,
        "bound": verdict.bound, "blocks": report.blocks, "findings": findings, "statistics": verdict.statistics,
    }  # fmt: skip


def _step(step: Any) -> dict[str, Any]:
    return {
        "kind": step.kind, "element": step.element, "name": step.name, "code": step.code, "flags": step.flags,
    }  # fmt: skip


def _end(reports: list[ProofReport]) -> None:
    words = {report.verdict.word for report in reports}
    if "refuted" in words:
        raise typer.Exit(FAILED)
    if "undecided" in words:
        raise typer.Exit(NOT_YET)


def _write(reports: list[ProofReport], to: Path, made: Any) -> None:
    """One file per counterexample; the first has the name given."""
    count = 0
    for report in reports:
        for number, finding in enumerate(report.verdict.findings):
            if not finding.steps:
                continue
            count += 1
            place = to if count == 1 else to.with_name(f"{to.stem}-{count}{to.suffix}")
            try:
                place.write_text(made(report, number, place), encoding="utf-8")
            except OSError as error:
                raise usage("write", "file", str(place), error.strerror or str(error)) from error


def _relative(model: Path, scenario: Path) -> str:
    return os.path.relpath(model.resolve(), scenario.resolve().parent)


def _catalogue(settings: Settings) -> Catalogue | None:
    return load_verbs(load_project(settings)) if settings.definitions or settings.config else None


def _profile(word: str) -> Profile:
    from perdure.bpmn.lint.findings import PROFILES

    for profile in PROFILES:
        if profile == word:
            return profile
    raise usage("prove with", "profile", word, "there is no such profile", f"Profiles: {', '.join(PROFILES)}.")


COMMANDS = {"prove": prove}
