"""A process of the contract profile does not say how its workflow is identified.

It carries exactly one `workflowDefinition` with `definitionId` and `workflowIdTemplate`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named

CODE = "CON003"
NAME = "workflow-definition"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for process in index.processes:
        found = [each for each in process.extensions if each.name == "ameide:workflowDefinition"]
        if len(found) != 1:
            fact = f"it has {len(found)} workflow definitions"
            yield Note(process.id, fact, "Give it exactly one, with definitionId and workflowIdTemplate.")
        for each in found:
            for name in ("definitionId", "workflowIdTemplate"):
                if not is_named(each.attributes.get(name, "")):
                    yield Note(process.id, f"its workflow definition has no {name}", f"Add {name}.")
