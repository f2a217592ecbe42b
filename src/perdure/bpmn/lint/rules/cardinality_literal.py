"""The number of iterations is not a number, or too large.

It is one integer flag, or a literal: up to a thousand at once, up to a million one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.machine.expression_values import MAX_AT_ONCE, MAX_ITERATIONS
from perdure.bpmn.model import (
    MultiInstance,
)

CODE = "BPM157"
NAME = "cardinality-literal"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.activities():
        repeat = node.repeat
        if not isinstance(repeat, MultiInstance) or repeat.cardinality.kind != "literal":
            continue
        text = repeat.cardinality.text.strip()
        most = MAX_ITERATIONS if repeat.is_sequential else MAX_AT_ONCE
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) > most:
            fact = f"its number of iterations `{text[:40]}` is not an integer from 0 to {most:,}"
            if not text:
                fact = "it does not say how often it repeats"
            yield Note(node.id, fact, "Write a number, or =orch_count.")
