"""Global elements of a file: messages, signals, errors and escalations in use, operations and global tasks."""

from __future__ import annotations

from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import GLOBAL_TASKS
from perdure.bpmn.xml.readers.file_context import Reading

_SHARED = frozenset(("bpmn:message", "bpmn:signal", "bpmn:error", "bpmn:escalation"))
_REFERRING = ("bpmn:inMessageRef", "bpmn:outMessageRef", "bpmn:errorRef")


def referred(reading: Reading, root: Tag) -> frozenset[str]:
    """Ids of messages, signals, errors and escalations that anything refers to: operations and correlation as well."""
    named = {
        reading.resolve(text)
        for tag in root.within()
        for text in (*(text for name, text in tag.attributes.items() if name.endswith("Ref")), _text(tag))
        if text
    }
    return frozenset(id for id in named if id in reading.tags and reading.tags[id].name in _SHARED)


def look_at_operations(reading: Reading, root: Tag) -> None:
    """Remarks on operations that name a message or an error which is not in the file."""
    if root.first("bpmn:import") is not None:
        return
    for interface in root.all("bpmn:interface"):
        for operation in interface.all("bpmn:operation"):
            for child in operation.all(*_REFERRING):
                wanted = reading.resolve(child.text)
                if wanted and wanted not in reading.tags:
                    name = child.name.removeprefix("bpmn:")
                    fact = f"{name} refers to '{wanted[:80]}', which is not in the file"
                    reading.remark("BPM008", operation, fact, "Create it, or remove the reference.")


def global_tasks(root: Tag) -> dict[str, str]:
    """Tasks at the root, which a call activity may name, each with its kind."""
    return {tag.get("id"): tag.name.removeprefix("bpmn:") for tag in root.all(*GLOBAL_TASKS)}


def _text(tag: Tag) -> str:
    return tag.text if tag.name in _REFERRING else ""
