"""More iterations run at once than Temporal takes.

A workflow may have 2,000 activities pending. Run the iterations one after the other, or in smaller groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    MultiInstance,
)

CODE = "PRT203"
NAME = "temporal-many-at-once"
SEVERITIES = Severities("error", targets=("temporal",))


MOST = 2000


def check(index: Index) -> Iterator[Note]:
    for node in index.activities():
        repeat = node.repeat
        if not isinstance(repeat, MultiInstance) or repeat.is_sequential or repeat.cardinality.kind != "literal":
            continue
        text = repeat.cardinality.text.strip()
        if text.isdigit() and len(text) < 10 and int(text) > MOST:
            fact = f"{int(text):,} iterations run at once, and Temporal takes {MOST:,}"
            yield Note(node.id, fact, "Run them one after the other.")
