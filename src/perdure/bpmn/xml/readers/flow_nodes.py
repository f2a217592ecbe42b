"""Flow nodes in: tasks, call activities, gateways and events. Subprocesses are read with the scopes they are."""

from __future__ import annotations

import re
from typing import Literal

from perdure.bpmn.model import CallActivity, Event, Gateway, GatewayKind, Position, Task, TaskKind
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.readers.event_definitions import TRIGGER_TAGS, condition_of, definitions_of, read_trigger
from perdure.bpmn.xml.readers.extensions import documentation, read_extras
from perdure.bpmn.xml.readers.file_context import Reading
from perdure.bpmn.xml.readers.loop_characteristics import LOOP_TAGS, read_repeat

TASK_KINDS: dict[str, TaskKind] = {
    "bpmn:task": "none",
    "bpmn:serviceTask": "service",
    "bpmn:sendTask": "send",
    "bpmn:receiveTask": "receive",
    "bpmn:userTask": "user",
    "bpmn:manualTask": "manual",
    "bpmn:scriptTask": "script",
    "bpmn:businessRuleTask": "business_rule",
}
GATEWAY_KINDS: dict[str, GatewayKind] = {
    "bpmn:exclusiveGateway": "exclusive",
    "bpmn:parallelGateway": "parallel",
    "bpmn:inclusiveGateway": "inclusive",
    "bpmn:eventBasedGateway": "event",
    "bpmn:complexGateway": "complex",
}
POSITIONS: dict[str, Position] = {
    "bpmn:startEvent": "start",
    "bpmn:intermediateCatchEvent": "catch",
    "bpmn:intermediateThrowEvent": "throw",
    "bpmn:boundaryEvent": "boundary",
    "bpmn:endEvent": "end",
}
_OF_SCRIPT_TASK = LOOP_TAGS | {"bpmn:script"}
CALLABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,199}")
VERB = re.compile(r"(?=.{1,200}$)[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*")
_IMPLEMENTED = frozenset(("bpmn:serviceTask", "bpmn:sendTask", "bpmn:businessRuleTask"))
_OF_GATEWAY = frozenset(("bpmn:activationCondition",))
_INTERRUPTS: dict[Position, Literal["isInterrupting", "cancelActivity"]] = {
    "start": "isInterrupting",
    "boundary": "cancelActivity",
}


def read_task(reading: Reading, tag: Tag) -> Task:
    handled = _OF_SCRIPT_TASK if tag.name == "bpmn:scriptTask" else LOOP_TAGS
    extra = read_extras(reading, tag, extension_schema.OF_TASK, handled)
    repeat = read_repeat(reading, tag)
    people, schedule = extra.get("zeebe:assignmentDefinition"), extra.get("zeebe:taskSchedule")
    form = extra.get("zeebe:formDefinition")
    script, named = _script(reading, tag, extra.task_type(reading, tag))
    if not named and tag.name in _IMPLEMENTED and VERB.fullmatch(tag.get("implementation")):
        named, extra = tag.get("implementation"), extra.without("implementation")
    return Task(
        id=reading.id(tag),
        name=tag.get("name"),
        documentation=documentation(tag),
        properties=extra.properties(reading),
        extensions=extra.rest + repeat.rest,
        default=tag.get("default"),
        repeat=repeat.how,
        is_for_compensation=reading.boolean(tag, "isForCompensation"),
        mappings=extra.mappings(),
        kind=TASK_KINDS[tag.name],
        type=named,
        retries=reading.number(extra.get("zeebe:taskDefinition"), "retries", is_feel=True),
        headers=extra.headers(reading),
        message=reading.reference(tag, "messageRef"),
        is_instantiating=reading.boolean(tag, "instantiate"),
        script=script,
        script_language=tag.get("scriptFormat"),
        is_native="zeebe:userTask" in extra.modelled,
        assignee=reading.value(people, "assignee"),
        groups=reading.value(people, "candidateGroups"),
        users=reading.value(people, "candidateUsers"),
        due=reading.value(schedule, "dueDate"),
        follow_up=reading.value(schedule, "followUpDate"),
        priority=reading.value(extra.get("zeebe:priorityDefinition"), "priority"),
        form=form.get("formId") or form.get("formKey"),
    )


def _script(reading: Reading, tag: Tag, type: str) -> tuple[str, str]:
    """The text of a script and the task's type: a text that is but a name names a callable, it is no code."""
    found = reading.only(tag, "bpmn:script")
    text = "" if found is None else found.text
    if not type and tag.name == "bpmn:scriptTask" and CALLABLE.fullmatch(text.strip()):
        return "", text.strip()
    return text, type


def read_call(reading: Reading, tag: Tag) -> CallActivity:
    extra = read_extras(reading, tag, extension_schema.OF_CALL, LOOP_TAGS)
    repeat = read_repeat(reading, tag)
    called = extra.get("zeebe:calledElement")
    return CallActivity(
        id=reading.id(tag),
        name=tag.get("name"),
        documentation=documentation(tag),
        properties=extra.properties(reading),
        extensions=extra.rest + repeat.rest,
        default=tag.get("default"),
        repeat=repeat.how,
        is_for_compensation=reading.boolean(tag, "isForCompensation"),
        mappings=extra.mappings(),
        process=_called(reading, tag, called.get("processId")),
        hands_all=reading.boolean(called, "propagateAllParentVariables", True),
        returns_all=reading.boolean(called, "propagateAllChildVariables", True),
    )


def _called(reading: Reading, tag: Tag, process: str) -> str:
    plain = reading.reference(tag, "calledElement")
    if process and plain and plain != process:
        fact = f"it calls '{plain[:80]}' by its attribute and '{process[:80]}' by zeebe:calledElement"
        reading.report("BPM015", tag, fact, "Keep one of them.")
    return process or plain


def read_gateway(reading: Reading, tag: Tag) -> Gateway:
    extra = read_extras(reading, tag, extension_schema.OF_NODE, _OF_GATEWAY)
    return Gateway(
        id=reading.id(tag),
        name=tag.get("name"),
        documentation=documentation(tag),
        properties=extra.properties(reading),
        extensions=extra.rest,
        kind=GATEWAY_KINDS[tag.name],
        default=tag.get("default"),
        activation=condition_of(reading, tag, "bpmn:activationCondition"),
        is_instantiating=reading.boolean(tag, "instantiate"),
    )


def read_event(reading: Reading, tag: Tag) -> Event:
    definitions = definitions_of(reading, tag)
    extra = read_extras(reading, tag, extension_schema.OF_EVENT, TRIGGER_TAGS, definitions)
    position = POSITIONS[tag.name]
    interrupts = _INTERRUPTS.get(position)
    return Event(
        id=reading.id(tag),
        name=tag.get("name"),
        documentation=documentation(tag),
        properties=extra.properties(reading),
        extensions=extra.rest,
        position=position,
        triggers=tuple(read_trigger(reading, each) for each in definitions),
        is_parallel=reading.boolean(tag, "parallelMultiple"),
        attached_to=_host(reading, tag) if position == "boundary" else "",
        is_interrupting=interrupts is None or reading.boolean(tag, interrupts, True),
        type=extra.task_type(reading, tag),
        retries=reading.number(extra.get("zeebe:taskDefinition"), "retries", is_feel=True),
        headers=extra.headers(reading),
        mappings=extra.mappings(),
    )


def _host(reading: Reading, tag: Tag) -> str:
    return reading.resolve(reading.required(tag, "attachedToRef"))
