"""Extensions of Camunda 8 in elements whose extensions nothing reads, such as lanes and signals."""

from __future__ import annotations

from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import with_article
from perdure.bpmn.xml.readers.extensions import extension_elements
from perdure.bpmn.xml.readers.file_context import Reading

CODE = "HOL010"
_UNREAD = frozenset(
    f"bpmn:{name}"
    for name in (
        "collaboration", "participant", "messageFlow", "laneSet", "childLaneSet", "lane", "signal", "error",
        "escalation", "association", "textAnnotation", "group", "dataObject", "dataObjectReference", "dataStore",
        "dataStoreReference", "standardLoopCharacteristics",
    )
)  # fmt: skip


def look_at_places(reading: Reading, root: Tag) -> None:
    """Remarks on what has no effect where it stands, for lint to tell as gravely as the profile has it."""
    for tag in root.within():
        for child in extension_elements(tag) if tag.name in _UNREAD else ():
            _, hint = extension_schema.WITHOUT_EFFECT.get(child.name, ("", extension_schema.PLACES.get(child.name, "")))
            if hint:
                where = with_article(tag.name.removeprefix("bpmn:"))
                reading.remark(CODE, tag, f"its {child.name} has no effect in {where}", hint)
