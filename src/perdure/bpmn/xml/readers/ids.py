"""Ids in: each given once, and such that a reference can mean only one of them."""

from __future__ import annotations

import re

from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.readers.file_context import Reading

_NAME = re.compile(r"[^\W\d][\w.-]*")
_NAME_HINT = "Begin with a letter, and use letters, digits, '.', '-' and '_' only."


def read_ids(reading: Reading, root: Tag) -> dict[str, Tag]:
    """Every element by its id: looked at before reading, since references may lead forward."""
    tags = [tag for tag in root.within() if tag.get("id")]
    found: dict[str, Tag] = {}
    for tag in tags:
        if tag.name.startswith("bpmn:"):
            first = found.setdefault(tag.get("id"), tag)
            if first is not tag:
                reading.report("BPM007", tag, _taken(first), "Rename one of the two.")
    for id, tag in found.items():
        _spelling(reading, tag, found.get(id.rpartition(":")[2]))
    _drawing(reading, tags, dict(found))
    return found


def _spelling(reading: Reading, tag: Tag, local: Tag | None) -> None:
    if local is not None and local is not tag:
        fact = f"its id reads as a prefix and the id of the element in line {local.line}, column {local.column}"
        reading.report("BPM007", tag, fact, "Rename one of the two.")
    elif not _NAME.fullmatch(tag.get("id")):
        reading.remark("BPM014", tag, "its id is not a name that XML allows for one", _NAME_HINT)


def _drawing(reading: Reading, tags: list[Tag], taken: dict[str, Tag]) -> None:
    for tag in tags:
        if tag.name.startswith("bpmndi:"):
            first = taken.setdefault(tag.get("id"), tag)
            if first is not tag:
                reading.remark("BPM007", tag, _taken(first), "Rename one of the two.")


def _taken(first: Tag) -> str:
    return f"its id is also that of the element in line {first.line}, column {first.column}"
