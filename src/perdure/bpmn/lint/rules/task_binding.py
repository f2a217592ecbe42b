"""A `taskDefinition` does not say what the work is, or by which policy it is done.

`type` names the work, and on our engines the verb; `policyRef` names a policy of the catalogue, which bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named

CODE = "AME012"
NAME = "task-binding"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for each in all_found(index):
        if each.name != elements.TASK:
            continue
        for name in ("type", "policyRef"):
            if not is_named(each.attribute(name)):
                yield Note(each.element, f"its taskDefinition has no {name}", f"Add {name}.", each.place)
            elif each.attribute(name) != each.attribute(name).strip() or "${" in each.attribute(name):
                fact = f"the {name} `{each.attribute(name)[:60]}` of its taskDefinition is no plain name"
                yield Note(each.element, fact, "Write the name itself, without blanks around it.", each.place)
