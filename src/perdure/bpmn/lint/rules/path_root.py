"""A mapping does not lead from where it must to where it must.

Inputs lead from `state.…` to `request.…`, outputs from `result.…` to `state.…`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import paths
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME032"
NAME = "path-root"
SEVERITIES = Severities("error", hollow="off", open="off")

_ROOTS = {
    (elements.INPUT, "source"): "state",
    (elements.INPUT, "target"): "request",
    (elements.OUTPUT, "source"): "result",
    (elements.OUTPUT, "target"): "state",
}


def check(index: Index) -> Iterator[Note]:
    for found, attribute, path in paths(index):
        root = _ROOTS[found.name, attribute]
        if not path.fault and (path.root != root or not path.inner):
            way = "from" if attribute == "source" else "to"
            kind = found.name.removeprefix(elements.PREFIX)
            fact = f"the {attribute} `{path.text[:60]}` of an {kind} does not lead {way} '{root}.'"
            yield Note(found.element, fact, f"Write {root}.<path>.", found.place)
