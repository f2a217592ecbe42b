"""A reminder, reassignment or escalation of a user task cannot be read.

`perdure:remind` lists durations from when the task opens (`P1D, P2D`). `perdure:reassign` and `perdure:escalate` list
durations each with a group, or a person as `user:ana` (`P2D seniors, P4D user:ana`).
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.task_properties import ladder_faults

CODE = "BPM166"
NAME = "task-ladder"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for task in index.tasks("user"):
        for name, fault in ladder_faults(task.properties):
            yield Note(task.id, f"{name}: {fault}", "Write e.g. P2D seniors.")
