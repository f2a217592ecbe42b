"""Misplaced elements: BPMN elements inside a parent that BPMN does not allow are reported."""

from __future__ import annotations

from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import with_article
from perdure.bpmn.xml.readers.extensions import refuse
from perdure.bpmn.xml.readers.file_context import Reading

_ALWAYS = "documentation extensionElements"
_TABLE = {
    "collaboration": "participant messageFlow textAnnotation group association",
    "participant": "participantMultiplicity interfaceRef endPointRef",
    "laneSet childLaneSet": "lane",
    "lane": "partitionElement flowNodeRef childLaneSet",
    "textAnnotation": "text",
    "dataObject dataObjectReference dataStoreReference": "dataState",
    "group": "categoryValueRef",
    "messageFlow association signal error escalation": "",
    "standardLoopCharacteristics": "loopCondition",
    "multiInstanceLoopCharacteristics": "loopCardinality loopDataInputRef loopDataOutputRef inputDataItem "
    "outputDataItem complexBehaviorDefinition completionCondition",
    "timerEventDefinition": "timeDuration timeDate timeCycle",
    "messageEventDefinition": "operationRef",
    "linkEventDefinition": "source target",
    "conditionalEventDefinition": "condition",
    "signalEventDefinition errorEventDefinition escalationEventDefinition compensateEventDefinition": "",
    "terminateEventDefinition cancelEventDefinition": "",
}
_EXPECTED = {
    f"bpmn:{element}": frozenset(f"bpmn:{child}" for child in (*children.split(), *_ALWAYS.split()))
    for elements, children in _TABLE.items()
    for element in elements.split()
}
_NOT_KEPT = frozenset(
    "bpmn:" + name
    for name in (
        "conversation", "callConversation", "subConversation", "conversationLink", "conversationAssociation",
        "participantAssociation", "messageFlowAssociation", "correlationKey", "choreographyRef",
    )
)  # fmt: skip
"""What a collaboration may hold that bears on no process."""


def look_at_children(reading: Reading, root: Tag) -> None:
    """Reports elements that stand where BPMN has none of their name, and remarks on those that are not kept."""
    for tag in root.within():
        expected = _EXPECTED.get(tag.name)
        for child in tag.children if expected is not None else ():
            if tag.name == "bpmn:collaboration" and child.name in _NOT_KEPT:
                fact = f"{with_article(child.name.removeprefix('bpmn:'))} says nothing here and is not kept"
                reading.remark("BPM013", child, fact, "Remove it, or keep the file.")
            elif expected is not None and child.name.startswith("bpmn:") and child.name not in expected:
                refuse(reading, child, expected)
