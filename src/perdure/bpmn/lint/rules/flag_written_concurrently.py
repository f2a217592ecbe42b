"""Two branches that run at once write one flag, and nothing says how the values combine.

Which value stays would depend on timing. Declare `merge: any | all | sum | max`, or let one branch write it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.dataflow import (
    concurrent_pairs,
    surely_write,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
    Gateway,
    MultiInstance,
    Node,
)

CODE = "CON107"
NAME = "flag-written-concurrently"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    unruled = {flag: nodes for flag, nodes in surely_write(index).items() if index.flags[flag].merge is None}
    seen: set[tuple[str, str, str]] = set()
    for flag, one, other in concurrent_pairs(index, unruled):
        if (flag, one, other) not in seen:
            seen.add((flag, one, other))
            fact = f"it writes '{flag}' while '{other}' may write it too"
            yield Note(one, fact, "Declare a merge rule for the flag, or let one branch write it.")
    for flag, writers in unruled.items():
        for id in writers:
            repeated = _repeated(index, id)
            if repeated:
                fact = f"it writes '{flag}' in iterations of '{repeated}' that run at once"
                yield Note(id, fact, "Declare a merge rule for the flag.")


def _repeated(index: Index, id: str) -> str:
    """The activity with parallel iterations that the node is or is part of."""
    node: Node | None = index.nodes[id]
    while node is not None:
        repeat = None if isinstance(node, (Gateway, Event)) else node.repeat
        if isinstance(repeat, MultiInstance) and not repeat.is_sequential:
            return node.id
        node = index.nodes.get(index.room_of[node.id].id)
    return ""
