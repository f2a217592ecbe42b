"""A flag is read, and nothing ever writes it.

Without a declared initial value the decision always goes the same way. Let a verb write the flag, name the verb among
its writers, or declare `initial` if that is what is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.dataflow import (
    may_write,
    reads_of,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "CON101"
NAME = "flag-never-written"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    if index.contract is None:
        return
    writers = may_write(index)
    for flag, readings in reads_of(index).items():
        contract = index.flags.get(flag)
        if contract is not None and not contract.begins_set and not writers[flag]:
            for read in readings:
                hint = "Let a sub-verb write it, or declare its initial value."
                yield Note(read.element, f"it reads '{flag}', which nothing writes", hint)
