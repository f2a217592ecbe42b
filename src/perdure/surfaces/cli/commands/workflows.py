"""Commands about workflows in Python and YAML: list and convert."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings

if TYPE_CHECKING:
    from perdure.workflows.conversion import Converted


def list_workflows(
    settings: Settings,
    places: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Python and YAML files, or folders.", show_default=False)
    ],
) -> None:
    """List the workflows of files and folders with their versions. Exits 2 when one does not compile."""
    from perdure.workflows.files import load_workflows

    found: list[dict[str, object]] = [
        {
            "id": each.id, "version": each.version, "name": each.name, "hash": each.content_hash(),
            "file": each.place.file, "line": each.place.line,
        }
        for each in load_workflows(places)
    ]  # fmt: skip
    lines = [f"{each['id']} {each['version']}  {each['name']}  {str(each['hash'])[:19]}…" for each in found]
    output.show(settings, found, lambda: "\n".join(lines) or "No workflows.")


def convert(
    settings: Settings,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Python, YAML or BPMN file.", show_default=False)],
    to: Annotated[Literal["python", "yaml", "bpmn"], typer.Option("--to", help="The form to write.")],
    into: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Else it is printed.", show_default=False)
    ] = None,
    workflow: Annotated[str, typer.Option("--workflow", metavar="ID", help="Which one, where there are several.")] = "",
) -> None:
    """Convert a workflow between Python, YAML and BPMN; what the other form cannot say is named on stderr."""
    from perdure.workflows.conversion import convert as converted
    from perdure.workflows.conversion import read_any

    found = converted(read_any(file, workflow), to)
    if into is None and not settings.json:
        output.plain(found.text)
    else:
        _deliver(settings, found, file, into)
    for loss in found.losses:
        sys.stderr.write(f"! {loss}\n")


def _deliver(settings: Settings, found: Converted, source: Path, into: str | None) -> None:
    told = {"workflow": found.workflow, "version": found.version, "hash": found.hash, "losses": found.losses}
    if into is None:
        output.show(settings, {**told, "text": found.text}, lambda: found.text)
        return
    target = Path(into)
    if target.exists() and target.samefile(source):
        raise usage("write", "workflow", into, "it is the file that is converted", "Name another file.")
    try:
        target.write_text(found.text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise usage("write", "workflow", into, f"it cannot be written ({error.strerror})") from None
    output.show(
        settings, {"file": str(target.resolve()), **told}, lambda: f"✓ {target} says {found.workflow} {found.version}"
    )


COMMANDS = {"workflows": {"list": list_workflows, "convert": convert}}
