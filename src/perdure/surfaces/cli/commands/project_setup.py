"""The command that begins a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings

TEMPLATES = Path(__file__).parents[1] / "templates"
Template = Literal["verbs", "python-workflow"]
VERBS_NEXT = (
    "perdure verbs list",
    """perdure call '(kyc.check-name :name "Ana Lund")'""",
    """perdure call '(kyc.request-document :case "C-7" :document "passport")'""",
    """perdure complete C-7/passport --result '{"accepted": true}'""",
)
NEXT: dict[Template, tuple[str, ...]] = {
    "verbs": VERBS_NEXT,
    "python-workflow": (
        "pytest", "perdure call purchase amount=20", "perdure call purchase amount=5000",
        "perdure tasks list --mine --as ada",
    ),
}  # fmt: skip


def init(
    settings: Settings,
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="Where; made if need be.", show_default=False)
    ] = Path(),
    template: Annotated[
        Template, typer.Option("--template", help="What it begins with: verbs, or a workflow in Python and its tests.")
    ] = "verbs",
) -> None:
    """Begin a small working project: verbs with handlers, or a workflow with tests. Overwrites nothing."""
    root = TEMPLATES / template
    files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if _is_template(path)}
    taken = [name for name in files if (folder / name).exists()]
    if taken:
        hint = "Nothing was written. Choose another folder, or move it away."
        raise usage("begin", "project", str(folder), f"'{taken[0]}' is already there", hint)
    for name, path in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    told = {"folder": str(folder.resolve()), "files": list(files), "next": list(NEXT[template])}
    output.show(settings, told, lambda: _picture(folder, list(files), NEXT[template]))


def _is_template(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"


def _picture(folder: Path, files: list[str], next: tuple[str, ...]) -> object:
    from rich.console import Group
    from rich.text import Text

    inside = [] if folder.resolve() == Path.cwd() else [f"cd {folder}"]
    return Group(
        Text(f"✓ A project begins in {folder.resolve()}", style="bold green"),
        *[Text(f"  {name}", style="dim") for name in files],
        Text("\nTry this next:", style="bold"),
        *[Text(f"  {line}", style="cyan") for line in (*inside, *next)],
    )


COMMANDS = {"init": init}
