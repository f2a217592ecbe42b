"""The command that draws processes: draw."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings

if TYPE_CHECKING:
    from perdure.app.instances.replay import DiagramView
    from perdure.bpmn.model import Model
    from perdure.bpmn.svg import Marks

INSTANCE_ID = re.compile(r"[0-9a-z]{26}")
MAX_MODEL_BYTES = 64 * 1024 * 1024
"""Only a bound on memory: how large a model may be is the reader's to say."""


class Subject(NamedTuple):
    """What is to be drawn, and under which name."""

    model: Model
    name: str
    marks: Marks | None = None
    title: str = ""


async def draw(
    settings: Settings,
    what: Annotated[
        str, typer.Argument(metavar="MODEL | INSTANCE", help="A BPMN file or an instance's id.", show_default=False)
    ],
    to: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Else the model's name with .svg; '-' is stdout."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Lay it out anew, whatever diagram the file has.")] = False,
) -> None:
    """Draw a process as SVG, with the diagram of its file or a layout of our own; an instance with its state on it."""
    _deliver(settings, await _subject(settings, what), to, fresh)


def _deliver(settings: Settings, subject: Subject, to: str | None, fresh: bool) -> None:
    from msgspec.structs import replace

    from perdure.bpmn import svg

    model = replace(subject.model, diagram=None) if fresh else subject.model
    picture = svg.draw(model, subject.marks, title=subject.title)
    if to == "-":
        output.plain(picture)
        return
    file = Path(to or f"{subject.name}.svg")
    _write(file, picture)
    told = {"file": str(file.resolve()), "bytes": len(picture.encode())}
    output.show(settings, told, lambda: f"✓ {subject.name} is drawn in {file}")


async def _subject(settings: Settings, what: str) -> Subject:
    """What the word stands for: an instance, when it reads like an id and is no file."""
    from perdure.surfaces.cli.project_context import open_store
    from perdure.surfaces.cli.remote_server import is_remote

    if not _is_instance(what):
        return _file(what)
    async with open_store(settings, "reader", must_exist=True) as perdure:
        view = await perdure.instances.get(what)
        if is_remote(perdure):
            model, marks = _drawn(await perdure.instances.diagram(what))
        else:
            model, marks = await perdure.instances.drawing(what)
    return Subject(model, what, marks, f"{view.process} v{view.version}: {view.progress}")


def _drawn(shown: DiagramView) -> tuple[Model, Marks]:
    """The picture of an instance as a server tells of it."""
    from perdure.bpmn.svg import Mark, Marks
    from perdure.bpmn.xml import read_model

    told = shown.marks
    tokens = {each.element: each.count for each in told.tokens}
    done = {each.element: each.count for each in told.completed}
    stuck, waiting = {each.element for each in told.incidents}, set(told.waiting)
    elements = {
        element: Mark(
            tokens=tokens.get(element, 0), completed=done.get(element, 0), has_incident=element in stuck,
            is_waiting=element in waiting, state="active" if element in tokens else "completed",
        )
        for element in dict.fromkeys((*done, *tokens))
    }  # fmt: skip
    marks = Marks(elements=elements, path=tuple(told.path), is_numbered=False)
    return read_model(shown.xml.encode(), shown.process), marks


def _is_instance(what: str) -> bool:
    return INSTANCE_ID.fullmatch(what) is not None and not Path(what).exists()


def _file(what: str) -> Subject:
    path = Path(what)
    return Subject(_read(path), path.stem)


def _read(path: Path) -> Model:
    from perdure.bpmn.xml import read_model

    try:
        with path.open("rb") as file:
            data = file.read(MAX_MODEL_BYTES + 1)
    except OSError as error:
        raise usage("draw", "model", str(path), f"it cannot be read ({error.strerror})", "Name a BPMN file.") from None
    if len(data) > MAX_MODEL_BYTES:
        raise usage("draw", "model", str(path), f"it is larger than {MAX_MODEL_BYTES:,} bytes")
    return read_model(data, str(path))


def _write(file: Path, picture: str) -> None:
    try:
        file.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise usage("write", "picture", str(file), f"it cannot be written ({error.strerror})") from None


COMMANDS = {"draw": draw}
