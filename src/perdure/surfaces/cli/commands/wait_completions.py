"""Commands that complete waits: completions, progress, dead letters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, Any, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import json_option
from perdure.surfaces.cli.commands.calls import REST_SECONDS
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED, LATE
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store
from perdure.surfaces.cli.remote_server import is_remote
from perdure.surfaces.cli.shell_completion import verb_names

KeyWord = Annotated[
    str, typer.Argument(metavar="KEY", help="The key it waits under, or the call's id.", show_default=False)
]
MessageWord = Annotated[str, typer.Argument(metavar="MESSAGE_ID", help="The dead letter.", show_default=False)]
ANSWERS = {
    "applied": ("✓ applied", "green"),
    "correlated": ("✓ delivered", "green"),
    "started": ("✓ an instance has begun", "green"),
    "duplicate": ("= already there, counted once", "yellow"),
    "late": ("… too late, noted in the journal", "yellow"),
    "dead_letter": ("✗ nobody waits for it, kept as a dead letter", "red"),
}
ENDS = {"dead_letter": FAILED, "late": LATE}
"""The exit codes of answers that did not count."""


async def complete(
    settings: Settings,
    key: KeyWord,
    result: Annotated[str | None, typer.Option("--result", metavar="JSON", help="What came of it.")] = None,
    error: Annotated[str | None, typer.Option("--error", metavar="TEXT", help="Why it failed.")] = None,
    status: Annotated[
        Literal["completed", "failed", "expired"] | None, typer.Option("--status", help="Else by --result or --error.")
    ] = None,
    message_id: Annotated[
        str, typer.Option("--id", metavar="MESSAGE_ID", help="Of the message; the same one twice counts once.")
    ] = "",
    verb: Annotated[
        str, typer.Option("--verb", metavar="NAME", help="When several verbs wait under it.", autocompletion=verb_names)
    ] = "",
    code: Annotated[
        str, typer.Option("--code", metavar="CODE", help="Of the failure, for those who handle it.")
    ] = "completion.failed",
) -> None:
    """End the wait under a key. Delivered twice, it counts once."""
    if result is not None and error is not None:
        raise usage("complete", "key", key, "both --result and --error were given", "Give one of them.")
    if result is None and error is None and status is None:
        hint = "Give --result JSON (for nothing to say: '{}'), --error TEXT or --status expired."
        raise usage("complete", "key", key, "nothing says what came of it", hint)
    value = json_option("--result", result) if result is not None else None
    async with _answering(settings) as perdure:
        receipt = await perdure.complete(
            key, value, error=error, status=status, message_id=message_id, verb=verb, code=code
        )
        if receipt.call is not None and receipt.call.state == "executing" and _runs(perdure):
            await perdure.runbooks.rest(receipt.call.id, REST_SECONDS)
        await _show_receipt(settings, perdure, receipt)
    _end(receipt)


def _runs(perdure: Any) -> bool:
    """Whether what was set free is done here, or by the server."""
    return is_remote(perdure) or perdure.runtime.role != "reader"


@asynccontextmanager
async def _answering(settings: Settings) -> AsyncIterator[Any]:
    """Who answers also runs what that sets free; where handlers cannot be had, a worker does, and the answer counts."""
    from perdure.errors import DefinitionError

    async with AsyncExitStack() as stack:
        try:
            perdure = await stack.enter_async_context(open_store(settings, "caller"))
        except DefinitionError:
            perdure = await stack.enter_async_context(open_store(settings, "reader"))
        yield perdure


async def progress(
    settings: Settings,
    key: KeyWord,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="How it goes.", show_default=False)],
) -> None:
    """Say how a wait goes: shown, never resumes anything."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        receipt = await perdure.progress(key, text)
        await _show_receipt(settings, perdure, receipt)
    _end(receipt)


async def list_letters(
    settings: Settings, limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 1000
) -> None:
    """List what arrived and could not be delivered."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.dead_letters(limit)
        output.show(settings, found, lambda: output.tables("event_tables").dead_letters_picture(found))


async def replay(
    settings: Settings,
    message_id: MessageWord,
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="A corrected key.")] = "",
    instance: Annotated[
        str, typer.Option("--instance", metavar="ID", help="When several instances wait for the message.")
    ] = "",
) -> None:
    """Deliver a dead letter again, perhaps under a corrected key."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        receipt = await perdure.replay(message_id, key=key, instance=instance)
        await _show_receipt(settings, perdure, receipt)
    _end(receipt)


async def discard(
    settings: Settings,
    message_id: MessageWord,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept.")],
) -> None:
    """Close a dead letter without acting on it."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        await perdure.discard(message_id, reason)
    told = {"message_id": message_id, "answer": "discarded", "reason": reason}
    output.show(settings, told, lambda: f"✓ discarded {message_id}")


def _end(receipt: Any) -> None:
    """End with the code of what did not count."""
    if (code := ENDS.get(receipt.answer)) is not None:
        raise typer.Exit(code)


async def _show_receipt(settings: Settings, perdure: Any, receipt: Any) -> None:
    import msgspec

    if receipt.call is not None:
        receipt = msgspec.structs.replace(receipt, call=await perdure.status(receipt.call.id))
    output.show(settings, receipt, lambda: _receipt_picture(receipt))


def _receipt_picture(receipt: Any) -> Any:
    from rich.console import Group
    from rich.text import Text

    from perdure.surfaces.cli.renderers.call_tables import call_picture

    words, colour = ANSWERS.get(receipt.answer, (receipt.answer, "white"))
    told: list[Any] = [Text(words, style=f"bold {colour}")]
    if receipt.answer == "dead_letter":
        told.append(Text(f"  {receipt.reason}", style="dim"))
    if receipt.answer == "dead_letter":
        told.append(Text(f"  → Deliver it again with: perdure dead-letters replay {receipt.message_id}", style="cyan"))
    if receipt.call is not None:
        told.append(call_picture(receipt.call))
    return Group(*told)


COMMANDS = {
    "complete": complete,
    "progress": progress,
    "dead-letters": {"list": list_letters, "replay": replay, "discard": discard},
}
