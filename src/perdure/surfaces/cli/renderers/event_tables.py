"""Tables of events and waits."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.text import Text

from perdure.app.calls.views import EventView
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.sources import iso
from perdure.surfaces.cli.output import encode
from perdure.surfaces.cli.renderers.call_tables import COLOURS, table
from perdure.surfaces.cli.time_text import relative

MAX_DETAIL = 90
HASH_LETTERS = 40
FIRST_MOMENT = 10**15
"""Numbers from here on are moments in microseconds."""
SAID = frozenset({"at", "principal", "definition", "definition_version", "input", "flags", "worker", "step", "token"})
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


def outcomes_picture(id: str, events: list[OutcomeEvent]) -> RenderableType:
    """A call's outcome events as a table."""
    rows = [(_outcome(each), Text(relative(each.at)), Text(each.principal), Text(_step(each))) for each in events]
    several = len({each.step for each in events}) > 1
    lesser = () if several else ("step",)
    return table(
        f"Events of {id}", ("event", "when", "by", "step"), rows, "Nothing happened after that.", lesser=lesser
    )


def outcome_line(event: OutcomeEvent) -> Text:
    """One event as it comes."""
    return Text.assemble(_outcome(event), (f"  {event.at}  {event.principal}  {_step(event)}", "dim"))


def _step(event: OutcomeEvent) -> str:
    return f"{event.step} {event.verb}" if event.step else ""


def _outcome(event: OutcomeEvent) -> Text:
    word = {"ok": "completed", "err": "failed"}.get(event.kind, event.event.lower())
    colour = next((colour for part, colour in ENTRY_COLOURS.items() if part in word), "blue")
    return Text(event.text, style=colour)


def _entry(event: EventView) -> Text:
    colour = next((colour for word, colour in ENTRY_COLOURS.items() if word in event.entry.lower()), "blue")
    return Text(event.entry, style=colour)


def _detail(event: EventView) -> str:
    """The fields that mean something to a person: no hashes, nothing empty, nothing the table says already."""
    shown = {name: value for name, value in event.data.items() if value and name not in SAID and not _is_hash(value)}
    text = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in shown.items())
    return text if len(text) <= MAX_DETAIL else text[: MAX_DETAIL - 1] + "…"


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and len(value) >= HASH_LETTERS and " " not in value


def _plain(value: Any) -> str:
    if isinstance(value, int) and value >= FIRST_MOMENT:
        return relative(iso(value))
    return str(value) if isinstance(value, str | int) else encode(value)


def parked_picture(found: list[dict[str, Any]]) -> RenderableType:
    """What waits, with the key that ends the wait."""
    rows = []
    for each in found:
        waiting = each["waiting_for"] or {}
        kind = waiting.get("kind", "")
        told = [f"since {relative(waiting.get('since') or each['started_at'])}"]
        told += [f"due {relative(waiting['due_at'])}"] if waiting.get("due_at") else []
        told += [kind] if kind not in ("", "completion", "process") else []
        told += [each["progress"]] if each["progress"] else []
        key = Text(waiting.get("key", ""), style="red" if kind == "incident" else "cyan")
        rows.append((key, Text(each["verb"]), Text("\n".join(told)), Text(each["id"])))
    return table("Parked", ("key", "verb", "waits", "id"), rows, "", lesser=_repeated(found))


def _repeated(found: list[dict[str, Any]]) -> tuple[str, ...]:
    """The id is said already when every key begins with it."""
    keys = [((each["waiting_for"] or {}).get("key", ""), each["id"]) for each in found]
    return ("id",) if all(key.startswith(id) for key, id in keys) else ()


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
