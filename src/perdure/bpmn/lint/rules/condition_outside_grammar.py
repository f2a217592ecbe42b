"""A condition says more than a comparison of flags with literals.

Conditions compare `orch_*` flags with literals and join comparisons by `and`, `or` and `not(...)`. Nothing else is
ever evaluated, in any profile, so a decision that needs more is made by a verb, which sets a flag. A condition that
says it is written in another language than FEEL is not read at all, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.conditions.tree import Both, Condition, Either, Foreign, Not
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import conditions
from perdure.bpmn.lint.model_index import Index

CODE = "HOL002"
NAME = "condition-outside-grammar"
SEVERITIES = Severities("error", contract="off")


def check(index: Index) -> Iterator[Note]:
    for test in conditions(index):
        for foreign in _foreign(test.condition):
            place = f" (character {foreign.offset + 1} of `{_short(foreign.text)}`)" if foreign.text else ""
            yield Note(test.element, f"its condition is outside the grammar: {foreign.fact}{place}", foreign.hint)


def _foreign(condition: Condition) -> Iterator[Foreign]:
    if isinstance(condition, Foreign):
        yield condition
    elif isinstance(condition, (Both, Either)):
        for part in condition.parts:
            yield from _foreign(part)
    elif isinstance(condition, Not):
        yield from _foreign(condition.part)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
