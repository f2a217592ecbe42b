"""The key of a wait is not set before the wait opens.

On some path to the wait no task writes the flag, so the key would be empty and no message could ever match.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from perdure.bpmn.lint.dataflow import (
    may_write,
    reached_without,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import Use, uses
from perdure.bpmn.lint.model_index import Index

CODE = "CON105"
NAME = "correlation-not-set"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    if index.contract is None:
        return
    writers = may_write(index)
    keys: dict[str, list[Use]] = defaultdict(list)
    for use in uses(index):
        if use.role == "correlation" and use.value.kind == "flag" and use.value.text in index.flags:
            keys[use.value.text].append(use)
    for name, waits in keys.items():
        if index.flags[name].initial not in (None, "") or index.flags[name].argument:
            continue
        unset = reached_without(index, writers[name])
        for use in waits:
            if use.node in unset:
                fact = f"its correlation key '{name}' is not set on every path to it"
                yield Note(use.element, fact, "Call a verb that writes it before the wait.")
