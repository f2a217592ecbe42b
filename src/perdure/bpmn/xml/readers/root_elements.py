"""Root elements in: processes, collaborations, messages, signals, errors and escalations."""

from __future__ import annotations

from perdure.bpmn.model import (
    Collaboration,
    Definitions,
    Error,
    Escalation,
    Message,
    MessageFlow,
    Participant,
    Process,
    Signal,
    Value,
)
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import EVENT_DEFINITIONS, FLOW_NODES, WITHOUT_MEANING_AT_THE_ROOT
from perdure.bpmn.xml.readers.extensions import Extras, read_extras, refuse
from perdure.bpmn.xml.readers.file_context import Reading
from perdure.bpmn.xml.readers.scopes import read_annotation, read_association, read_process
from perdure.bpmn.xml.value_text import parse_value

_ROOTS = frozenset((
    "bpmn:process", "bpmn:collaboration", "bpmn:message", "bpmn:signal", "bpmn:error", "bpmn:escalation",
    *EVENT_DEFINITIONS,
))  # fmt: skip
_OF_MESSAGE = frozenset(("bpmn:itemDefinition",))
DEFAULT_ID = "Definitions_1"


def read_definitions(reading: Reading, root: Tag) -> Definitions:
    _look_around(reading, root)
    collaborations = list(root.all("bpmn:collaboration"))
    for second in collaborations[1:]:
        reading.report("BPM013", second, "a file holds one collaboration here", "Put it into a file of its own.")
    return Definitions(
        id=root.get("id") or DEFAULT_ID,
        namespace=root.get("targetNamespace"),
        processes=_processes(reading, list(root.all("bpmn:process"))),
        collaboration=_collaboration(reading, collaborations[0]) if collaborations else None,
        messages=tuple(_message(reading, tag) for tag in root.all("bpmn:message")),
        signals=tuple(Signal(id=reading.id(tag), name=tag.get("name")) for tag in root.all("bpmn:signal")),
        errors=tuple(
            Error(id=reading.id(tag), name=tag.get("name"), code=tag.get("errorCode")) for tag in root.all("bpmn:error")
        ),
        escalations=tuple(
            Escalation(id=reading.id(tag), name=tag.get("name"), code=tag.get("escalationCode"))
            for tag in root.all("bpmn:escalation")
        ),
    )


def _look_around(reading: Reading, root: Tag) -> None:
    """Notes what others refer to by id, and reports what has no business at the root."""
    for child in root.children:
        if child.name in EVENT_DEFINITIONS:
            reading.definitions[reading.id(child)] = child
        elif child.name == "bpmn:dataStore":
            reading.values[child.get("id")] = child.get("name")
        elif child.name == "bpmn:category":
            reading.values.update({each.get("id"): each.get("value") for each in child.all("bpmn:categoryValue")})
        elif child.name.startswith("bpmn:") and child.name not in _ROOTS | WITHOUT_MEANING_AT_THE_ROOT:
            refuse(reading, child, _ROOTS)


def _processes(reading: Reading, tags: list[Tag]) -> tuple[Process, ...]:
    """Executable are those that say so; where none does, those that hold something to execute."""
    said = [reading.boolean(tag, "isExecutable") if "isExecutable" in tag.attributes else None for tag in tags]

    def is_executable(tag: Tag, is_said: bool | None) -> bool:
        holds_something = len(tags) == 1 or any(child.name in FLOW_NODES for child in tag.children)
        return True not in said and holds_something if is_said is None else is_said

    return tuple(read_process(reading, *each) for each in zip(tags, map(is_executable, tags, said), strict=True))


def _collaboration(reading: Reading, tag: Tag) -> Collaboration:
    return Collaboration(
        id=reading.id(tag),
        participants=tuple(_participant(reading, each) for each in tag.all("bpmn:participant")),
        message_flows=tuple(_message_flow(reading, each) for each in tag.all("bpmn:messageFlow")),
        annotations=tuple(read_annotation(reading, each) for each in tag.all("bpmn:textAnnotation", "bpmn:group")),
        associations=tuple(read_association(reading, each) for each in tag.all("bpmn:association")),
    )


def _participant(reading: Reading, tag: Tag) -> Participant:
    return Participant(id=reading.id(tag), name=tag.get("name"), process=reading.reference(tag, "processRef"))


def _message_flow(reading: Reading, tag: Tag) -> MessageFlow:
    reading.required(tag, "sourceRef")
    reading.required(tag, "targetRef")
    return MessageFlow(
        id=reading.id(tag),
        source=reading.reference(tag, "sourceRef"),
        target=reading.reference(tag, "targetRef"),
        name=tag.get("name"),
        message=reading.reference(tag, "messageRef"),
    )


def _message(reading: Reading, tag: Tag) -> Message:
    extra = read_extras(reading, tag, extension_schema.OF_MESSAGE, _OF_MESSAGE)
    correlation = _correlation(reading, extra)
    return Message(id=reading.id(tag), name=tag.get("name"), correlation=correlation, extensions=extra.rest)


def _correlation(reading: Reading, extra: Extras) -> Value | None:
    """The key of a wait; the contract profile writes it as a template over the state."""
    said = reading.value(extra.get("zeebe:subscription"), "correlationKey")
    contract = next((each.attributes for each in extra.rest if each.name == "ameide:subscription"), {})
    template = contract.get("correlationKeyTemplate")
    return parse_value(template) if said is None and template is not None else said
