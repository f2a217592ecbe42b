"""A timer repeats where it can fire once only.

An event in mid-flow is over when it has occurred, and so is one that interrupts: of a cycle only the first time counts.
Write a duration, or the date that the cycle starts at. If it is to come again and again, let it be a boundary event, or
the start of an event subprocess, that does not interrupt.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Event, TimerTrigger
from perdure.bpmn.timer_cycles import Cycle, read_cycle

CODE = "BPM192"
NAME = "cycle-that-ends"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for event, timer in index.triggers(TimerTrigger):
        if timer.kind != "cycle" or timer.value.kind != "literal" or not _is_once(index, event):
            continue
        text = timer.value.text.strip()
        cycle = read_cycle(text)
        if isinstance(cycle, Cycle) and cycle.times != 1:
            fact = f"its timer `{text[:60]}` repeats, and it can fire once only"
            first = f"{text.split('/')[1]} as a date" if cycle.start else f"{cycle.interval} as a duration"
            other = "" if event.position == "catch" else ", or let it not interrupt"
            yield Note(event.id, fact, f"Write {first}{other}.")


def _is_once(index: Index, event: Event) -> bool:
    if event.position == "start" and index.room_of[event.id].kind() != "event":
        return False
    return event.position == "catch" or event.is_interrupting
