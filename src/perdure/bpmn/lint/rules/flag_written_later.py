"""A flag is read before anything can have written it.

Every task that writes it comes later, and it has no declared initial value. Read it later, write it earlier, or
declare `initial`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.dataflow import (
    may_write,
    reads_of,
    written_before,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import uses
from perdure.bpmn.lint.model_index import Index

CODE = "CON102"
NAME = "flag-written-later"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    if index.contract is None:
        return
    writers = may_write(index)
    keys = {(use.element, use.value.text) for use in uses(index) if use.role == "correlation"}
    for flag, readings in reads_of(index).items():
        contract = index.flags.get(flag)
        if contract is None or contract.begins_set or not writers[flag]:
            continue
        for read, is_written in written_before(index, readings, writers[flag]):
            if not is_written and (read.element, flag) not in keys:
                hint = "Write it earlier, or declare its initial value."
                yield Note(read.element, f"it reads '{flag}', which is written only later", hint)
