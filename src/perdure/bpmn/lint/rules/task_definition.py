"""Automated work of the contract profile is not bound.

Service tasks, send tasks and throwing message events carry exactly one `taskDefinition` with `type` and `policyRef`,
and no `implementation`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named
from perdure.bpmn.model import (
    Extension,
    MessageTrigger,
)

CODE = "CON004"
NAME = "task-definition"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    throwing = [event for event, _ in index.triggers(MessageTrigger, "throw")]
    for node in (*index.tasks("service", "send"), *throwing):
        found = [each for each in node.extensions if each.name == "ameide:taskDefinition"]
        if len(found) != 1:
            yield Note(node.id, f"it has {len(found)} task definitions", "Give it exactly one.")
        for each in found:
            yield from _attributes(node.id, each)


def _attributes(element: str, definition: Extension) -> Iterator[Note]:
    for name in ("type", "policyRef"):
        if not is_named(definition.attributes.get(name, "")):
            yield Note(element, f"its task definition has no {name}", f"Add {name}.")
    if "implementation" in definition.attributes:
        yield Note(element, "its task definition names an implementation", "Remove it.")
