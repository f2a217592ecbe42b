"""What happened to calls and what waits, as pictures."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.text import Text

from perdure.app.views import EventView
from perdure.surfaces.cli.output import encode
from perdure.surfaces.cli.pictures import COLOURS, table
from perdure.surfaces.cli.times import relative

MAX_DETAIL = 90
ENTRY_COLOURS = {
    "completed": COLOURS["completed"],
    "failed": COLOURS["failed"],
    "parked": COLOURS["parked"],
    "cancelled": COLOURS["cancelled"],
    "escalated": COLOURS["escalated"],
    "incident": COLOURS["failed"],
}


def events_picture(id: str, events: list[EventView]) -> RenderableType:
    """A call's journal as a table."""
    rows = [
        (Text(str(each.sequence)), _entry(each), Text(each.principal), Text(relative(each.at)), Text(_detail(each)))
        for each in events
    ]
    return table(f"Journal of {id}", ("#", "entry", "by", "when", "detail"), rows, "Nothing happened after that.")


def event_line(event: EventView) -> Text:
    """One entry as it comes."""
    return Text.assemble(
        (f"{event.sequence:>3} ", "dim"), _entry(event), (f"  {event.at}  {event.principal}  ", "dim"), _detail(event)
    )


def _entry(event: EventView) -> Text:
    colour = next((colour for word, colour in ENTRY_COLOURS.items() if word in event.entry.lower()), "blue")
    return Text(event.entry, style=colour)


def _detail(event: EventView) -> str:
    """The fields that mean something to a person: no hashes, nothing empty."""
    shown = {
        name: value
        for name, value in event.data.items()
        if value not in (None, "", 0, [], {}, False) and name not in ("definition", "input", "flags", "worker")
        and not (isinstance(value, str) and len(value) >= 44 and " " not in value)
    }  # fmt: skip
    text = ", ".join(
        f"{name} {value if isinstance(value, str | int) else encode(value)}" for name, value in shown.items()
    )
    return text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 1] + "…"


def parked_picture(found: list[dict[str, Any]]) -> RenderableType:
    """What waits, with the key that ends the wait."""
    rows = []
    for each in found:
        waiting = each["waiting_for"] or {}
        rows.append((
            Text(str(each["number"]), style="dim"), Text(each["verb"]), Text(waiting.get("key", ""), style="cyan"),
            Text(waiting.get("kind", "")), Text(relative(waiting.get("since") or each["started_at"])),
            Text(relative(waiting.get("due_at"))), Text(each["progress"]), Text(each["id"], style="dim"),
        ))  # fmt: skip
    columns = ("#", "verb", "key", "waits for", "since", "due", "progress", "id")
    return table("Parked", columns, rows, "Nothing waits.")


def dead_letters_picture(found: list[dict[str, Any]]) -> RenderableType:
    """What arrived and could not be delivered."""
    rows = [
        (
            Text(each["message_id"]),
            Text(each["key"], style="cyan"),
            Text(each["reason"]),
            Text(relative(each["received_at"])),
        )
        for each in found
    ]
    return table("Dead letters", ("message", "key", "reason", "received"), rows, "No dead letters.")
