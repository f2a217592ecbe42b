"""Automated work has no `taskDefinition`.

A service task, a send task and a message throw event are executable: each says by one `taskDefinition` what it is
bound to. Nothing is bound by a guess.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.contract import is_work
from perdure.bpmn.lint.contract_elements import found_on
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME010"
NAME = "task-definition-missing"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        if is_work(node) and not found_on(index, node.id, elements.TASK):
            yield Note(node.id, "it has no taskDefinition", "Add one, with type and policyRef.")
