"""Work has no `ioMapping`.

Without one the request is empty and the result is left: nothing is guessed. Say by inputs what the work needs, and by
outputs what of its result is kept. Strictly, it must be there.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.contract import is_work
from perdure.bpmn.lint.contract_elements import found_on
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME090"
NAME = "no-io-mapping"
SEVERITIES = Severities("info", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if is_work(node) and not found_on(index, node.id, elements.MAPPING):
            yield Note(node.id, "it has no ioMapping", "Map what it needs from the state, and what it gives to it.")
