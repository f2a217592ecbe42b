"""Commands for people's tasks: list, look at, claim, hand on, complete."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import json_object
from perdure.surfaces.cli.commands.calls import REST_SECONDS, show_call
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store

TaskWord = Annotated[str, typer.Argument(metavar="TASK", help="The task's key.", show_default=False)]
Override = Annotated[
    str, typer.Option("--override", metavar="REASON", help="As one of the administrators, for others; recorded.")
]

SeenWord = Annotated[
    str, typer.Option("--seen", metavar="HASH", help="The `seen` of `tasks show`: refused if that has changed.")
]


async def list_tasks(
    settings: Settings,
    mine: Annotated[bool, typer.Option("--mine", help="Only those that who asks may answer.")] = False,
    unclaimed: Annotated[bool, typer.Option("--open", help="Only those that nobody has claimed.")] = False,
    due: Annotated[bool, typer.Option("--due", help="Only those whose due date has passed.")] = False,
    after: Annotated[int, typer.Option("--after", help="The number of the last one seen, for the next page.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 100,
) -> None:
    """List open tasks, oldest first; with --group and without --mine only those of that group."""
    group = settings.groups[-1] if settings.groups and not mine else ""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.tasks.list(
            mine=mine, group=group, unclaimed=unclaimed, overdue=due, after=after, limit=limit
        )  # fmt: skip
        output.show(settings, found, lambda: output.tables("process_tables").tasks_picture(found))


async def show(settings: Settings, task: TaskWord) -> None:
    """Show a task and the form of its answer."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.get(task))


async def claim(settings: Settings, task: TaskWord, override: Override = "") -> None:
    """Take a task: nobody else can complete it then."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.claim(task, override=override))


async def unclaim(settings: Settings, task: TaskWord, override: Override = "") -> None:
    """Give a claimed task back."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.unclaim(task, override=override))


async def delegate(
    settings: Settings,
    task: TaskWord,
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="The person.")] = "",
    override: Override = "",
) -> None:
    """Hand a task to another person; who did is remembered."""
    if not to:
        raise usage("delegate", "task", task, "nothing says to whom", "Give --to NAME.")
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.delegate(task, to, override=override))


async def reassign(
    settings: Settings,
    task: TaskWord,
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="The person.")] = "",
    to_groups: Annotated[str, typer.Option("--to-groups", metavar="NAMES", help="The groups instead.")] = "",
    override: Override = "",
) -> None:
    """Give a task to another person, or to groups instead of those that had it."""
    if not (to or to_groups):
        raise usage("reassign", "task", task, "nothing says to whom", "Give --to NAME or --to-groups NAMES.")
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.reassign(task, to, groups=to_groups, override=override))


async def complete(
    settings: Settings,
    task: TaskWord,
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="The answer: an object.")] = None,
    message_id: Annotated[str, typer.Option("--id", metavar="MESSAGE_ID", help="The same one twice counts once.")] = "",
    override: Override = "",
    seen: SeenWord = "",
) -> None:
    """Complete a task with its answer; at a terminal and without --data, its form is asked field by field."""
    from perdure.app import CallView
    from perdure.app.runbooks.views import RunbookView

    value = json_object("--data", data)
    async with open_store(settings, "caller", must_exist=True) as perdure:
        if value is None and not settings.json and sys.stdin.isatty():
            value, seen = await _ask(perdure, task, seen)
        view = await perdure.tasks.complete(
            task, value, message_id=message_id, override=override, until="rest", timeout_seconds=REST_SECONDS, seen=seen
        )  # fmt: skip
        if isinstance(view, CallView):
            await show_call(settings, perdure, view)
        elif isinstance(view, RunbookView):
            output.show(settings, view, lambda: f"{view.state}: {view.progress}")
        else:
            output.show(settings, view, lambda: output.tables("process_tables").instance_picture(view))


async def accept(settings: Settings, task: TaskWord, override: Override = "", seen: SeenWord = "") -> None:
    """Complete a task with what an agent proposes there; `show` tells what that is."""
    from perdure.app import CallView

    async with open_store(settings, "caller", must_exist=True) as perdure:
        view = await perdure.tasks.accept(task, override=override, seen=seen)
        if isinstance(view, CallView):
            await show_call(settings, perdure, view)
        else:
            output.show(settings, view, lambda: f"{view.state}: {view.progress}")


async def _ask(perdure: Any, task: str, seen: str) -> tuple[dict[str, Any] | None, str]:
    """The answer as typed in, where the task has a form, and what was shown; what does not fit is asked again."""
    from perdure.surfaces.cli.terminal_forms import ask_form

    view = await perdure.tasks.get(task)
    if not view.form:
        return None, seen
    typer.echo(view.name, err=True)
    if view.body:
        typer.echo(view.body, err=True)
    for name, value in view.known.items():
        typer.echo(f"{name}: {value if isinstance(value, str) else output.encode(value)}", err=True)
    asked = ask_form(view.form, lambda question: typer.prompt(question, default="", show_default=False, err=True), _say)
    return asked, seen or view.seen


def _say(text: str) -> None:
    typer.echo(f"  {text}", err=True)


def _show(settings: Settings, view: Any) -> None:
    output.show(settings, view, lambda: output.tables("process_tables").task_picture(view))


COMMANDS = {
    "tasks": {
        "list": list_tasks,
        "show": show,
        "claim": claim,
        "unclaim": unclaim,
        "delegate": delegate,
        "reassign": reassign,
        "complete": complete,
        "accept": accept,
    }
}
