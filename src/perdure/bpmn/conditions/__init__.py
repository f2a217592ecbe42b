"""Conditions: one grammar in two spellings, typed against the flag contract."""

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

__all__ = [
    "Among",
    "Both",
    "Compare",
    "Comparison",
    "Condition",
    "Either",
    "Foreign",
    "Not",
    "Scalar",
    "flags_of",
    "holds",
]
