"""The six elements of the contract profile as values, read from the extensions that the process model keeps.

Reading never fails: an attribute that is not there is an empty text, and a path or template that does not follow its
grammar carries its fault. Lint tells of both (`AME…`); after a lint without errors every value is right.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.bpmn.contract.paths import Path, parse_path
from perdure.bpmn.contract.templates import Template, parse_template
from perdure.bpmn.model import Extension, Place

PREFIX = "ameide:"
WORKFLOW, TASK, HEADERS = "ameide:workflowDefinition", "ameide:taskDefinition", "ameide:taskHeaders"
MAPPING, SUBSCRIPTION, UPDATE = "ameide:ioMapping", "ameide:subscription", "ameide:updateDefinition"
ELEMENTS = (WORKFLOW, TASK, HEADERS, MAPPING, SUBSCRIPTION, UPDATE)
HEADER, INPUT, OUTPUT = "ameide:header", "ameide:input", "ameide:output"

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    WORKFLOW: ("definitionId", "workflowType", "workflowIdTemplate"),
    TASK: ("type", "idempotencyKeyTemplate", "policyRef"),
    HEADERS: (),
    MAPPING: (),
    SUBSCRIPTION: ("correlationKeyTemplate", "messageIdPath"),
    UPDATE: ("name",),
    HEADER: ("key", "value"),
    INPUT: ("source", "target"),
    OUTPUT: ("source", "target"),
}
"""Every element of the namespace with its attributes."""
CHILDREN: dict[str, tuple[str, ...]] = {HEADERS: (HEADER,), MAPPING: (INPUT, OUTPUT)}

MESSAGE_ID = "message_id"
"""The only `messageIdPath` there is."""
DEFAULT_IDEMPOTENCY_KEY = "${process_instance_id}/${step_id}/${step_instance_id}"
NOWHERE = Place(0, 0)


class WorkflowDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """How a process is identified. `workflow_type` is the id of the process where the model names none."""

    definition_id: str
    workflow_type: str
    workflow_id: Template
    place: Place = NOWHERE


class TaskDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """What automated work is: a type, a policy, and a key by which the outside counts it once.

    `idempotency_key` is the default, `<instance>/<step>/<step_instance>`, where the model has none.
    """

    type: str
    policy: str
    idempotency_key: Template
    is_default_key: bool = False
    place: Place = NOWHERE


class Header(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    value: str
    place: Place = NOWHERE


class TaskHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """Literal metadata of a task, in the order of the file."""

    headers: tuple[Header, ...] = ()
    place: Place = NOWHERE

    def as_dict(self) -> dict[str, str]:
        return {each.key: each.value for each in self.headers}


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an `ioMapping`: an input leads from the state into the request, an output from the result into it."""

    direction: Literal["input", "output"]
    source: Path
    target: Path
    place: Place = NOWHERE


class IoMapping(msgspec.Struct, frozen=True, kw_only=True):
    """Assignments in the order of the file, which is the order in which they are done."""

    assignments: tuple[Assignment, ...] = ()
    place: Place = NOWHERE

    @property
    def inputs(self) -> tuple[Assignment, ...]:
        return tuple(each for each in self.assignments if each.direction == "input")

    @property
    def outputs(self) -> tuple[Assignment, ...]:
        return tuple(each for each in self.assignments if each.direction == "output")


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """What ends the waits for a message: its key, and where its id is (always `message_id`)."""

    correlation_key: Template
    message_id_path: str
    place: Place = NOWHERE


class UpdateDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """The name of the Update that answers a user task."""

    name: str
    place: Place = NOWHERE


ContractElement = WorkflowDefinition | TaskDefinition | TaskHeaders | IoMapping | Subscription | UpdateDefinition


def workflow_definition(extension: Extension, process: str, place: Place = NOWHERE) -> WorkflowDefinition:
    """`process` is the id of the process, by which the workflow is called where nothing else is said."""
    attributes = extension.attributes
    return WorkflowDefinition(
        definition_id=attributes.get("definitionId", ""),
        workflow_type=attributes.get("workflowType", "").strip() or process,
        workflow_id=parse_template(attributes.get("workflowIdTemplate", "")),
        place=place,
    )


def task_definition(extension: Extension, place: Place = NOWHERE) -> TaskDefinition:
    attributes = extension.attributes
    template = attributes.get("idempotencyKeyTemplate")
    return TaskDefinition(
        type=attributes.get("type", ""),
        policy=attributes.get("policyRef", ""),
        idempotency_key=parse_template(DEFAULT_IDEMPOTENCY_KEY if template is None else template),
        is_default_key=template is None,
        place=place,
    )


def task_headers(extension: Extension, place: Place = NOWHERE) -> TaskHeaders:
    return TaskHeaders(
        headers=tuple(
            Header(key=each.attributes.get("key", ""), value=each.attributes.get("value", ""), place=place)
            for each in extension.children
            if each.name == HEADER
        ),
        place=place,
    )


def io_mapping(extension: Extension, place: Place = NOWHERE) -> IoMapping:
    return IoMapping(
        assignments=tuple(
            Assignment(
                direction="input" if each.name == INPUT else "output",
                source=parse_path(each.attributes.get("source", "")),
                target=parse_path(each.attributes.get("target", "")),
                place=place,
            )
            for each in extension.children
            if each.name in (INPUT, OUTPUT)
        ),
        place=place,
    )


def subscription(extension: Extension, place: Place = NOWHERE) -> Subscription:
    return Subscription(
        correlation_key=parse_template(extension.attributes.get("correlationKeyTemplate", "")),
        message_id_path=extension.attributes.get("messageIdPath", ""),
        place=place,
    )


def update_definition(extension: Extension, place: Place = NOWHERE) -> UpdateDefinition:
    return UpdateDefinition(name=extension.attributes.get("name", ""), place=place)
