"""Commands about lifecycles: start or find, look at, move, resolve, migrate, check and deploy."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import json_object
from perdure.surfaces.cli.commands.calls import Confirm, Phrase, agreed
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, load_verbs, on_import_path, open_store

if TYPE_CHECKING:
    from perdure.lifecycles.machine.commands import CargoItem

InstanceWord = Annotated[str, typer.Argument(metavar="ID", help="The instance's id.", show_default=False)]
LifecycleWord = Annotated[str, typer.Argument(metavar="LIFECYCLE", help="The lifecycle's name.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the journal.")]
VersionOption = Annotated[int | None, typer.Option("--version", min=1, help="A version; default: the latest.")]


async def start(
    settings: Settings,
    lifecycle: LifecycleWord,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about.", show_default=False)],
    names: Annotated[str | None, typer.Option("--context", metavar="JSON", help="What `$names` stand for.")] = None,
    version: VersionOption = None,
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Start a lifecycle for a subject, or find the one that is active for it."""
    given = json_object("--context", names) or {}
    async with open_store(settings, "caller") as perdure:
        act = partial(perdure.lifecycles.start, lifecycle, subject, given, version=version)
        begun = await agreed(settings, perdure, act, confirm, phrase)
        output.show(settings, begun, lambda: output.tables("lifecycle_tables").status_picture(begun.instance))


async def show(settings: Settings, id: InstanceWord) -> None:
    """Show an instance: state, progress, blockers with the calls that open them, transitions and history."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        status = await perdure.lifecycles.get(id)
        output.show(settings, status, lambda: output.tables("lifecycle_tables").status_picture(status))


async def list_instances(
    settings: Settings,
    lifecycle: Annotated[str, typer.Argument(metavar="[LIFECYCLE]", help="Only of this one.")] = "",
    state: Annotated[str, typer.Option("--state", help="Only in this state.")] = "",
    subject: Annotated[str, typer.Option("--subject", help="Only of this subject.")] = "",
    blocker: Annotated[str, typer.Option("--blocker", metavar="KEY", help="Only where this is not met.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 100,
) -> None:
    """List instances, newest first, with what blocks them."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.lifecycles.list(lifecycle, state=state, subject=subject, blocker=blocker, limit=limit)
        output.show(settings, found, lambda: output.tables("lifecycle_tables").list_picture(found))


async def transition(
    settings: Settings,
    id: InstanceWord,
    target: Annotated[str, typer.Argument(metavar="STATE", help="Where it leads to.", show_default=False)],
    reason: Reason = "",
) -> None:
    """Take a manual transition, or agree to one that another person proposed."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        answer = await perdure.lifecycles.transit(id, target, reason=reason)
        output.show(settings, answer, lambda: output.tables("lifecycle_tables").status_picture(answer.instance))


async def resolve(
    settings: Settings,
    id: InstanceWord,
    key: Annotated[str, typer.Argument(metavar="BLOCKER", help="The blocker's key.", show_default=False)],
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Call the resolution of a blocker."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        act = partial(perdure.lifecycles.resolve, id, key)
        status = await agreed(settings, perdure, act, confirm, phrase)
        output.show(settings, status, lambda: output.tables("lifecycle_tables").status_picture(status))


async def act(
    settings: Settings,
    id: InstanceWord,
    action: Annotated[str, typer.Argument(metavar="ACTION", help="The action's name.", show_default=False)],
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Do an action that the present state offers."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        asked = partial(perdure.lifecycles.act, id, action)
        status = await agreed(settings, perdure, asked, confirm, phrase)
        output.show(settings, status, lambda: output.tables("lifecycle_tables").status_picture(status))


TaskNumber = Annotated[int, typer.Argument(metavar="TASK", min=1, help="The task's number.", show_default=False)]


async def retry(
    settings: Settings, id: InstanceWord, task: TaskNumber, confirm: Confirm = "", phrase: Phrase = ""
) -> None:
    """Ask again for what failed or expired, by the number of its task."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        asked = partial(perdure.lifecycles.retry, id, task)
        status = await agreed(settings, perdure, asked, confirm, phrase)
        output.show(settings, status, lambda: output.tables("lifecycle_tables").status_picture(status))


async def dismiss(settings: Settings, id: InstanceWord, task: TaskNumber, reason: Reason = "") -> None:
    """Say that nothing more is to be done about an action that failed."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        status = await perdure.lifecycles.dismiss(id, task, reason)
        output.show(settings, status, lambda: output.tables("lifecycle_tables").status_picture(status))


async def erase(
    settings: Settings,
    id: InstanceWord,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; needed.", show_default=False)],
) -> None:
    """Erase the context of an instance that is over, the facts it was decided by, and the data of its calls."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        status = await perdure.lifecycles.erase(id, reason)
        output.show(settings, status, lambda: f"✓ erased: {status.id}")


async def look(settings: Settings, id: InstanceWord) -> None:
    """Look at the facts of an instance once more, also when it is stuck."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        status = await perdure.lifecycles.look(id)
        output.show(settings, status, lambda: output.tables("lifecycle_tables").status_picture(status))


async def cancel(settings: Settings, id: InstanceWord, reason: Reason = "") -> None:
    """End an instance and everything it asked for."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        status = await perdure.lifecycles.cancel(id, reason=reason)
        output.show(settings, status, lambda: output.tables("lifecycle_tables").status_picture(status))


async def migrate(
    settings: Settings,
    id: InstanceWord,
    version: VersionOption = None,
    state: Annotated[str, typer.Option("--state", help="The state that stands for its own there.")] = "",
    reason: Reason = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what that changes.")] = False,
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Let an instance go on under another version."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        act = partial(perdure.lifecycles.migrate, id, version=version, state=state, reason=reason, dry=dry_run)
        plan = await agreed(settings, perdure, act, confirm, phrase)
        output.show(settings, plan, lambda: output.tables("lifecycle_tables").plan_picture(plan))


async def history(
    settings: Settings,
    id: InstanceWord,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 1000,
) -> None:
    """Show the journal of an instance, with the facts that each decision used."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.lifecycles.history(id, limit=limit)
        output.show(settings, found, lambda: output.tables("lifecycle_tables").history_picture(found))


async def complete_task(
    settings: Settings,
    correlation_id: Annotated[str, typer.Argument(metavar="CORRELATION-ID", help="The task's.", show_default=False)],
    status: Annotated[Literal["completed", "failed", "expired"], typer.Option("--status")] = "completed",
    cargo: Annotated[list[str] | None, typer.Option("--cargo", metavar="URI", help="Where it is; several.")] = None,
    error: Annotated[str, typer.Option("--error", metavar="TEXT", help="Why there is none.")] = "",
    key: Annotated[str, typer.Option("--key", help="The same key counts once.")] = "",
) -> None:
    """Bring the result of a pending task. Delivered twice, it counts once."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        receipt = await perdure.lifecycles.complete_task(
            correlation_id, status, items=_pieces(cargo or ()), error=error, idempotency_key=key
        )
        output.show(settings, receipt, lambda: f"{receipt.answer}: the task is {receipt.task.status}.")


def _pieces(cargo: Iterable[str]) -> list[CargoItem]:
    from perdure.lifecycles.machine.commands import CargoItem

    return [CargoItem(each, each.partition("://")[0]) for each in cargo]


async def draw(
    settings: Settings,
    id: InstanceWord,
    file: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")] = None,
) -> None:
    """Draw the lifecycle of an instance as SVG, with its present state marked."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        drawing = await perdure.lifecycles.drawing(id)
        if file is not None:
            file.write_text(drawing.svg, encoding="utf-8")
        output.show(settings, drawing, lambda: drawing.svg if file is None else f"{file} shows {drawing.state}.")


async def definitions(settings: Settings) -> None:
    """List deployed lifecycles with all their versions."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.lifecycles.definitions()
        output.show(settings, found, lambda: output.tables("lifecycle_tables").versions_picture(found))


async def deploy(
    settings: Settings,
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Lifecycle files.", show_default=False)],
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Check lifecycle files and deploy them; the same content again is the same version."""
    async with open_store(settings, "caller") as perdure:
        acts = [partial(perdure.lifecycles.deploy, _text(each), file=str(each)) for each in files]
        found = [await agreed(settings, perdure, act, confirm, phrase) for act in acts]
        lines = [f"{each.lifecycle} version {each.version}{' (new)' if each.is_new else ''}" for each in found]
        output.show(settings, found, lambda: "\n".join(lines))


async def retire(
    settings: Settings,
    lifecycle: Annotated[str, typer.Argument(metavar="LIFECYCLE", help="Its name.", show_default=False)],
    version: Annotated[int, typer.Option("--version", metavar="N", min=1, help="The version to retire.")],
    reason: Reason = "",
) -> None:
    """Let nothing begin under a version any more; what runs goes on. A file of the project deploys it again."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.lifecycles.retire(lifecycle, version, reason=reason)
    output.show(settings, found, lambda: output.tables("lifecycle_tables").versions_picture(found))


def _text(file: Path) -> str:
    from perdure.errors import DefinitionError, Problem

    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(
            [Problem("file.unreadable", str(file), 1, 1, "", f"it cannot be read: {error}")]
        ) from error


def lint(
    settings: Settings,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]…", help="Lifecycle files or folders.", show_default=False)
    ] = None,
) -> None:
    """Check lifecycle files against the verbs they speak of. Exits 1 on errors."""
    from perdure.app.task_results.verbs import with_workflow_verb
    from perdure.errors import DefinitionError
    from perdure.lifecycles.guards.project_guards import project_guards
    from perdure.lifecycles.lint import LifecycleChecks
    from perdure.lifecycles.loader import default_places, load_lifecycles

    config = load_project(settings)
    try:
        on_import_path(config)
        table, own = project_guards(config.guards), config.lifecycles
        files = load_lifecycles(paths or (default_places(config.definitions) if own is None else own), table)
        others = {each.definition.name: each.definition for each in files}
        checks = LifecycleChecks(with_workflow_verb(load_verbs(config), bool(files)), table)
        problems, count = [found for each in files for found in checks.findings(each, others)], len(files)
    except DefinitionError as error:
        problems, count = error.problems, 0
    shown = {"lifecycles": count, "problems": problems}
    output.show(settings, shown, lambda: output.tables("lifecycle_tables").lint_picture(problems, count))
    if any(problem.severity == "error" for problem in problems):
        raise typer.Exit(FAILED)


def guards(
    settings: Settings,
    name: Annotated[str, typer.Argument(metavar="[KIND]", help="Only this kind.")] = "",
) -> None:
    """List the kinds of guard that lifecycles of this project can use, with their parameters."""
    from perdure.errors import RejectedError, Rejection
    from perdure.lifecycles.guards.project_guards import project_guards

    config = load_project(settings)
    on_import_path(config)
    table = project_guards(config.guards)
    found = [each for each in table if name in ("", each.name, *each.aliases)]
    if not found:
        hint = f"Kinds: {', '.join(each.name for each in table)}."
        raise RejectedError(Rejection("not_found", "find", "kind of guard", name[:80], "there is no such kind", hint))
    shown = [
        {
            "name": each.name, "aliases": each.aliases, "description": each.description.strip(),
            "parameters": each.parameters, "blocker": each.blocker, "example": each.example,
        }
        for each in found
    ]  # fmt: skip
    output.show(settings, shown, lambda: output.tables("lifecycle_tables").guards_picture(found))


COMMANDS = {
    "lifecycles": {
        "start": start, "list": list_instances, "show": show, "transition": transition, "resolve": resolve,
        "act": act, "retry": retry, "dismiss": dismiss,
        "erase": erase, "look": look, "cancel": cancel, "migrate": migrate, "history": history,
        "draw": draw, "complete-task": complete_task, "definitions": definitions, "deploy": deploy,
        "retire": retire, "lint": lint, "guards": guards,
    }
}  # fmt: skip
