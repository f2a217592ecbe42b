"""Commands about running processes: list, look at, suspend, resume, modify, migrate, cancel."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import flag_values, json_object, text_pairs
from perdure.surfaces.cli.commands.calls import REST_SECONDS, Confirm, Phrase, agreed
from perdure.surfaces.cli.commands.processes import ProcessWord, Reason
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store
from perdure.surfaces.cli.shell_completion import instance_ids

InstanceWord = Annotated[
    str, typer.Argument(metavar="ID", help="The instance's id.", autocompletion=instance_ids, show_default=False)
]
"""How long a command stays to show where a token has come to; the instance goes on without it."""
FlagWords = Annotated[
    list[str] | None, typer.Option("--flag", metavar="NAME=VALUE", help="Set a flag by hand.", show_default=False)
]


async def start(
    settings: Settings,
    process: ProcessWord,
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="What it begins with.")] = None,
    flag: Annotated[
        list[str] | None,
        typer.Option("--flag", metavar="NAME=VALUE", help="A flag it begins with.", show_default=False),
    ] = None,
    version: Annotated[int | None, typer.Option("--version", help="A version, else the latest.")] = None,
    business_key: Annotated[str, typer.Option("--business-key", metavar="KEY", help="Yours, to find it by.")] = "",
    idempotency_key: Annotated[
        str, typer.Option("--idempotency-key", metavar="KEY", help="Under one key it begins once.")
    ] = "",
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Begin an instance of a process that no verb carries (one that a verb carries begins by `perdure call`)."""
    value = json_object("--data", data)
    async with open_store(settings, "caller") as perdure:
        act = partial(
            perdure.instances.start, process, value, flags=flag_values(flag or ()), version=version,
            business_key=business_key, idempotency_key=idempotency_key, until="rest", timeout_seconds=REST_SECONDS,
        )  # fmt: skip
        view = await agreed(settings, perdure, act, confirm, phrase)
        _show(settings, view)


async def list_instances(
    settings: Settings,
    process: Annotated[str, typer.Option("--process", metavar="ID", help="Only of this process.")] = "",
    state: Annotated[str, typer.Option("--state", metavar="STATE", help="Only in this state, e.g. active.")] = "",
    business_key: Annotated[str, typer.Option("--business-key", metavar="KEY", help="Only with this key.")] = "",
    after: Annotated[str, typer.Option("--after", metavar="ID", help="The last one seen, for the next page.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 100,
) -> None:
    """List instances, newest first."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.instances.list(
            process=process, status=state, business_key=business_key, after=after, limit=limit
        )
        output.show(settings, found, lambda: output.tables("process_tables").instances_picture(found))


async def show(settings: Settings, id: InstanceWord) -> None:
    """Show an instance: where its tokens stand, what it waits for, its flags and data."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.instances.get(id))


async def events(
    settings: Settings,
    id: InstanceWord,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until it has ended.")] = False,
    after: Annotated[int, typer.Option("--after", help="Only what comes after this sequence number.")] = 0,
) -> None:
    """Show what happened to an instance, oldest first; with --follow, JSON comes as one object per line."""
    from perdure.surfaces.cli.renderers import event_tables

    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = []
        async for event in perdure.instances.events(id, after=after, follow=follow):
            if not follow:
                found.append(event)
            elif settings.json:
                output.line(event)
            else:
                output.console().print(event_tables.event_line(event))
        if not follow:
            output.show(settings, found, lambda: event_tables.events_picture(id, found))


async def suspend(settings: Settings, id: InstanceWord, reason: Reason = "") -> None:
    """Let nothing happen to an instance, nor to what it calls: timers are held, messages are not taken."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.instances.suspend(id, reason))


async def resume(
    settings: Settings,
    id: InstanceWord,
    timers: Annotated[
        Literal["keep", "shift"],
        typer.Option("--timers", help="keep: what fell due meanwhile fires now; shift: all later by the pause."),
    ] = "keep",
) -> None:
    """Let a suspended instance go on, and what it calls, unless that was suspended for itself."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        await perdure.instances.resume(id, shift_timers=timers == "shift")
        await _show_at_rest(settings, perdure, id)


async def modify(
    settings: Settings,
    id: InstanceWord,
    cancel: Annotated[
        list[int] | None, typer.Option("--cancel", metavar="TOKEN", help="Take a token away.", show_default=False)
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option("--start", metavar="ELEMENT", help="Put a token before an element.", show_default=False),
    ] = None,
    flag: FlagWords = None,
    reason: Reason = "",
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Move tokens and set flags by hand, all in one commit; the numbers of tokens are in `instances show`."""
    if not (cancel or start or flag):
        raise usage("modify", "instance", id, "nothing says how", "Give --cancel, --start or --flag.")
    async with open_store(settings, "caller", must_exist=True) as perdure:
        act = partial(
            perdure.instances.modify, id, cancel=cancel or (), start=start or (), flags=flag_values(flag or ()),
            reason=reason,
        )  # fmt: skip
        await agreed(settings, perdure, act, confirm, phrase)
        await _show_at_rest(settings, perdure, id)


async def move(
    settings: Settings,
    id: InstanceWord,
    engine: Annotated[str, typer.Option("--engine", metavar="NAME", help="The engine that is to carry it.")],
    shadow: Annotated[bool, typer.Option("--shadow", help="Replay its journal there first and compare.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    reason: Reason = "",
) -> None:
    """Take a waiting instance to another engine; its journal keeps a certificate of what was moved."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        plan = await perdure.instances.move(id, engine, reason=reason, dry_run=dry_run, shadow=shadow)
        output.show(settings, plan, lambda: output.tables("process_tables").move_picture(plan))


async def migrate(
    settings: Settings,
    id: InstanceWord,
    version: Annotated[int | None, typer.Option("--version", help="To this version, else to the latest.")] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="OLD=NEW", help="Where an element's token goes.", show_default=False),
    ] = None,
    flag: Annotated[
        list[str] | None,
        typer.Option("--map-flag", metavar="OLD=NEW", help="A flag that is called otherwise.", show_default=False),
    ] = None,
    back: Annotated[bool, typer.Option("--back", help="To where it was before its last migration.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    reason: Reason = "",
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Take an instance to another version of its process; timers and correlation of what is mapped are kept."""
    async with open_store(settings, "reader" if dry_run else "caller", must_exist=True) as perdure:
        if back:
            plan = await perdure.instances.migrate_back(id, reason=reason, dry_run=dry_run)
        else:
            act = partial(
                perdure.instances.migrate, id, version=version, mapping=text_pairs("--map", mapping),
                flags=text_pairs("--map-flag", flag), reason=reason, dry_run=dry_run,
            )  # fmt: skip
            plan = await agreed(settings, perdure, act, confirm, phrase)
        output.show(settings, plan, lambda: output.tables("process_tables").migration_picture(plan))


async def cancel_instance(
    settings: Settings,
    id: InstanceWord,
    reason: Reason = "",
    compensate: Annotated[bool, typer.Option("--compensate", help="Undo what it has done, last first.")] = False,
) -> None:
    """Stop an instance. What it did stays done unless --compensate is given."""
    async with open_store(settings, "caller" if compensate else "reader", must_exist=True) as perdure:
        await perdure.instances.cancel(id, reason, compensate=compensate)
        await _show_at_rest(settings, perdure, id)


async def retry(
    settings: Settings,
    id: InstanceWord,
    token: Annotated[int | None, typer.Option("--token", help="One of several incidents.")] = None,
    flag: FlagWords = None,
    reason: Reason = "",
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Try again what an incident stopped, perhaps with a flag set by hand."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        act = partial(perdure.instances.retry, id, token, flags=flag_values(flag or ()), reason=reason)
        await agreed(settings, perdure, act, confirm, phrase)
        await _show_at_rest(settings, perdure, id)


async def resolve(
    settings: Settings,
    id: InstanceWord,
    token: Annotated[int | None, typer.Option("--token", help="One of several incidents.")] = None,
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="As if it had brought this.")] = None,
    error: Annotated[str, typer.Option("--error", metavar="CODE", help="As if it had raised this.")] = "",
    flag: FlagWords = None,
    reason: Reason = "",
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """End by hand what an incident stopped: as if it had completed, or with a business error's code."""
    value = json_object("--data", data)
    async with open_store(settings, "caller", must_exist=True) as perdure:
        act = partial(
            perdure.instances.resolve, id, token, data=value, flags=flag_values(flag or ()), error=error, reason=reason
        )
        await agreed(settings, perdure, act, confirm, phrase)
        await _show_at_rest(settings, perdure, id)


async def _show_at_rest(settings: Settings, perdure: Any, id: str) -> None:
    """As it stands when what was set going has been done, or soon after it began."""
    _show(settings, await perdure.instances.wait(id, "rest", REST_SECONDS))


def _show(settings: Settings, view: Any) -> None:
    output.show(settings, view, lambda: output.tables("process_tables").instance_picture(view))


COMMANDS = {
    "instances": {
        "list": list_instances,
        "show": show,
        "events": events,
        "start": start,
        "suspend": suspend,
        "resume": resume,
        "modify": modify,
        "migrate": migrate,
        "move": move,
        "cancel": cancel_instance,
        "retry": retry,
        "resolve": resolve,
    }
}
