"""The groups of a user task cannot be read.

`compliance, risk` asks one person of either group. `compliance + risk` asks one person of each, who have to give the
same answer. A name may stand there once, none may be empty, and the two spellings do not mix.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.human_tasks import joint_fault

CODE = "BPM193"
NAME = "joint-groups"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for task in index.tasks("user"):
        if task.groups is not None and task.groups.kind == "literal" and (fault := joint_fault(task.groups.text)):
            yield Note(task.id, f"its groups `{task.groups.text[:60]}`: {fault}", "Write e.g. compliance + risk.")
