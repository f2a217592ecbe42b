"""Commands for people's tasks: list, look at, claim, hand on, complete."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.calls import REST_SECONDS
from perdure.surfaces.cli.failures import usage
from perdure.surfaces.cli.options import Settings, command, group
from perdure.surfaces.cli.project import open_store
from perdure.surfaces.cli.reading import json_object

TaskWord = Annotated[str, typer.Argument(metavar="TASK", help="The task's key.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    tasks = group("Look after what processes ask of people.")
    for name, function in COMMANDS.items():
        command(tasks, name)(function)
    app.add_typer(tasks, name="tasks", rich_help_panel="People")


async def list_tasks(
    settings: Settings,
    mine: Annotated[bool, typer.Option("--mine", help="Only those of who asks.")] = False,
    group: Annotated[str, typer.Option("--group", metavar="NAME", help="Only those of a group.")] = "",
    after: Annotated[int, typer.Option("--after", help="The number of the last one seen, for the next page.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 100,
) -> None:
    """List open tasks, oldest first."""
    from perdure.surfaces.cli.project import principal_of

    who = principal_of(settings) if mine else ""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.tasks.list(assignee=who, group=group, after=after, limit=limit)
        output.show(settings, found, lambda: _pictures().tasks_picture(found))


async def show(settings: Settings, task: TaskWord) -> None:
    """Show a task."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.get(task))


async def claim(settings: Settings, task: TaskWord) -> None:
    """Take a task: nobody else can complete it then."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.claim(task))


async def release(settings: Settings, task: TaskWord) -> None:
    """Give a claimed task back."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.release(task))


async def delegate(
    settings: Settings,
    task: TaskWord,
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="The person.")] = "",
    groups: Annotated[str, typer.Option("--groups", metavar="NAMES", help="The groups instead.")] = "",
) -> None:
    """Hand a task on to another person or to groups."""
    if not (to or groups):
        raise usage("delegate", "task", task, "nothing says to whom", "Give --to NAME or --groups NAMES.")
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.tasks.reassign(task, to, groups=groups))


async def complete(
    settings: Settings,
    task: TaskWord,
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="The answer: an object.")] = None,
    message_id: Annotated[str, typer.Option("--id", metavar="MESSAGE_ID", help="The same one twice counts once.")] = "",
) -> None:
    """Complete a task with its answer."""
    value = json_object("--data", data)
    async with open_store(settings, "caller", must_exist=True) as perdure:
        view = await perdure.tasks.complete(
            task, value, message_id=message_id, until="rest", timeout_seconds=REST_SECONDS
        )  # fmt: skip
        output.show(settings, view, lambda: _pictures().instance_picture(view))


def _show(settings: Settings, view: Any) -> None:
    output.show(settings, view, lambda: _pictures().task_picture(view))


def _pictures() -> Any:
    from perdure.surfaces.cli import process_pictures

    return process_pictures


COMMANDS: dict[str, Callable[..., Any]] = {
    "list": list_tasks, "show": show, "claim": claim, "release": release, "delegate": delegate, "complete": complete,
}  # fmt: skip
