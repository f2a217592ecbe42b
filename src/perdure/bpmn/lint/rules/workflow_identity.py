"""A workflow definition does not identify: its `definitionId` or its `workflowIdTemplate` is missing.

The first names the definition for good, with its version or checksum; the second names each workflow, and one that is
the same for all of them would let a single one begin.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.templates import parse_template
from perdure.bpmn.lint.contract_elements import found_on
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named

CODE = "AME002"
NAME = "workflow-identity"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for process in index.processes:
        for each in found_on(index, process.id, elements.WORKFLOW):
            for name in ("definitionId", "workflowIdTemplate"):
                if not is_named(each.attribute(name)):
                    yield Note(process.id, f"its workflow definition has no {name}", f"Add {name}.", each.place)
            template = parse_template(each.attribute("workflowIdTemplate"))
            if template.text.strip() and not template.faults and not template.paths:
                fact = f"its workflowIdTemplate `{template.text[:60]}` names every workflow the same"
                yield Note(process.id, fact, "Read something of the state, e.g. order-${state.order_id}.", each.place)
            elif "workflowType" in each.extension.attributes and not is_named(each.attribute("workflowType")):
                yield Note(process.id, "its workflowType is empty", "Name it, or leave it out.", each.place)
