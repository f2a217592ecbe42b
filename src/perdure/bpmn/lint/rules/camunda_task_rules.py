"""Camunda 8 does not keep what protects a user task here.

Nobody there refuses the answer of whoever asked for the process (`perdure:fourEyes`), asks somebody of each group
(`compliance + risk`), or climbs a ladder (`perdure:remind`, `perdure:reassign`, `perdure:escalate`). The task would be
answered by one person alone, without a word. Keep such a process on the embedded engine or on Temporal.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import Task
from perdure.bpmn.task_properties import RUNGS, rules_of

CODE = "PRT122"
NAME = "camunda-task-rules"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for task in index.tasks("user"):
        for rule, hint in _lost(task):
            yield Note(task.id, f"Camunda 8 does not keep its {rule}", hint)


def _lost(task: Task) -> Iterator[tuple[str, str]]:
    if rules_of(task.properties).four_eyes:
        yield "four eyes", "Run the process on the embedded engine or on Temporal."
    if task.groups is not None and task.groups.kind == "literal" and "+" in task.groups.text:
        yield "joint groups", "Draw one user task for each group."
    if named := [name for name in RUNGS if name in task.properties]:
        yield f"ladder ({', '.join(named)})", "Draw timer events at the task."
