"""A process of the contract profile does not say once how its workflow is identified.

It carries exactly one `workflowDefinition`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import found_on
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME001"
NAME = "workflow-definition"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for process in index.processes:
        found = found_on(index, process.id, elements.WORKFLOW)
        if len(found) != 1:
            place = found[1].place if found else None
            fact = f"it has {len(found)} workflow definitions"
            yield Note(process.id, fact, "Give it exactly one, with definitionId and workflowIdTemplate.", place)
