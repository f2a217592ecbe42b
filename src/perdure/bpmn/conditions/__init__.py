"""Conditions: one grammar in two spellings, typed against the flag contract."""

from perdure.bpmn.conditions.parser import (
    MAX_CONDITION_DEPTH,
    MAX_CONDITION_LENGTH,
    both,
    either,
    parse_condition,
)
from perdure.bpmn.conditions.printer import Spelling, show_condition, show_literal
from perdure.bpmn.conditions.tree import (
    Among,
    Both,
    Compare,
    Comparison,
    Condition,
    Either,
    Foreign,
    Not,
    Scalar,
    flags_of,
    holds,
)
from perdure.bpmn.conditions.type_check import Fault, FaultKind, condition_faults, undeclared

__all__ = [
    "MAX_CONDITION_DEPTH",
    "MAX_CONDITION_LENGTH",
    "Among",
    "Both",
    "Compare",
    "Comparison",
    "Condition",
    "Either",
    "Fault",
    "FaultKind",
    "Foreign",
    "Not",
    "Scalar",
    "Spelling",
    "both",
    "condition_faults",
    "either",
    "flags_of",
    "holds",
    "parse_condition",
    "show_condition",
    "show_literal",
    "undeclared",
]
