"""Camunda 8 does not accept this kind of timer here.

Timers in mid-flow and those that interrupt have a duration or a date; a cycle belongs to a start or to an event that
does not interrupt. A cron text has six fields there, the first of them seconds; here it may have five as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    TimerTrigger,
)

CODE = "PRT119"
NAME = "camunda-timer-kind"
SEVERITIES = Severities("error", targets=("camunda",))
CRON_FIELDS = 5
"""Of a cron text that begins with the minutes."""


def check(index: Index) -> Iterator[Note]:
    for event, timer in index.triggers(TimerTrigger):
        is_process_start = event.position == "start" and index.room_of[event.id].parent is None
        if timer.kind == "cycle" and not is_process_start and (event.position == "catch" or event.is_interrupting):
            yield Note(event.id, "Camunda 8 accepts no cycle here", "Write a duration, or let it not interrupt.")
        elif timer.kind == "cycle" and timer.value.kind == "literal" and len(timer.value.text.split()) == CRON_FIELDS:
            fact = (
                f"Camunda 8 does not accept its cron `{timer.value.text.strip()[:60]}`, which has no field of seconds"
            )
            yield Note(event.id, fact, f"Write `0 {timer.value.text.strip()[:60]}`.")
