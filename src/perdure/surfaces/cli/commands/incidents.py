"""Commands for people: incidents that need one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import json_option
from perdure.surfaces.cli.commands.calls import REST_SECONDS, Confirm, IdWord, Phrase, Reason, agreed, show_call
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store

if TYPE_CHECKING:
    from perdure.app import CallView
    from perdure.app.instances.views import InstanceView
    from perdure.app.lifecycles.views import LifecycleStatus


async def list_incidents(
    settings: Settings, limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 1000
) -> None:
    """List calls, processes that carry none, and lifecycles that need a person, and why."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.incidents(limit)
        output.show(settings, found, lambda: _picture(found))


def _picture(found: list[CallView | InstanceView | LifecycleStatus]) -> object:
    from rich.text import Text

    from perdure.surfaces.cli.renderers.call_tables import table
    from perdure.surfaces.cli.time_text import relative

    rows = []
    for view in found:
        code, text, since = _why(view)
        rows.append((
            Text(view.id, style="bold"), Text(_what(view)), Text.assemble((code, "red"), f"\n{text}"),
            Text(relative(since)),
        ))  # fmt: skip
    columns = ("id", "what", "why", "since")
    return table("Incidents", columns, rows, "Nothing needs a person.", lesser=("since",))


def _why(view: CallView | InstanceView | LifecycleStatus) -> tuple[str, str, str | None]:
    from perdure.app.instances.views import InstanceView
    from perdure.app.lifecycles.views import LifecycleStatus
    from perdure.app.quarantine_views import QUARANTINED

    if isinstance(view, LifecycleStatus):
        stuck = view.incidents[0] if view.incidents else None
        return (stuck.code, stuck.text, stuck.since) if stuck is not None else ("", "", None)

    if view.state == QUARANTINED and view.error is not None:
        return view.error.code, view.error.message, None
    if isinstance(view, InstanceView):
        first = view.incidents[0] if view.incidents else None
        return (first.code, first.text, first.since) if first is not None else ("", "", None)
    waiting = view.waiting_for
    return (waiting.code, waiting.text, waiting.since) if waiting is not None else ("", "", None)


def _what(view: CallView | InstanceView | LifecycleStatus) -> str:
    """A call by its verb, an instance that carries none by its process, a lifecycle by its subject."""
    from perdure.app.instances.views import InstanceView
    from perdure.app.lifecycles.views import LifecycleStatus

    if isinstance(view, LifecycleStatus):
        return f"{view.lifecycle} of {view.subject}"
    return f"{view.process} v{view.version}" if isinstance(view, InstanceView) else view.verb


async def retry(settings: Settings, id: IdWord, confirm: Confirm = "", phrase: Phrase = "") -> None:
    """Try again what an incident stopped."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        await agreed(settings, perdure, partial(perdure.retry, id), confirm, phrase)
        view = await _settled(perdure, id)
        await _show(settings, perdure, view)
    if view.state == "failed" or _why(view)[0]:
        raise typer.Exit(FAILED)


async def resolve(
    settings: Settings,
    id: IdWord,
    result: Annotated[str | None, typer.Option("--result", metavar="JSON", help="The result, by hand.")] = None,
    error: Annotated[str | None, typer.Option("--error", metavar="TEXT", help="Or the failure, by hand.")] = None,
    reason: Reason = "",
) -> None:
    """End by hand what an incident stopped, with a result or an error."""
    if (result is None) == (error is None):
        raise usage("resolve", "call", id, "it needs either --result or --error", "A result is JSON, an error is text.")
    value = json_option("--result", result) if result is not None else None
    async with open_store(settings, "caller", must_exist=True) as perdure:
        await perdure.resolve(id, value, error=error, reason=reason)
        await _show(settings, perdure, await _settled(perdure, id))


async def _settled(perdure: Any, id: str) -> CallView | InstanceView:
    """The call or instance when what was set going in its process has been done, or soon after it began."""
    from perdure.errors import RejectedError

    try:
        view: CallView = await perdure.status(id)
    except RejectedError:
        alone: InstanceView = await perdure.instances.wait(id, "rest", REST_SECONDS)
        return alone
    if view.carrier is None or not view.carrier.instance:
        return view
    carried = await perdure.instances.wait(view.carrier.instance, "rest", REST_SECONDS)
    # The end of a process reaches its call a moment later.
    settled: CallView = await (perdure.wait(id, REST_SECONDS) if carried.ended_at else perdure.status(id))
    return settled


async def _show(settings: Settings, perdure: Any, view: CallView | InstanceView) -> None:
    from perdure.app.instances.views import InstanceView

    if not isinstance(view, InstanceView):
        await show_call(settings, perdure, view)
        return
    from perdure.surfaces.cli.renderers.process_tables import instance_picture

    output.show(settings, view, lambda: instance_picture(view))


async def traceback(settings: Settings, id: IdWord) -> None:
    """Show the traceback of the handler's error that made the latest attempt fail."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        view = await perdure.traceback(id)
        if settings.json:
            output.line(view)
        else:
            output.note(settings, view.traceback.rstrip())


COMMANDS = {"incidents": {"list": list_incidents, "retry": retry, "resolve": resolve, "traceback": traceback}}
