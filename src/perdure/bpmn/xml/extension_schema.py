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

PARTS_OF: dict[str, dict[str, str]] = {
    "zeebe:taskHeaders": {"zeebe:header": "key"},
    "zeebe:ioMapping": {"zeebe:input": "target", "zeebe:output": "target"},
    "zeebe:properties": {"zeebe:property": "name"},
}
"""What elements of ours consist of, each part with the attribute that tells it from others."""

PARTS = {part: holder for holder, parts in PARTS_OF.items() for part in parts}
"""Every such part with the element it belongs into."""

_OF_MAPPING = frozenset(("source", "target"))
ATTRIBUTES_OF: dict[str, frozenset[str]] = {
    **{name: frozenset(known) for name, known in MODELLED.items()},
    "zeebe:calledElement": frozenset((
        *MODELLED["zeebe:calledElement"], "processIdExpression", "bindingType", "versionTag",
    )),
    "zeebe:formDefinition": frozenset(("formId", "formKey", "externalReference", "bindingType", "versionTag")),
    "zeebe:header": frozenset(("key", "value")),
    "zeebe:input": _OF_MAPPING,
    "zeebe:output": _OF_MAPPING,
    "zeebe:property": frozenset(("name", "value")),
    LOOP: frozenset(("inputCollection", "inputElement", "outputCollection", "outputElement")),
}  # fmt: skip
"""The attributes of elements of Camunda 8 as its Modeler knows them, read here or not; any of them may have an id."""

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

_OF_USER_TASK = "Put it into a user task."
_OF_WORK = "Put it into the task that does the work."
PLACES = {
    "zeebe:taskDefinition": _OF_WORK,
    "zeebe:taskHeaders": _OF_WORK,
    "zeebe:ioMapping": "Put it into the activity or event whose data it is about.",
    "zeebe:versionTag": "Put it into the process.",
    "zeebe:subscription": "Put it into the message that is waited for.",
    "zeebe:userTask": _OF_USER_TASK,
    "zeebe:assignmentDefinition": _OF_USER_TASK,
    "zeebe:taskSchedule": _OF_USER_TASK,
    "zeebe:priorityDefinition": _OF_USER_TASK,
    "zeebe:formDefinition": _OF_USER_TASK,
    "zeebe:calledElement": "Make the element a call activity.",
    LOOP: "Put it into multiInstanceLoopCharacteristics of the activity.",
    **{part: f"Put it into {holder}." for part, holder in PARTS.items()},
}
"""Where elements of Camunda 8 say something; properties only describe, and may stand anywhere."""

WITHOUT_EFFECT = {
    "zeebe:publishMessage": (
        "how a message is published",
        "Remove it: the message has its key by zeebe:subscription. Let a verb send one with an id or a time to live.",
    ),
    "zeebe:jobPriorityDefinition": ("which jobs go first", "Remove it: jobs have no priority here."),
}
"""Elements of Camunda 8 that say nothing here wherever they stand: what they are about, and what to do instead."""

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
