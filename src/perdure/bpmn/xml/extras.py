"""Which extension elements have a place in the process model; what is beyond stays an extension of the same name."""

from __future__ import annotations

ATTRIBUTES = "attributes"
"""Name of the extension that keeps attributes we give no meaning to."""

MODELLED: dict[str, tuple[str, ...]] = {
    "zeebe:taskDefinition": ("type", "retries"),
    "zeebe:taskHeaders": (),
    "zeebe:ioMapping": (),
    "zeebe:properties": (),
    "zeebe:versionTag": ("value",),
    "zeebe:subscription": ("correlationKey",),
    "zeebe:userTask": (),
    "zeebe:assignmentDefinition": ("assignee", "candidateGroups", "candidateUsers"),
    "zeebe:taskSchedule": ("dueDate", "followUpDate"),
    "zeebe:priorityDefinition": ("priority",),
    "zeebe:formDefinition": ("formId",),
    "zeebe:calledElement": ("processId", "propagateAllParentVariables", "propagateAllChildVariables"),
}
"""Elements in the order they are written, each with the attributes that have a place."""

LOOP = "zeebe:loopCharacteristics"
MULTI_INSTANCE = "bpmn:multiInstanceLoopCharacteristics"
STANDARD_LOOP = "bpmn:standardLoopCharacteristics"
LOOPS = frozenset((STANDARD_LOOP, MULTI_INSTANCE))

PARTS = frozenset(("zeebe:header", "zeebe:input", "zeebe:output", "zeebe:property"))

ZEEBE = frozenset((
    *MODELLED, *PARTS, LOOP, "zeebe:adHoc", "zeebe:calledDecision", "zeebe:conditionalFilter",
    "zeebe:executionListener", "zeebe:executionListeners", "zeebe:inbound", "zeebe:jobPriorityDefinition",
    "zeebe:linkedResource", "zeebe:linkedResources", "zeebe:publishMessage", "zeebe:script", "zeebe:taskListener",
    "zeebe:taskListeners", "zeebe:userTaskForm",
))  # fmt: skip
"""Every extension element of Camunda 8."""

OF_PROCESS = frozenset(("zeebe:properties", "zeebe:versionTag"))
OF_MESSAGE = frozenset(("zeebe:subscription",))
OF_NODE = frozenset(("zeebe:properties",))
OF_ACTIVITY = OF_NODE | {"zeebe:ioMapping"}
OF_CALL = OF_ACTIVITY | {"zeebe:calledElement"}
OF_EVENT = OF_ACTIVITY | {"zeebe:taskDefinition", "zeebe:taskHeaders"}
OF_TASK = OF_EVENT | {
    "zeebe:userTask", "zeebe:assignmentDefinition", "zeebe:taskSchedule", "zeebe:priorityDefinition",
    "zeebe:formDefinition",
}  # fmt: skip

KNOWN_ATTRIBUTES = frozenset((
    "id", "name", "default", "isForCompensation", "triggeredByEvent", "ordering", "cancelRemainingInstances",
    "messageRef", "instantiate", "scriptFormat", "calledElement", "attachedToRef", "cancelActivity",
    "isInterrupting", "parallelMultiple", "sourceRef", "targetRef", "isExecutable", "gatewayDirection", "isImmediate",
    "isClosed", "processType", "operationRef", "itemRef", "isSequential", "testBefore", "loopMaximum", "xsi:type",
    "signalRef", "errorRef", "escalationRef", "activityRef", "waitForCompletion", "language", "evaluatesToTypeRef",
))  # fmt: skip
"""Attributes that are read, or that bear on nothing we run."""

WITHOUT_MEANING = {
    "startQuantity": ("1",),
    "completionQuantity": ("1",),
    "implementation": ("", "##WebService", "##unspecified", "##Other"),
    "eventGatewayType": ("Exclusive",),
    "method": ("", "##Compensate", "compensate"),
    "behavior": ("All",),
}
"""Attributes that only repeat the default when they have one of these values."""
