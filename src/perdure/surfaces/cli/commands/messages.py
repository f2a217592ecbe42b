"""Commands that send messages and signals to processes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, assert_never

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import duration, json_object
from perdure.surfaces.cli.commands.calls import Confirm, Phrase, agreed
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store

if TYPE_CHECKING:
    from perdure.engine import MessageOutcome

NameWord = Annotated[str, typer.Argument(metavar="NAME", help="Of the message or signal.", show_default=False)]
KeyWord = Annotated[str, typer.Argument(metavar="KEY", help="The correlation key.", show_default=False)]
DataWord = Annotated[str | None, typer.Option("--data", metavar="JSON", help="What it brings: an object.")]
IdWord = Annotated[str, typer.Option("--id", metavar="MESSAGE_ID", help="The same one twice counts once.")]


async def publish(
    settings: Settings,
    name: NameWord,
    key: KeyWord,
    data: DataWord = None,
    message_id: IdWord = "",
    ttl: Annotated[str | None, typer.Option("--ttl", metavar="DURATION", help="Keep it so long, e.g. PT1H.")] = None,
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Send a message; with --ttl it waits for someone who will want it."""
    brought, seconds = json_object("--data", data), duration("--ttl", ttl) or 0
    async with open_store(settings, "caller") as perdure:
        send = partial(perdure.publish, name, key, brought, message_id=message_id, ttl_seconds=seconds)
        told = await agreed(settings, perdure, send, confirm, phrase)
    _show(settings, name, key, told)


async def correlate(
    settings: Settings, name: NameWord, key: KeyWord, data: DataWord = None, message_id: IdWord = "",
    confirm: Confirm = "", phrase: Phrase = "",
) -> None:  # fmt: skip
    """Send a message to who waits for it now, or to nobody."""
    brought = json_object("--data", data)
    async with open_store(settings, "caller") as perdure:
        send = partial(perdure.correlate, name, key, brought, message_id=message_id)
        told = await agreed(settings, perdure, send, confirm, phrase)
    _show(settings, name, key, told)


async def receive(
    settings: Settings,
    envelope: Annotated[str, typer.Argument(metavar="JSON", help="The envelope, or @FILE.", show_default=False)],
    confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:
    """Take a message as an envelope: message_name, correlation_key, message_id and payload."""
    given = json_object("ENVELOPE", envelope) or {}
    async with open_store(settings, "caller") as perdure:
        told = await agreed(settings, perdure, partial(perdure.receive, given), confirm, phrase)
    _show(settings, told.name, told.key, told.outcome)


async def signal(
    settings: Settings, name: NameWord, data: DataWord = None, message_id: IdWord = "", confirm: Confirm = "",
    phrase: Phrase = "",
) -> None:  # fmt: skip
    """Tell everyone who waits for a signal, and begin the processes that start by it."""
    brought = json_object("--data", data)
    async with open_store(settings, "caller") as perdure:
        send = partial(perdure.signal, name, brought, message_id=message_id)
        reached = await agreed(settings, perdure, send, confirm, phrase)
    told = {"name": name, "reached": reached}
    heard = f"✓ {output.counted(reached, 'instance')} heard '{name}'" if reached else f"… nobody waits for '{name}'"
    if reached is None:
        heard = f"✓ sent '{name}'; the engine does not say who heard it"
    output.show(settings, told, lambda: heard)


def _show(settings: Settings, name: str, key: str, outcome: MessageOutcome) -> None:
    words, colour = _told(outcome)
    output.show(settings, {"name": name, "key": key, "outcome": outcome}, lambda: _picture(words, colour))
    if outcome in ("ambiguous", "no_subscription"):
        raise typer.Exit(FAILED)


def _told(outcome: MessageOutcome) -> tuple[str, str]:
    """An outcome in words, and the colour that says whether somebody took the message."""
    match outcome:
        case "correlated":
            return "✓ correlated", "green"
        case "started":
            return "✓ started an instance", "green"
        case "buffered":
            return "… nobody waits yet, kept for its time to live", "yellow"
        case "accepted":
            return "… handed to the engine, which does not say who takes it", "yellow"
        case "duplicate":
            return "= already there, counted once", "yellow"
        case "ambiguous":
            return "✗ several instances wait for it, taken by none; kept as a dead letter", "red"
        case "no_subscription":
            return "✗ nobody waits for it; kept as a dead letter", "red"
        case _:
            assert_never(outcome)


def _picture(words: str, colour: str) -> Any:
    from rich.text import Text

    return Text(words, style=f"bold {colour}")


COMMANDS = {"message": {"publish": publish, "correlate": correlate, "receive": receive}, "signal": signal}
