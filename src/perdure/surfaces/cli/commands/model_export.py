"""The command that writes a model for another engine: export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings

if TYPE_CHECKING:
    from perdure.app.processes.export import ExportedModel


def export(
    settings: Settings,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A BPMN file.", show_default=False)],
    target: Annotated[
        str, typer.Option("--target", help="camunda, which is its oldest release, or a release: camunda:8.8.")
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Else the model's name with .camunda.bpmn, here; '-' is stdout."
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option("--profile", help="hollow, contract or open, else contract with a workflowDefinition.")
    ] = "",
) -> None:
    """Write a model in the dialect of another engine. Exits 2 when lint says that engine cannot carry it."""
    from perdure.app.processes.export import export_camunda
    from perdure.surfaces.cli.commands.lint import aim_of, catalogue_of, profile_of

    aim = aim_of("export for", target)
    if aim.target != "camunda":
        fact = "it takes models as they are" if aim.target == "embedded" else "it carries models as they are deployed"
        raise usage("export for", "target", target, fact, "Say --target camunda.")
    if not model.is_file():
        raise usage("export", "model", str(model), "there is no such file", "Name a BPMN file.")
    own = profile_of("export with", profile) if profile else None
    made = export_camunda(model, catalogue_of(settings), own, aim.release)
    _deliver(settings, made, model, to)


def _deliver(settings: Settings, made: ExportedModel, model: Path, to: str | None) -> None:
    import msgspec

    if to == "-":
        output.plain(made.xml)
        return
    file = Path(to or f"{model.stem}.camunda.bpmn")
    if file.exists() and file.samefile(model):
        raise usage("write", "model", str(file), "it is the model that is exported", "Name another file.")
    try:
        file.write_text(made.xml, encoding="utf-8", newline="\n")
    except OSError as error:
        raise usage("write", "model", str(file), f"it cannot be written ({error.strerror})") from None
    told = {name: each for name, each in msgspec.to_builtins(made).items() if name != "xml"}
    output.show(
        settings, {"file": str(file.resolve()), "bytes": len(made.xml.encode()), **told}, lambda: _picture(made, file)
    )


def _picture(made: ExportedModel, file: Path) -> str:
    lines = [f"✓ {file} is for Camunda {made.release}"]
    for process, variables in made.variables.items():
        if made.contracts.get(process) is None:
            lines.append(f"  {process}: no verb names it, so its flags are not known")
        elif variables:
            lines.append(f"  {process} starts with {', '.join(variables)}")
    lines += [f"  {each.code} {each.message()}" for each in made.warnings]
    return "\n".join(lines)


COMMANDS = {"export": export}
