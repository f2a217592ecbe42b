"""A script task holds code, and no process may.

A hollow process says what comes after what; everything that computes is a verb, where it can be typed, tested and
retried. Make the task a service task whose type is a verb. The open profile allows script tasks that name a
registered callable.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "HOL001"
NAME = "script-task"
SEVERITIES = Severities("error", open="off")


def check(index: Index) -> Iterator[Note]:
    for task in index.tasks("script"):
        yield Note(task.id, "it is a script task", "Make it a service task whose type is a verb.")
