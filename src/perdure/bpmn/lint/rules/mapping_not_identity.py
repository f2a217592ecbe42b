"""A variable mapping is more than the identity of a declared flag.

Mappings tempt to transform data in the model. Payload travels by itself and verbs read and write it; the only mapping
accepted is a flag to itself. A data association may be drawn, and carries out nothing: it has no assignment and no
transformation.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import all_extensions
from perdure.bpmn.model import (
    Gateway,
)

CODE = "HOL011"
NAME = "mapping-not-identity"
SEVERITIES = Severities("error")

_COMPUTING = {"bpmn:assignment": "an assignment", "bpmn:transformation": "a transformation"}


def check(index: Index) -> Iterator[Note]:
    declared = None if index.contract is None else {flag.name for flag in index.contract.flags}
    for node in index.nodes.values():
        for mapping in () if isinstance(node, Gateway) else node.mappings:
            if mapping.source.kind != "flag" or mapping.source.text != mapping.target:
                fact = f"its {mapping.direction} mapping turns `{mapping.source.text[:80]}` into '{mapping.target}'"
                yield Note(node.id, fact, "Remove it: verbs read and write the payload, and flags are visible.")
            elif declared is not None and mapping.target not in declared:
                fact = f"its {mapping.direction} mapping names '{mapping.target}', which is not declared"
                yield Note(node.id, fact, "Remove it, or declare the flag.")
    for element, extension in all_extensions(index):
        if extension.name in _COMPUTING:
            fact = f"its data association has {_COMPUTING[extension.name]}, which is not carried out"
            yield Note(element, fact, "Remove it: verbs read and write the payload.")
