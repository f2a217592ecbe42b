"""A `taskDefinition` names an implementation.

All work of the profile compiles to the same thing, an activity; how it is done is not said in the model.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME014"
NAME = "implementation-forbidden"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for each in all_found(index):
        if each.name == elements.TASK and "implementation" in each.extension.attributes:
            yield Note(each.element, "its taskDefinition names an implementation", "Remove the attribute.", each.place)
