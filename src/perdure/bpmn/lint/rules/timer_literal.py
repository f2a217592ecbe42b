"""A timer is set to something that is not a time.

Durations are ISO 8601 (`P14D`, `PT2H`, `P1Y`), dates are RFC 3339 with offset (a zone may follow), cycles are
`R3/PT10M`, `R/P1M` (or `R-1/P1M`), cron or a word such as `@daily`. A date without an offset, or without a time, could
mean several moments.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.timer_literals import timer_fault
from perdure.bpmn.model import (
    TimerTrigger,
)

CODE = "BPM144"
NAME = "timer-literal"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event, timer in index.triggers(TimerTrigger):
        if timer.value.kind != "literal":
            if event.position == "start" and index.room_of[event.id].parent is None:
                fact = f"its timer `{timer.value.text[:60]}` is a flag, and before it there is no instance to have one"
                yield Note(event.id, fact, "Write the time itself.")
            continue
        fault = timer_fault(timer.kind, timer.value.text.strip())
        if fault:
            yield Note(event.id, f"its timer `{timer.value.text[:60]}` is not a {timer.kind}: {fault}", "Correct it.")
