"""The commands for teams that own their code: scaffold, verify, drop-versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings

if TYPE_CHECKING:
    from perdure.scaffold import DropReport, ScaffoldReport, VerifyReport, WrittenFile

_CHANGES = {
    "first": "the first version",
    "same": "the same commands as before",
    "patched": "the same version: new steps stand behind markers",
    "version": "a new version: what runs already keeps the one before",
    "in_place": "the same version, changed in place",
}


def scaffold(
    settings: Settings,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="temporal.", show_default=False)],
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A BPMN file.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the project.")],
    policies: Annotated[
        Path | None, typer.Option("--policies", metavar="FILE", help="Else policies.yaml beside the model.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what would be written.")] = False,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Change the current version: nothing of it runs yet.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over generated files changed by hand.")] = False,
) -> None:
    """Write a project for Temporal from a model of the contract profile; your files are never touched."""
    from perdure import scaffold as projects

    if not model.is_file():
        raise usage("scaffold", "model", str(model), "there is no such file", "Name a BPMN file.")
    report = projects.scaffold(target, model, out, policies, plan=plan, in_place=in_place, force=force)
    output.show(settings, report, lambda: _written(report))


def verify(
    settings: Settings,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a scaffolded project.")] = Path(),
    history: Annotated[
        Path | None, typer.Option("--history", metavar="DIR", help="Recorded histories (JSON) to replay as well.")
    ] = None,
) -> None:
    """Compare a scaffolded project with its model, its policies and its bodies. Exits 1 when they disagree."""
    from perdure import scaffold as projects

    report = projects.verify(folder, history)
    output.show(settings, report, lambda: _compared(report))
    if report.has_errors():
        raise typer.Exit(FAILED)


def drop_versions(
    settings: Settings,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a scaffolded project.")] = Path(),
    version: Annotated[
        list[int] | None, typer.Option("--version", metavar="N", help="Only this earlier version; may be repeated.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what would be removed.")] = False,
) -> None:
    """Remove earlier workflow versions of a scaffolded project. Histories of them no longer replay."""
    from perdure import scaffold as projects

    report = projects.drop_versions(folder, version or (), plan=plan)
    output.show(settings, report, lambda: _dropped(report))


def _written(report: ScaffoldReport) -> str:
    says = "Would change" if report.is_plan else "Changed"
    lines = [f"{report.workflow_type}: {_CHANGES[report.change]}."]
    lines += [f"  added behind a marker: {node}" for node in report.added]
    lines += _changed(report.files)
    lines.append(f"{says} in {report.out}: {_count(report.files)}; what you own stays as it is.")
    return "\n".join(lines)


def _dropped(report: DropReport) -> str:
    does = "Would remove" if report.is_plan else "Removed"
    lines = [f"{does} version {each.version} ({each.workflow_type})." for each in report.dropped]
    lines += [f"! {warning}" for warning in report.warnings]
    lines += _changed(report.files)
    lines += [f"  yours, and used by no version any more: {path}" for path in report.unused]
    says = "Would change" if report.is_plan else "Changed"
    lines.append(f"{says} in {report.folder}: {_count(report.files)}; {report.workflow_type} stays the current type.")
    return "\n".join(lines)


def _changed(files: tuple[WrittenFile, ...]) -> list[str]:
    return [f"  {file.fate:<9} {file.path}" for file in files if file.fate not in ("unchanged", "kept")]


def _count(files: tuple[WrittenFile, ...]) -> str:
    fates = {fate: sum(file.fate == fate for file in files) for fate in ("new", "rewritten", "removed")}
    return ", ".join(f"{count} {fate}" for fate, count in fates.items() if count) or "nothing"


def _compared(report: VerifyReport) -> str:
    lines: list[str] = []
    for each in report.findings:
        where = f"{each.path}:{each.line}" if each.line else each.path
        lines += [f"{each.severity} {where} {each.code}: {each.fact}.", *([f"  → {each.hint}"] if each.hint else [])]
        lines += [f"    {line}" for line in each.diff.splitlines()]
    if not report.findings:
        lines.append("✓ model, policies and code agree.")
    if report.histories:
        lines.append(f"{report.histories} histories replayed.")
    return "\n".join(lines)


COMMANDS = {"scaffold": scaffold, "verify": verify, "drop-versions": drop_versions}
