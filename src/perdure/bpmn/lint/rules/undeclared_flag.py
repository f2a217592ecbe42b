"""The model reads a flag that no contract declares.

Every flag is declared by the durable verb: its type, its values, who writes it. An undeclared flag has no value, and
most often it is a misspelt one.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.conditions.type_check import undeclared
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import reads
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    GIVEN_FLAGS,
)

CODE = "HOL006"
NAME = "undeclared-flag"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    contract = index.contract
    if contract is None:
        return
    declared = [flag.name for flag in contract.flags]
    known = frozenset(declared)
    for read in reads(index):
        if read.flag not in known and read.flag not in GIVEN_FLAGS:
            fault = undeclared(read.flag, declared)
            yield Note(read.element, f"it reads a flag that is not declared: '{read.flag}'", fault.hint)
