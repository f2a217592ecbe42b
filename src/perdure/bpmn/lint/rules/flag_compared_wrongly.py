"""A flag is compared with something it can never be.

A comparison with a literal of another type, with a value the enum does not have, or an ordering of something that is
not an integer is always false (or always true), so the path behind it is dead or taken by accident.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.conditions.type_check import condition_faults
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import conditions
from perdure.bpmn.lint.model_index import Index

CODE = "HOL007"
NAME = "flag-compared-wrongly"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    if index.contract is None:
        return
    for test in conditions(index):
        for fault in condition_faults(test.condition, index.contract.flags, test.given):
            if fault.kind in ("type", "value", "order"):
                yield Note(test.element, fault.fact, fault.hint)
