"""A timer start event needs a schedule outside the workflow.

Inside Temporal a process is started by our runtime; timer starts run as schedules of the platform, which must be
running for them to occur.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    TimerTrigger,
)

CODE = "PRT201"
NAME = "temporal-timer-start"
SEVERITIES = Severities("warning", targets=("temporal",))


def check(index: Index) -> Iterator[Note]:
    for event, _ in index.triggers(TimerTrigger, "start"):
        if index.room_of[event.id].parent is None:
            yield Note(event.id, "on Temporal a schedule of the platform starts it", "Keep the platform running.")
