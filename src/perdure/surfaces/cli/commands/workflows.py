"""Commands about workflows in Python and YAML: list, convert, and look at what their instances hold and did."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.commands.calls import Confirm, Phrase, agreed
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.output import encode
from perdure.surfaces.cli.project_context import open_store

if TYPE_CHECKING:
    from perdure.app.workflows.views import VariableView
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


Instance = Annotated[str, typer.Argument(metavar="INSTANCE", help="The instance's id.", show_default=False)]


async def variables(
    settings: Settings,
    instance: Instance,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Every version of this one alone.")] = "",
) -> None:
    """Show the variables of an instance, or every version of one, with who wrote each and when."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        desk = perdure.workflows
        found = await (desk.variable_history(instance, name) if name else desk.variables(instance))
    lines = [f"{each.name} = {encode(each.value)}  {each.type}, {_written(each)}" for each in found]
    output.show(settings, list(found), lambda: "\n".join(lines) or "No variables.")


def _written(variable: VariableView) -> str:
    return f"version {variable.version} by {variable.updated_by} {variable.updated_at}"


async def set_variable(
    settings: Settings,
    instance: Instance,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The variable.", show_default=False)],
    value: Annotated[str, typer.Argument(metavar="JSON", help="Its value; what is no JSON is text.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the journal.")] = "",
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Set a variable of a running instance; conditions follow it."""
    import msgspec

    try:
        given = msgspec.json.decode(value)
    except msgspec.DecodeError:
        given = value
    async with open_store(settings, "caller", must_exist=True) as perdure:
        act = partial(perdure.workflows.set_variable, instance, name, given, reason)
        found = await agreed(settings, perdure, act, confirm, phrase)
    output.show(settings, found, lambda: f"✓ {name} = {encode(found.value)}, version {found.version}")


async def executions(settings: Settings, instance: Instance) -> None:
    """Show every attempt of every task of an instance: input, output, error, cost and duration."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.workflows.executions(instance)
    lines = [
        f"{each.task} #{each.attempt} {each.state}  {each.actor}"
        + (f"  {each.duration_ms:g} ms" if each.duration_ms is not None else "")
        + (f"  cost {each.cost}" if each.cost else "")
        + (f"  {each.error}" if each.error else f"  {encode(each.output)}" if each.output else "")
        for each in found
    ]
    output.show(settings, list(found), lambda: "\n".join(lines) or "Nothing has run.")


COMMANDS = {
    "workflows": {
        "list": list_workflows, "convert": convert, "variables": variables, "set": set_variable,
        "executions": executions,
    },
}  # fmt: skip
