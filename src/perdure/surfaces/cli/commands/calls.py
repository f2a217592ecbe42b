"""Commands about calls: ask, look, follow, find, correct, cancel, erase."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import duration, expression, json_option, pairs
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED, NOT_YET
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, load_verbs, open_store, principal_of, require_project
from perdure.surfaces.cli.remote_server import changed, find_verb, is_remote, open_server, server_of, server_verbs
from perdure.surfaces.cli.shell_completion import verb_names
from perdure.surfaces.cli.time_text import clock

REST_SECONDS = 3.0
LOOKS = 10
IdWord = Annotated[str, typer.Argument(metavar="ID", help="The call's id.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the journal.")]
Confirm = Annotated[
    str, typer.Option("--confirm", metavar="HASH", help="The plan that a person agreed to, where a server asks.")
]
Phrase = Annotated[
    str, typer.Option("--phrase", metavar="TEXT", help="What a server asks to be typed for the gravest plans.")
]


async def call(
    settings: Settings,
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPRESSION | VERB [NAME=VALUE]...",
            help="'(kyc.x :a 1)', or a verb and its arguments; - reads an expression from stdin.",
            autocompletion=verb_names,
            show_default=False,
        ),
    ],
    args: Annotated[str | None, typer.Option("--args", metavar="JSON", help="Arguments as one JSON object.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until the call has ended, not only parked.")] = False,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="DURATION", help="Wait at most so long, e.g. PT30S.")
    ] = None,
    idempotency_key: Annotated[
        str, typer.Option("--idempotency-key", metavar="KEY", help="Asked twice under one key, it is called once.")
    ] = "",
    version: Annotated[int | None, typer.Option("--version", help="A version of the verb, else the newest.")] = None,
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Call a verb: '(kyc.check-name :name "Ana")', or kyc.check-name name=Ana.

    Returns when the call has completed, failed or parked, and all of it is durable.
    """
    seconds = duration("--timeout", timeout)
    async with _asking(settings, what, args) as (perdure, verb, arguments):
        view = await _call(
            settings, perdure, verb, arguments, confirm=confirm, phrase=phrase, version=version,
            idempotency_key=idempotency_key, wait=wait or None, timeout_seconds=seconds,
        )  # fmt: skip
        view = await _at_rest(perdure, view)
        asked = await find_verb(perdure, verb, version)
        await show_call(settings, perdure, view)
        if settings.json is False:
            await _show_way_on(settings, perdure, view)
    if view.state in ("failed", "cancelled") or (view.waiting_for is not None and view.waiting_for.kind == "incident"):
        raise typer.Exit(FAILED)
    waits = wait or (asked is not None and asked.execution.wait == "block")
    if waits and not view.is_ended:
        raise typer.Exit(NOT_YET)


async def _show_way_on(settings: Settings, perdure: Any, view: Any) -> None:
    """How a call that waits is completed, or where in whose code one that failed did so."""
    from perdure.errors import RejectedError

    if view.waiting_for is not None and view.waiting_for.kind == "completion":
        output.note(settings, f"Complete it with: perdure complete '{view.waiting_for.key}' --result '{{}}'")
    elif view.state == "failed" or view.waiting_for is not None:
        with contextlib.suppress(RejectedError):  # it left none, or operators alone may see it
            found = await perdure.traceback(view.id)
            output.note(settings, found.traceback.rstrip())


async def _at_rest(perdure: Any, view: Any) -> Any:
    """A call that a process carries, once the process has gone as far as it goes by itself, or after a short while."""
    for _ in range(LOOKS):
        if view.carrier is None or view.is_ended:
            return view
        if view.carrier.instance:
            await perdure.instances.wait(view.carrier.instance, "rest", REST_SECONDS)
            return await perdure.status(view.id)
        await changed(perdure, REST_SECONDS / LOOKS)
        view = await perdure.status(view.id)
    return view


@asynccontextmanager
async def _asking(
    settings: Settings, what: list[str], args: str | None
) -> AsyncIterator[tuple[Any, str, dict[str, Any]]]:
    """Whom to ask, the verb and its arguments; what is wrong with them is found before a store is opened."""
    is_read = what == ["-"]
    text = [sys.stdin.read()] if is_read else what
    if server_of(settings):
        async with open_server(settings) as client:
            catalogue = await server_verbs(client, " ".join(text))
            verb, arguments = _asked(text, args, catalogue, is_read)
            yield client, verb, arguments
        return
    config = load_project(settings)
    require_project(settings, config)
    catalogue = load_verbs(config)
    verb, arguments = _asked(text, args, catalogue, is_read)
    async with open_store(settings, "caller", config, catalogue) as perdure:
        yield perdure, verb, arguments


async def _call(
    settings: Settings, perdure: Any, verb: str, args: dict[str, Any], *, confirm: str, phrase: str, **how: Any
) -> Any:
    return await agreed(settings, perdure, partial(perdure.call, verb, args, **how), confirm, phrase)


async def agreed(settings: Settings, perdure: Any, act: Callable[..., Any], confirm: str, phrase: str) -> Any:
    """What it comes to; what a server wants confirmed is agreed to at a terminal, or by --confirm."""
    if not is_remote(perdure):
        return await act()
    from perdure.errors import ConfirmationRequiredError

    try:
        return await act(confirm=confirm, phrase=phrase)
    except ConfirmationRequiredError as required:
        if confirm or (said := agreement(settings, required.data)) is None:
            raise
        return await act(confirm=required.data["plan_hash"], phrase=said)


def agreement(settings: Settings, asked: dict[str, Any]) -> str | None:
    """What a person at a terminal says to something grave: its phrase, or nothing but yes; None where nobody is."""
    if settings.json or not sys.stdin.isatty():
        return None
    for sentence in asked.get("sentences", ()):
        typer.echo(f"  {sentence}", err=True)
    if phrase := asked.get("phrase", ""):
        return str(typer.prompt(f"Type '{phrase}' to run it", default="", show_default=False, err=True))
    if not typer.confirm("Run it?", default=False, err=True):
        raise typer.Exit(FAILED)
    return ""


def _asked(words: list[str], args: str | None, catalogue: Any, is_read: bool = False) -> tuple[str, dict[str, Any]]:
    """The verb and its arguments, from an expression or from words."""
    text = " ".join(words)
    if is_read or text.lstrip().startswith(("(", ";")):
        if args is not None:
            raise usage("read", "option", "--args", "the expression has arguments of its own", "Use one or the other.")
        return expression(text, catalogue)
    verb = catalogue.get(words[0])
    given = json_option("--args", args) if args is not None else {}
    if not isinstance(given, dict):
        raise usage("read", "option", "--args", "its value is not an object", 'Write \'{"name": "Ana"}\'.')
    return words[0], {**given, **pairs(words[1:], verb)}


async def status(settings: Settings, id: IdWord) -> None:
    """Show a call, or a runbook, as it is now."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        if await perdure.runbooks.has(id):
            await _show_runbook(settings, perdure, id)
        else:
            await show_call(settings, perdure, await perdure.status(id))


async def _show_runbook(settings: Settings, perdure: Any, id: str) -> None:
    from perdure.surfaces.cli.renderers.runbook_tables import runbook_picture

    view = await perdure.runbooks.show(id)
    output.show(settings, view, lambda: runbook_picture(view, False))


async def events(
    settings: Settings,
    id: IdWord,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the call has ended.")] = False,
    step: Annotated[int, typer.Option("--step", min=0, help="Only the events of this step of a runbook.")] = 0,
    after: Annotated[str, typer.Option("--after", help="Only events after this cursor, or this journal record.")] = "",
    journal: Annotated[bool, typer.Option("--journal", help="Show the entries of the journal instead.")] = False,
) -> None:
    """Show what happened to a call, oldest first; with --follow, JSON comes as one object per line.

    ID is the id of a call or runbook, or the `trail_ref` of a payload.
    """
    from perdure.processes.trail_references import trail_place

    id, step = trail_place(id, step)
    async with open_store(settings, "reader", must_exist=True) as perdure:
        tables, found = output.tables("event_tables"), []
        asked = perdure.events(id, after=_record(after), follow=follow) if journal else None
        async for event in asked or perdure.outcome_events(id, after=after, step=step, follow=follow):
            if not follow:
                found.append(event)
            elif settings.json:
                output.line(event)
            else:
                output.console().print(tables.event_line(event) if journal else tables.outcome_line(event))
        if not follow:
            picture = tables.events_picture if journal else tables.outcomes_picture
            output.show(settings, found, lambda: picture(id, found))


def _record(after: str) -> int:
    if after and not after.isdecimal():
        fact, hint = "it is no number of a record", "Without --journal it is the cursor of an event."
        raise usage("go on from", "record", after[:80], fact, hint)
    return int(after or 0)


async def cancel(settings: Settings, id: IdWord, reason: Reason = "") -> None:
    """Cancel a call. What it already did stays done."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        await show_call(settings, perdure, await perdure.cancel(id, reason))


async def parked(
    settings: Settings,
    after: Annotated[int, typer.Option("--after", help="The number of the last one seen, for the next page.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 100,
) -> None:
    """List what waits, oldest first."""
    found = await _parked(settings, after, limit)
    if found or settings.json:
        output.show(settings, found, lambda: output.tables("event_tables").parked_picture(found))
    else:
        output.sentence("Nothing waits.")


async def _parked(settings: Settings, after: int, limit: int) -> list[dict[str, Any]]:
    """Waiting calls; for people, who see no sentences here, from the store alone where no process carries one."""
    if not settings.json and not server_of(settings):
        from perdure.app.lists.parked_calls import CarriedCallError, parked_calls
        from perdure.journal import Origin

        config, origin = load_project(settings), Origin(settings.tenant, principal_of(settings))
        require_project(settings, config)
        with contextlib.suppress(CarriedCallError):
            return await parked_calls(config.store, origin, clock(), after=after, limit=limit)
    async with open_store(settings, "reader") as perdure:
        return await perdure.parked(after=after, limit=limit)


async def list_calls(
    settings: Settings,
    verb: Annotated[str, typer.Option("--verb", metavar="VERB", help="Only of this verb.")] = "",
    state: Annotated[str, typer.Option("--state", metavar="STATE", help="Only in this state, e.g. failed.")] = "",
    after: Annotated[
        str, typer.Option("--after", metavar="CURSOR", help="The next page: what the last one ends with.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 100,
) -> None:
    """List calls, newest first."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.listing.calls(verb=verb, state=state, limit=limit, after=after or None)
        output.show(settings, found, lambda: output.tables("call_tables").call_list_picture(found))


async def find(
    settings: Settings,
    verb: Annotated[str, typer.Argument(help="The verb.", autocompletion=verb_names, show_default=False)],
    fields: Annotated[
        list[str], typer.Argument(metavar="FIELD=VALUE...", help="Fields of the verb's index.", show_default=False)
    ],
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 100,
) -> None:
    """Find calls of a verb by its indexed fields, newest first; all fields must match."""
    wanted = {name.replace("-", "_"): value for name, value in pairs(fields).items()}
    async with open_store(settings, "reader") as perdure:
        found = await perdure.find(verb, limit, **wanted)
        output.show(
            settings,
            found,
            lambda: output.tables("call_tables").calls_picture(f"Calls of {verb}", found, "No such call."),
        )


async def amend(
    settings: Settings,
    id: IdWord,
    data: Annotated[str | None, typer.Option("--data", metavar="JSON", help="The corrected data, whole.")] = None,
    reason: Reason = "",
    target: Annotated[
        Literal["input", "result"], typer.Option("--target", help="What is corrected.")
    ] = "input",
    approve: Annotated[
        int | None, typer.Option("--approve", metavar="NUMBER", help="Approve what somebody else proposed.")
    ] = None,
) -> None:  # fmt: skip
    """Propose a correction of a call's data, or approve one that somebody else proposed."""
    if (data is None) == (approve is None):
        raise usage("amend", "call", id, "it needs either --data or --approve", "Propose with --data and --reason.")
    value = json_option("--data", data) if data is not None else None
    async with open_store(settings, "reader", must_exist=True) as perdure:
        view = await perdure.amend(id, value, reason=reason, target=target, approve=approve)
        await show_call(settings, perdure, view)


async def erase(
    settings: Settings,
    id: IdWord,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the journal.")],
) -> None:
    """Erase the data of an ended call. Its history stays and still verifies."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        await show_call(settings, perdure, await perdure.erase(id, reason))


async def show_call(settings: Settings, perdure: Any, view: Any) -> None:
    """A call as everyone is shown it."""
    output.show(settings, view, lambda: output.tables("call_tables").call_picture(view))


COMMANDS = {
    "call": call,
    "calls": {"list": list_calls},
    "status": status,
    "events": events,
    "parked": parked,
    "find": find,
    "cancel": cancel,
    "amend": amend,
    "erase": erase,
}
