"""Camunda 8 does not accept this kind of timer here.

Timers that start a process have a date or a cycle; timers in mid-flow and those that interrupt have a duration or a
date. A cron text has six fields there, the first of them seconds; here it may have five as well.
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
        if is_process_start and timer.kind == "duration":
            fact = "Camunda 8 starts a process at a date or in a cycle, not after a duration"
            yield Note(event.id, fact, "Write a date, or a cycle such as R1/PT1H.")
        elif timer.kind == "cycle" and not is_process_start and (event.position == "catch" or event.is_interrupting):
            yield Note(event.id, "Camunda 8 accepts no cycle here", "Write a duration, or let it not interrupt.")
        elif timer.kind == "cycle" and timer.value.kind == "literal" and len(timer.value.text.split()) == CRON_FIELDS:
            fact = (
                f"Camunda 8 does not accept its cron `{timer.value.text.strip()[:60]}`, which has no field of seconds"
            )
            yield Note(event.id, fact, f"Write `0 {timer.value.text.strip()[:60]}`.")
