"""Whether a user task needs four eyes, or is for agents as well, is neither `true` nor `false`.

With `perdure:fourEyes` set to `true`, whoever asked for the process cannot answer the task. With `perdure:agents` set
to `true`, agents may answer it; else people alone may.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.task_properties import AGENTS, FOUR_EYES

CODE = "BPM167"
NAME = "four-eyes"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for task in index.tasks("user"):
        for name in (FOUR_EYES, AGENTS):
            value = task.properties.get(name, "false")
            if value not in ("true", "false"):
                yield Note(task.id, f"its {name} is `{value[:40]}`", "Write true or false.")
