"""Elements of the contract profile: where each stands in the file, and which stand where nothing reads them."""

from __future__ import annotations

from collections import defaultdict

from perdure.bpmn.model import Place
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import FLOW_NODES, with_article
from perdure.bpmn.xml.readers.file_context import Reading

OUTSIDE = "AME060"
"""It does not stand in extensionElements."""
MISPLACED = "AME003"
"""It stands in an element of which it says nothing."""

_PREFIX = "ameide:"
_HOLDERS = FLOW_NODES | {"bpmn:process", "bpmn:message", "bpmn:sequenceFlow"}
"""Elements whose extensions are kept; rules look at what stands in them."""
_TRANSPARENT = frozenset(("bpmn:extensionElements", "bpmn:messageEventDefinition"))


def extension_places(reading: Reading, root: Tag) -> dict[str, tuple[Place, ...]]:
    """By `<id of the element>/<name>`, in the order of the file: places of the profile's elements."""
    found: dict[str, list[Place]] = defaultdict(list)
    waiting: list[tuple[Tag, Tag, Tag]] = [(root, root, root)]
    while waiting:
        tag, parent, holder = waiting.pop()
        if tag.name.startswith(_PREFIX):
            found[f"{holder.get('id')}/{tag.name}"].append(Place(tag.line, tag.column))
            if not parent.name.startswith(_PREFIX):
                _look_at(reading, tag, parent, holder)
        inner = tag if tag.name in _HOLDERS or _is_apart(tag) else holder
        waiting.extend((child, tag, inner) for child in reversed(tag.children))
    return {key: tuple(places) for key, places in found.items()}


def _is_apart(tag: Tag) -> bool:
    return tag.name.startswith("bpmn:") and tag.name not in _TRANSPARENT


def _look_at(reading: Reading, tag: Tag, parent: Tag, holder: Tag) -> None:
    local = tag.name.removeprefix(_PREFIX)[:80]
    at = Tag(tag.name, {"id": holder.get("id")})
    at.line, at.column = tag.line, tag.column
    if parent.name != "bpmn:extensionElements":
        fact = f"its {local} does not stand in bpmn:extensionElements"
        reading.remark(OUTSIDE, at, fact, "Put it into bpmn:extensionElements of the element.")
    if holder.name not in _HOLDERS:
        where = with_article(holder.name.removeprefix("bpmn:")[:80])
        reading.remark(MISPLACED, at, f"its {local} says nothing in {where}", "Move or remove it.")
