"""An expression outside conditions is neither a literal nor one flag.

Correlation keys, timers, assignees, due dates and the number of iterations are a literal or the value of one flag,
written `=orch_name`. Let a verb compute the value and write it to a flag.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.lint.reads import uses

CODE = "HOL003"
NAME = "expression-outside-conditions"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for use in uses(index):
        if use.value.kind == "foreign" and use.role != "mapping":
            fact = f"its {use.role.replace('_', ' ')} `{use.value.text[:80]}` is neither a literal nor a flag"
            yield Note(use.element, fact, "Let a verb compute it into a flag and write =orch_name.")
