"""A `policyRef` names no policy of the catalogue.

Each one resolves exactly once, when the model is compiled; what it resolves to is written out and pinned. The rule
needs the catalogue: `policies.yaml` beside the model, or `--policies FILE`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import nearest

CODE = "AME013"
NAME = "unknown-policy"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    if index.policies is None:
        return
    names = index.policies.names()
    for each in all_found(index):
        wanted = each.attribute("policyRef")
        if each.name == elements.TASK and wanted.strip() and wanted not in names:
            hint = nearest(wanted, names) or f"Policies: {', '.join(names) or 'none'}."
            yield Note(each.element, f"the catalogue has no policy '{wanted[:80]}'", hint, each.place)
