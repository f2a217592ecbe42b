"""The number of iterations is a flag that is not an integer.

Declare the flag `type: integer`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import uses
from perdure.bpmn.lint.model_index import Index

CODE = "CON110"
NAME = "cardinality-flag"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for use in uses(index):
        flag = index.flags.get(use.value.text) if use.value.kind == "flag" else None
        if flag is not None and use.role in ("cardinality", "priority") and flag.type != "integer":
            what = "number of iterations" if use.role == "cardinality" else "priority"
            yield Note(use.element, f"its {what} '{flag.name}' is of type {flag.type}", "Declare type: integer.")
