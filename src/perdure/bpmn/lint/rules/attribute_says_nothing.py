"""An attribute of an event says nothing where it stands.

Whether it interrupts is said of the start of an event subprocess and of a boundary event: a start event elsewhere has
nothing around it that it could interrupt or leave alone. `parallelMultiple` is said of an event with several triggers.
Which activity is compensated, and whether that is waited for, is said where compensation is thrown; what catches it
begins after its activity has ended, and so interrupts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import CompensationTrigger, Event

CODE = "BPM191"
NAME = "attribute-says-nothing"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        for event in index.starts(room) if room.kind() != "event" else ():
            if not event.is_interrupting:
                fact = "it begins no event subprocess, and isInterrupting='false' says nothing there"
                yield Note(event.id, fact, "Remove isInterrupting, or put it into an event subprocess.")
    for event in index.events():
        if event.is_parallel and len(event.triggers) == 1:
            fact = "it waits for one event, and parallelMultiple='true' says nothing of one"
            yield Note(event.id, fact, "Remove parallelMultiple, or add the other events.")
        elif event.is_parallel and not event.triggers and event.position == "start":
            fact = "it waits for no event, and parallelMultiple='true' says nothing there"
            yield Note(event.id, fact, "Remove parallelMultiple.")
    for event, trigger in index.triggers(CompensationTrigger, "start", "boundary"):
        if said := list(_said(event, trigger)):
            names = " and ".join(said)
            says = "says" if len(said) == 1 else "say"
            yield Note(event.id, f"it catches compensation, and {names} {says} nothing there", f"Remove {names}.")


def _said(event: Event, trigger: CompensationTrigger) -> Iterator[str]:
    if trigger.activity:
        yield "activityRef"
    if not trigger.waits:
        yield "waitForCompletion='false'"
    if not event.is_interrupting and len(event.triggers) == 1:
        yield "cancelActivity='false'" if event.position == "boundary" else "isInterrupting='false'"
