"""An executable element has no documentation.

The bodies are written by people who were not there when the process was drawn: say in `bpmn:documentation` what the
step is for.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract_elements import is_bound
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME091"
NAME = "no-documentation"
SEVERITIES = Severities("info", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if is_bound(node) and not node.documentation.strip():
            yield Note(node.id, "it has no documentation", "Say in a sentence what it is for.")
