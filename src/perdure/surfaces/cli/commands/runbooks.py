"""Commands about runbooks: plan, run, watch, grow, steer, take back."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import duration, variables_of
from perdure.surfaces.cli.commands.audit import export_document
from perdure.surfaces.cli.commands.calls import REST_SECONDS, Confirm, Phrase, Reason, agreed, agreement
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED, NOT_YET, QUARANTINED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store
from perdure.surfaces.cli.remote_server import changed, is_remote

POLL_SECONDS = 0.5
GRAVE = ("requires_confirmation", "requires_authorisation")
FileWord = Annotated[str, typer.Argument(metavar="FILE", help="A runbook program, or - for stdin.", show_default=False)]
IdWord = Annotated[str, typer.Argument(metavar="ID", help="The runbook's id.", show_default=False)]
StepWord = Annotated[str, typer.Argument(metavar="STEP", help="The step's name or number.", show_default=False)]
Variables = Annotated[
    list[str] | None,
    typer.Option("--var", metavar="NAME=VALUE", help="A variable of the program; JSON, else text.", show_default=False),
]

Reevaluation = Annotated[
    Literal["decisions", "always"],
    typer.Option("--reevaluate", metavar="WHEN", help="always: ask its last decision again at every resume."),
]


async def run(
    settings: Settings,
    file: FileWord,
    var: Variables = None,
    case: Annotated[str, typer.Option("--case", metavar="KEY", help="The case it belongs to.")] = "",
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it live until it has ended.")] = False,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="DURATION", help="Watch at most so long, e.g. PT30S.")
    ] = None,
    idempotency_key: Annotated[
        str, typer.Option("--idempotency-key", metavar="KEY", help="Run twice under one key, it runs once.")
    ] = "",
    confirm: Annotated[
        str, typer.Option("--confirm", metavar="HASH", help="Refuse to run any other plan than this one.")
    ] = "",
    open_ended: Annotated[bool, typer.Option("--open", help="More steps will come; it ends after `seal`.")] = False,
    phrase: Phrase = "",
    reevaluate: Reevaluation = "decisions",
) -> None:
    """Run a program: returns when it has ended or waits for somebody. Exits 1 when it failed or is stuck."""
    seconds = duration("--timeout", timeout)
    async with open_store(settings, "caller") as perdure:
        started = {
            "case": case, "idempotency_key": idempotency_key, "confirmation": confirm, "sealed": not open_ended,
            "wait": not watch, "timeout_seconds": seconds, "reevaluate": reevaluate,
        }  # fmt: skip
        view = await _start(settings, perdure, file, var, phrase, started)
        view = await (_watched(settings, perdure, view.id, seconds) if watch else _rested(perdure, view))
        if not (watch and not settings.json and output.console().is_terminal):
            _show(settings, view)
    _leave(view, watch)


async def plan(
    settings: Settings, file: FileWord, var: Variables = None, reevaluate: Reevaluation = "decisions"
) -> None:
    """Show what a program would do, without doing any of it: order, writes, locks, waits and consequences."""
    opened: Any = open_store(settings, "reader")
    async with opened as perdure:
        if is_remote(perdure):
            text = _text(file)
            with placed(file, text):
                view = await perdure.runbooks.plan(text, variables=variables_of("--var", var), reevaluate=reevaluate)
        else:
            view = perdure.runbooks.plan(_compiled(perdure, file, var, reevaluate))
        output.show(settings, view, lambda: output.tables("runbook_tables").plan_picture(view))


async def show(
    settings: Settings,
    id: IdWord,
    at: Annotated[int | None, typer.Option("--at", help="As it was after that many records.")] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on showing it until it has ended.")] = False,
    detailed: Annotated[bool, typer.Option("--detailed", help="With what each step was asked and gave.")] = False,
) -> None:
    """Show a runbook: its steps, how far each has come, and what it waits for."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        if watch:
            view = await _watched(settings, perdure, id, None)
            if settings.json or not output.console().is_terminal:
                _show(settings, view)
            return
        _show(settings, await perdure.runbooks.show(id, at=at), detailed)


async def list_runbooks(
    settings: Settings,
    case: Annotated[str, typer.Option("--case", metavar="KEY", help="Only of this case.")] = "",
    state: Annotated[str, typer.Option("--state", metavar="STATE", help="Only in this state, e.g. parked.")] = "",
    after: Annotated[str, typer.Option("--after", metavar="ID", help="The last one seen, for the next page.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 100,
) -> None:
    """List runbooks, newest first."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.runbooks.list(case=case, state=state, after=after, limit=limit)
        output.show(settings, found, lambda: output.tables("runbook_tables").runbooks_picture(found))


async def diff(
    settings: Settings,
    id: IdWord,
    at: Annotated[int, typer.Option("--at", help="The earlier record.")] = 1,
    to: Annotated[int | None, typer.Option("--to", help="The later record, else now.")] = None,
) -> None:
    """Show what was added to a plan, and which steps changed, between two records of its journal."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.runbooks.diff(id, at=at, to=to)
        output.show(settings, found, lambda: output.tables("runbook_tables").diff_picture(found))


async def extend(
    settings: Settings, id: IdWord, file: FileWord, var: Variables = None, confirm: Confirm = "", phrase: Phrase = ""
) -> None:
    """Add the steps of a program to a running runbook; they may refer to those there are."""
    async with _steering(settings) as perdure:
        text, variables = _text(file), variables_of("--var", var)
        if is_remote(perdure):
            with placed(file, text):
                await perdure.runbooks.extend(id, text, variables=variables, confirm=confirm, phrase=phrase)
        else:
            await perdure.runbooks.extend(id, text, variables=variables, file=_name(file))
        _show(settings, await _rested(perdure, await perdure.runbooks.show(id)))


async def seal(settings: Settings, id: IdWord) -> None:
    """No more steps will come: the runbook completes when those there are have ended."""
    async with _steering(settings) as perdure:
        _show(settings, await perdure.runbooks.seal(id))


async def retry(
    settings: Settings, id: IdWord, step: StepWord, reason: Reason = "", confirm: Confirm = "", phrase: Phrase = ""
) -> None:
    """Begin a failed step anew, or try again what an incident stopped."""
    async with _steering(settings) as perdure:
        act = partial(perdure.runbooks.retry, id, step, reason)
        _show(settings, await _rested(perdure, await agreed(settings, perdure, act, confirm, phrase)))


async def skip(
    settings: Settings,
    id: IdWord,
    step: StepWord,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the journal.")],
) -> None:
    """Go on without a step; what needs its result is skipped as well."""
    async with _steering(settings) as perdure:
        _show(settings, await _rested(perdure, await perdure.runbooks.skip(id, step, reason)))


async def cancel(
    settings: Settings,
    id: Annotated[str, typer.Argument(metavar="[ID]", help="The runbook's id.", show_default=False)] = "",
    step: Annotated[str, typer.Option("--step", metavar="STEP", help="Only this step.")] = "",
    case: Annotated[str, typer.Option("--case", metavar="KEY", help="Every runbook of this case.")] = "",
    compensate: Annotated[bool, typer.Option("--compensate", help="And take back what completed.")] = False,
    reason: Reason = "",
) -> None:
    """Cancel a runbook, one step of it, or a whole case. What was done stays done unless it is compensated."""
    if bool(id) == bool(case):
        raise usage("cancel", "runbook", id or case, "exactly one of ID and --case is needed")
    async with _steering(settings) as perdure:
        if case:
            found = await perdure.runbooks.cancel_case(case, reason)
            output.show(settings, found, lambda: output.tables("runbook_tables").runbooks_picture(found))
            return
        view = await perdure.runbooks.cancel(id, reason, step=step, compensate=compensate)
        _show(settings, await _rested(perdure, view))


async def compensate(settings: Settings, id: IdWord, reason: Reason = "") -> None:
    """Take back what an ended runbook did, the last first."""
    async with _steering(settings) as perdure:
        _show(settings, await _rested(perdure, await perdure.runbooks.compensate(id, reason)))


async def answer(
    settings: Settings,
    id: IdWord,
    step: StepWord,
    refuse: Annotated[bool, typer.Option("--refuse", help="Refuse instead of agreeing.")] = False,
    reason: Reason = "",
) -> None:
    """Agree, or refuse, that a step with a gate runs, as a member of its group (--as, --group)."""
    async with _steering(settings) as perdure:
        _show(settings, await _rested(perdure, await perdure.runbooks.answer(id, step, not refuse, reason=reason)))


async def export(
    settings: Settings,
    id: IdWord,
    file: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="case.json, or case.html for people.")],
) -> None:
    """Write one document with everything that happened in a runbook; `audit verify FILE` checks it anywhere."""
    await export_document(settings, id, file, [])


@asynccontextmanager
async def _steering(settings: Settings) -> AsyncIterator[Any]:
    """A process that may run what it sets free."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        yield perdure


async def _rested(perdure: Any, view: Any) -> Any:
    """Once it has gone as far as it goes by itself, or after a short while; it goes on without us."""
    if view.state != "executing":
        return await perdure.runbooks.show(view.id)
    return await perdure.runbooks.rest(view.id, REST_SECONDS)


async def _watched(settings: Settings, perdure: Any, id: str, seconds: float | None) -> Any:
    """Until it has ended: live in a terminal, a line for each change for machines."""
    import asyncio

    view = await perdure.runbooks.show(id)
    is_live = not settings.json and output.console().is_terminal
    with output.tables("runbook_tables").live(is_live) as draw:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    draw(view)
                    if settings.json:
                        output.line({"id": view.id, "state": view.state, "progress": view.progress})
                    if view.is_ended or view.state == QUARANTINED:
                        return view
                    view = await _next(perdure, view)
        except TimeoutError:
            return view


async def _next(perdure: Any, view: Any) -> Any:
    """The runbook when it has changed."""
    while True:
        await changed(perdure, POLL_SECONDS)
        now = await perdure.runbooks.show(view.id)
        if now.sequence != view.sequence or now.progress != view.progress:
            return now


async def _start(
    settings: Settings, perdure: Any, file: str, var: list[str] | None, phrase: str, how: dict[str, Any]
) -> Any:
    """Compiled here, or by the server: it has the verbs. At a terminal what is grave is agreed to first."""
    if not is_remote(perdure):
        compiled = _compiled(perdure, file, var, how["reevaluate"])
        if not how["confirmation"]:
            _ask(settings, perdure.runbooks.plan(compiled))
        return await perdure.runbooks.start(compiled, **how)
    from perdure.errors import ConfirmationRequiredError

    text, variables = _text(file), variables_of("--var", var)
    with placed(file, text):
        try:
            return await perdure.runbooks.start(text, variables=variables, phrase=phrase, **how)
        except ConfirmationRequiredError as required:
            if how["confirmation"] or (agreed := agreement(settings, required.data)) is None:
                raise
            how["confirmation"] = required.data["plan_hash"]
        return await perdure.runbooks.start(text, variables=variables, phrase=agreed, **how)


@contextmanager
def placed(file: str, text: str) -> Iterator[None]:
    """What a server finds wrong with a program is shown at its place in the file, as it is here."""
    import msgspec

    from perdure.errors import ProgramError

    try:
        yield
    except ProgramError as error:
        if name := _name(file):
            error.problems = [msgspec.structs.replace(each, file=name) for each in error.problems]
            error.data["text"] = text
        raise


def _compiled(perdure: Any, file: str, var: list[str] | None, reevaluate: str) -> Any:
    variables = variables_of("--var", var)
    return perdure.runbooks.compile(_text(file), variables=variables, file=_name(file), reevaluate=reevaluate)


def _name(file: str) -> str:
    return "" if file == "-" else file


def _ask(settings: Settings, plan: Any) -> None:
    """At a terminal a grave plan is shown and agreed to first; who writes a script has agreed by writing it."""
    if settings.json or not sys.stdin.isatty() or plan.tier not in GRAVE:
        return
    output.show(settings, plan, lambda: output.tables("runbook_tables").plan_picture(plan))
    if not typer.confirm("Run it?", default=False, err=True):
        raise typer.Exit(FAILED)


def _leave(view: Any, must_end: bool) -> None:
    is_stuck = any(step.waiting_for is not None and step.waiting_for.kind == "incident" for step in view.steps)
    if view.state in ("failed", "cancelled") or is_stuck:
        raise typer.Exit(FAILED)
    if must_end and not view.is_ended:
        raise typer.Exit(NOT_YET)


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise usage("read", "program", file, f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise usage("read", "program", file, "it is not UTF-8 text") from None


def _show(settings: Settings, view: Any, detailed: bool = False) -> None:
    output.show(settings, view, lambda: output.tables("runbook_tables").runbook_picture(view, detailed))


COMMANDS = {
    "run": run,
    "runbook": {
        "plan": plan,
        "show": show,
        "list": list_runbooks,
        "diff": diff,
        "extend": extend,
        "seal": seal,
        "retry": retry,
        "skip": skip,
        "cancel": cancel,
        "compensate": compensate,
        "answer": answer,
        "export": export,
    },
}
