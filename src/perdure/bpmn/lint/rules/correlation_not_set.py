"""The key of a wait is not set before the wait opens.

On some path to the wait no task writes the flag, so the key would be empty and no message could ever match.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.dataflow import (
    may_write,
    open_path,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.lint.reads import Read, uses

CODE = "CON105"
NAME = "correlation-not-set"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    if index.contract is None:
        return
    writers = may_write(index)
    for use in uses(index):
        flag = index.flags.get(use.value.text) if use.role == "correlation" and use.value.kind == "flag" else None
        if flag is None or (flag.initial is not None and flag.initial != ""):
            continue
        read = Read(use.element, use.node, flag.name, use.moment)
        if open_path(index, read, writers[flag.name]):
            fact = f"its correlation key '{flag.name}' is not set on every path to it"
            yield Note(use.element, fact, "Call a verb that writes it before the wait.")
