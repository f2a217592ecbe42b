"""Extensions of Camunda 8 in elements whose extensions nothing reads, such as lanes and signals."""

from __future__ import annotations

from perdure.bpmn.xml import extras
from perdure.bpmn.xml.names import with_article
from perdure.bpmn.xml.reading.context import Reading
from perdure.bpmn.xml.reading.extensions import extension_elements
from perdure.bpmn.xml.tag import Tag

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
            _, hint = extras.WITHOUT_EFFECT.get(child.name, ("", extras.PLACES.get(child.name, "")))
            if hint:
                where = with_article(tag.name.removeprefix("bpmn:"))
                reading.remark(CODE, tag, f"its {child.name} has no effect in {where}", hint)
