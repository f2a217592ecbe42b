"""Whether a user task needs four eyes is neither `true` nor `false`.

With `perdure:fourEyes` set to `true`, whoever started the process cannot answer the task.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.task_properties import FOUR_EYES

CODE = "BPM167"
NAME = "four-eyes"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for task in index.tasks("user"):
        value = task.properties.get(FOUR_EYES, "false")
        if value not in ("true", "false"):
            yield Note(task.id, f"its {FOUR_EYES} is `{value[:40]}`", "Write true or false.")
