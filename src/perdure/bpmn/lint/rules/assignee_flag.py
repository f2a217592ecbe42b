"""A task is assigned by a flag that is not a string.

Declare the flag `type: string` or `type: enum`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import uses
from perdure.bpmn.lint.model_index import Index

CODE = "CON111"
NAME = "assignee-flag"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for use in uses(index):
        flag = index.flags.get(use.value.text) if use.value.kind == "flag" else None
        if flag is not None and use.role in ("assignee", "groups", "users") and flag.type not in ("string", "enum"):
            yield Note(use.element, f"its {use.role} '{flag.name}' is of type {flag.type}", "Declare type: string.")
