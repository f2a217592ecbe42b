"""The number of iterations is not a number.

It is a literal integer of 0 or more, or one integer flag.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.lint.reads import uses

CODE = "BPM157"
NAME = "cardinality-literal"
SEVERITIES = Severities("error")


MOST = 1_000_000


def check(index: Index) -> Iterator[Note]:
    for use in uses(index):
        if use.role == "cardinality" and use.value.kind == "literal":
            text = use.value.text.strip()
            if not (text.isascii() and text.isdigit()) or len(text) > 7 or int(text) > MOST:
                fact = f"its number of iterations `{text[:40]}` is not an integer from 0 to {MOST:,}"
                yield Note(use.element, fact, "Write a number, or =orch_count.")
