"""The attributes an element of BPMN 2.0 may have, and what those may say that are never read."""

from __future__ import annotations

_ACTIVITY = "name default isForCompensation startQuantity completionQuantity"
_GATEWAY = "name gatewayDirection default"
_CATCHING = "name parallelMultiple"
_DATA = "name itemSubjectRef isCollection"
_EXPRESSION = "language evaluatesToTypeRef"

_TABLE = {
    "definitions": "name targetNamespace expressionLanguage typeLanguage exporter exporterVersion",
    "process": "name processType isClosed isExecutable definitionalCollaborationRef",
    "collaboration": "name isClosed",
    "participant": "name processRef",
    "messageFlow": "name sourceRef targetRef messageRef",
    "task manualTask": _ACTIVITY,
    "userTask businessRuleTask": f"{_ACTIVITY} implementation",
    "serviceTask": f"{_ACTIVITY} implementation operationRef",
    "sendTask": f"{_ACTIVITY} implementation operationRef messageRef",
    "receiveTask": f"{_ACTIVITY} implementation operationRef messageRef instantiate",
    "scriptTask": f"{_ACTIVITY} scriptFormat",
    "callActivity": f"{_ACTIVITY} calledElement",
    "subProcess": f"{_ACTIVITY} triggeredByEvent",
    "transaction": f"{_ACTIVITY} triggeredByEvent method",
    "adHocSubProcess": f"{_ACTIVITY} triggeredByEvent cancelRemainingInstances ordering",
    "exclusiveGateway parallelGateway inclusiveGateway complexGateway": _GATEWAY,
    "eventBasedGateway": f"{_GATEWAY} instantiate eventGatewayType",
    "startEvent": f"{_CATCHING} isInterrupting",
    "intermediateCatchEvent": _CATCHING,
    "boundaryEvent": f"{_CATCHING} cancelActivity attachedToRef",
    "intermediateThrowEvent endEvent linkEventDefinition laneSet childLaneSet category": "name",
    "timerEventDefinition conditionalEventDefinition terminateEventDefinition cancelEventDefinition": "",
    "messageEventDefinition": "messageRef operationRef",
    "signalEventDefinition": "signalRef",
    "errorEventDefinition": "errorRef",
    "escalationEventDefinition": "escalationRef",
    "compensateEventDefinition": "activityRef waitForCompletion",
    "standardLoopCharacteristics": "testBefore loopMaximum",
    "multiInstanceLoopCharacteristics": "isSequential behavior oneBehaviorEventRef noneBehaviorEventRef",
    "conditionExpression condition timeDuration timeDate timeCycle": _EXPRESSION,
    "activationCondition completionCondition loopCondition loopCardinality": _EXPRESSION,
    "sequenceFlow": "name sourceRef targetRef isImmediate",
    "association": "sourceRef targetRef associationDirection",
    "textAnnotation": "name textFormat",
    "group": "name categoryValueRef",
    "dataObject dataInput dataOutput property": _DATA,
    "dataObjectReference": "name itemSubjectRef dataObjectRef",
    "dataStoreReference": "name itemSubjectRef dataStoreRef",
    "lane": "name partitionElementRef",
    "message": "name itemRef",
    "signal": "name structureRef",
    "error": "name errorCode structureRef",
    "escalation": "name escalationCode structureRef",
}
KNOWN = {
    f"bpmn:{element}": frozenset(("id", *known.split()))
    for elements, known in _TABLE.items()
    for element in elements.split()
}
"""By element, the attributes without a prefix that it may have."""

VALUES = {
    "gatewayDirection": ("Unspecified", "Converging", "Diverging", "Mixed"),
    "processType": ("None", "Public", "Private"),
}
"""What attributes may say that bear on nothing we run."""
