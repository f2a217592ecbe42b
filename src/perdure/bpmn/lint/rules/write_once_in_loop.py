"""A flag that is written once is written in a loop.

The second write is refused. Let another flag change, or move the task before the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.dataflow import (
    surely_write,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
    Gateway,
)

CODE = "CON113"
NAME = "write-once-in-loop"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for flag, writers in surely_write(index).items():
        if not index.flags[flag].once:
            continue
        for id in writers:
            if id in index.graph.past([id]) or _is_repeated(index, id):
                fact = f"it may run again and writes '{flag}', which is written once"
                yield Note(id, fact, "Move it before the loop, or write another flag.")


def _is_repeated(index: Index, id: str) -> bool:
    node = index.nodes[id]
    return not isinstance(node, (Gateway, Event)) and node.repeat is not None
