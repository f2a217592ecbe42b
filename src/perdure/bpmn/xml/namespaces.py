"""Namespaces with their usual prefixes, and the names of BPMN that we recognise without giving them a meaning."""

from __future__ import annotations

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"

NAMESPACES = {
    "bpmn": BPMN,
    "bpmndi": "http://www.omg.org/spec/BPMN/20100524/DI",
    "dc": "http://www.omg.org/spec/DD/20100524/DC",
    "di": "http://www.omg.org/spec/DD/20100524/DI",
    "zeebe": "http://camunda.org/schema/zeebe/1.0",
    "modeler": "http://camunda.org/schema/modeler/1.0",
    "camunda": "http://camunda.org/schema/1.0/bpmn",
    "ameide": "https://ameide.io/schema/bpmn/extensions/v1",
    "bioc": "http://bpmn.io/schema/bpmn/biocolor/1.0",
    "color": "http://www.omg.org/spec/BPMN/non-normative/color/1.0",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xml": "http://www.w3.org/XML/1998/namespace",
}
PREFIXES = {uri: prefix for prefix, uri in NAMESPACES.items()}


SEPARATOR = "\x01"
"""Between namespace and name as expat gives them: a character no XML can hold."""


def usual(raw: str) -> str:
    """A name as expat gives it, with the usual prefix instead of the namespace."""
    uri, separator, local = raw.rpartition(SEPARATOR)
    if not separator:
        return local
    prefix = PREFIXES.get(uri)
    return f"{{{uri}}}{local}" if prefix is None else f"{prefix}:{local}"


def with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


TASKS = (
    "bpmn:task", "bpmn:serviceTask", "bpmn:sendTask", "bpmn:receiveTask", "bpmn:userTask", "bpmn:manualTask",
    "bpmn:scriptTask", "bpmn:businessRuleTask",
)  # fmt: skip
SUB_PROCESSES = ("bpmn:subProcess", "bpmn:transaction", "bpmn:adHocSubProcess")
GATEWAYS = (
    "bpmn:exclusiveGateway", "bpmn:parallelGateway", "bpmn:inclusiveGateway", "bpmn:eventBasedGateway",
    "bpmn:complexGateway",
)  # fmt: skip
EVENTS = (
    "bpmn:startEvent", "bpmn:intermediateCatchEvent", "bpmn:intermediateThrowEvent", "bpmn:boundaryEvent",
    "bpmn:endEvent",
)  # fmt: skip
EVENT_DEFINITIONS = (
    "bpmn:messageEventDefinition", "bpmn:timerEventDefinition", "bpmn:signalEventDefinition",
    "bpmn:errorEventDefinition", "bpmn:escalationEventDefinition", "bpmn:compensateEventDefinition",
    "bpmn:linkEventDefinition", "bpmn:conditionalEventDefinition", "bpmn:terminateEventDefinition",
    "bpmn:cancelEventDefinition",
)  # fmt: skip
EXPRESSIONS = (
    "bpmn:conditionExpression", "bpmn:condition", "bpmn:timeDuration", "bpmn:timeDate", "bpmn:timeCycle",
    "bpmn:activationCondition", "bpmn:completionCondition", "bpmn:loopCondition", "bpmn:loopCardinality",
)  # fmt: skip
DATA = ("bpmn:dataObject", "bpmn:dataObjectReference", "bpmn:dataStoreReference")
ARTIFACTS = ("bpmn:textAnnotation", "bpmn:group")
NOTED = frozenset((
    "bpmn:collaboration", "bpmn:participant", "bpmn:messageFlow", "bpmn:lane", "bpmn:message", "bpmn:signal",
    "bpmn:error", "bpmn:escalation", "bpmn:association", *DATA, *ARTIFACTS,
))  # fmt: skip
"""What has no meaning but by its name and its references: what is written about it is kept with the drawing."""
FLOW_NODES = frozenset((*TASKS, *SUB_PROCESSES, *GATEWAYS, *EVENTS, "bpmn:callActivity"))
SCOPE_CONTENT = FLOW_NODES | {"bpmn:sequenceFlow", "bpmn:association", *DATA, *ARTIFACTS}

GLOBAL_TASKS = (
    "bpmn:globalTask", "bpmn:globalUserTask", "bpmn:globalManualTask", "bpmn:globalScriptTask",
    "bpmn:globalBusinessRuleTask",
)  # fmt: skip
WITHOUT_MEANING_AT_THE_ROOT = frozenset(GLOBAL_TASKS).union(
    "bpmn:" + name
    for name in (
        "import", "extension", "documentation", "extensionElements", "itemDefinition", "interface", "resource",
        "dataStore", "category", "correlationProperty", "partnerEntity", "partnerRole", "endPoint", "relationship",
    )
)  # fmt: skip
"""Root elements that bear on nothing we run."""

NOT_SUPPORTED = frozenset(
    "bpmn:" + name
    for name in (
        "choreography", "globalChoreographyTask", "globalConversation", "choreographyTask", "subChoreography",
        "callChoreography", "implicitThrowEvent", "conversation", "callConversation", "subConversation",
        "conversationLink", "conversationAssociation",
    )
)  # fmt: skip

PARTS = frozenset(
    "bpmn:" + name
    for name in (
        "script", "text", "incoming", "outgoing", "flowNodeRef", "eventDefinitionRef", "categoryValue", "operation",
        "participantMultiplicity", "dataInputRefs", "dataOutputRefs", "sourceRef", "targetRef", "assignment",
        "transformation", "formalExpression", "resourceRef", "resourceAssignmentExpression", "resourceParameterBinding",
    )
)  # fmt: skip
"""Elements that are only ever inside certain others."""

KEPT = frozenset(
    "bpmn:" + name
    for name in (
        "auditing", "monitoring", "categoryValueRef", "ioSpecification", "property", "dataInputAssociation",
        "dataOutputAssociation", "dataInput", "dataOutput", "inputSet", "outputSet", "resourceRole", "performer",
        "humanPerformer", "potentialOwner", "rendering", "laneSet", "correlationSubscription", "supports",
        "supportedInterfaceRef", "ioBinding", "dataState", "loopDataInputRef", "loopDataOutputRef", "inputDataItem",
        "outputDataItem", "complexBehaviorDefinition",
    )
)  # fmt: skip
"""Standard content we give no meaning to: it is kept as an extension and written back where it stood."""
