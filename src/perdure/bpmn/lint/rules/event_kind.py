"""An event is of a kind that does not exist at its place.

Errors are not thrown in mid-flow, timers do not end a process, terminate only ends. The reference of elements lists
which events exist where. Flags belong to an instance, so that no condition on them starts a process, behind an event
gateway that starts instances neither. A subprocess may say in an event subprocess how it is undone, a process may not.
An end event may throw several things, and of an error, a cancel and a terminate only one; beside compensation none of
them, since each ends what is to be undone. A link stands alone. Of several that must all occur, each is waited for: a
message, a timer, a signal or a condition. An error, an escalation, a cancel and compensation are caught in the moment
they come, and nothing remembers them until the others have occurred.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import trigger_kind
from perdure.bpmn.model import (
    Event,
)

CODE = "BPM140"
NAME = "event-kind"
SEVERITIES = Severities("error")


_KINDS: dict[str, frozenset[str]] = {
    "start": frozenset(("message", "timer", "signal")),
    "event subprocess start": frozenset(
        ("message", "timer", "signal", "conditional", "error", "escalation", "compensation")
    ),
    "catch": frozenset(("message", "timer", "signal", "conditional", "link")),
    "throw": frozenset(("message", "signal", "escalation", "compensation", "link")),
    "boundary": frozenset(
        ("message", "timer", "signal", "conditional", "error", "escalation", "compensation", "cancel")
    ),
    "end": frozenset(("message", "signal", "error", "escalation", "compensation", "terminate", "cancel")),
}
_SUDDEN = frozenset(("error", "escalation", "cancel", "compensation"))
_ENDINGS = frozenset(("error", "cancel", "terminate"))
_CATCHING = frozenset(("start", "catch", "boundary"))
_NEEDS_TRIGGER = frozenset(("catch", "boundary"))


def check(index: Index) -> Iterator[Note]:
    for event in index.events():
        place = _place(index, event)
        for trigger in event.triggers:
            kind = trigger_kind(trigger)
            if kind not in _KINDS[place]:
                fact = f"there is no {kind} {place} event"
                yield Note(event.id, fact, f"Kinds that exist: {', '.join(sorted(_KINDS[place]))}.")
            elif kind == "compensation" and _is_of_process(index, event):
                fact = "a process is undone by its parts, so it would never occur"
                yield Note(event.id, fact, "Put it into a subprocess, or attach compensation events to the activities.")
        yield from _together(event)
        endings = [kind for kind in map(trigger_kind, event.triggers) if event.position == "end" and kind in _ENDINGS]
        if len(endings) > 1:
            yield Note(
                event.id, f"it ends its scope in {len(endings)} ways: {' and '.join(endings)}", "Keep one of them."
            )
        elif endings and "compensation" in map(trigger_kind, event.triggers):
            fact = f"its {endings[0]} ends the scope that its compensation would undo"
            yield Note(event.id, fact, "Throw compensation by an event of its own before it.")
        if not event.triggers and place in _NEEDS_TRIGGER:
            yield Note(event.id, f"a {place} event must say what it waits for", "Choose what it waits for.")

    for event in index.starting_catches():
        if any(trigger_kind(trigger) == "conditional" for trigger in event.triggers):
            fact = "it stands behind a gateway that starts instances, and no condition starts one"
            yield Note(event.id, fact, "Start by a message, a signal or a timer, and wait for the condition after it.")


def _together(event: Event) -> Iterator[Note]:
    """Triggers that do not go with others."""
    kinds = [trigger_kind(trigger) for trigger in event.triggers]
    if len(kinds) < 2:
        return
    if "link" in kinds:
        yield Note(event.id, "a link stands beside other triggers", "Give the link an event of its own.")
    sudden = sorted(_SUDDEN.intersection(kinds))
    if event.is_parallel and event.position in _CATCHING and sudden:
        fact = f"all that it names must occur, and {' and '.join(sudden)} cannot be waited for together with others"
        yield Note(event.id, fact, f"Catch {' and '.join(sudden)} by an event of its own.")


def _place(index: Index, event: Event) -> str:
    is_event_start = event.position == "start" and index.room_of[event.id].kind() == "event"
    return "event subprocess start" if is_event_start else event.position


def _is_of_process(index: Index, event: Event) -> bool:
    """Whether it starts an event subprocess that stands in the process itself."""
    around = index.room_of[event.id].parent
    return event.position == "start" and around is not None and around.parent is None
