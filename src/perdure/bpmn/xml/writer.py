"""XML out: the process model as the Camunda Modeler would save it, with its drawing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

from msgspec import UNSET
from msgspec.structs import replace

from perdure.bpmn.model import Annotation, Collaboration, Definitions, Diagram, Message, Model, scopes
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import EVENT_DEFINITIONS, NOTED
from perdure.bpmn.xml.value_text import show_value
from perdure.bpmn.xml.writers.diagrams import diagram_tags
from perdure.bpmn.xml.writers.event_definitions import given
from perdure.bpmn.xml.writers.extensions import Kept
from perdure.bpmn.xml.writers.scopes import annotation_tag, association_tag, process_tag
from perdure.bpmn.xml.writers.serializer import render

_EXPORTER = {"exporter": "Perdure", "modeler:executionPlatform": "Camunda Cloud"}


def write_model(model: Model, *, platform: str = "8.6.0", with_definition_ids: bool = True) -> str:
    """The file of a model, the same for the same model; a model without a drawing is laid out.

    `platform` is the release of Camunda 8 that modellers check the file for. Every event definition has an id, without
    which Camunda 8 refuses some of them; nothing refers to it. Releases up to 0.3 wrote none.
    Raises ModelError for a character or a name that XML cannot carry.
    """
    definitions = model.definitions
    attributes = {"id": definitions.id, "targetNamespace": definitions.namespace, **_EXPORTER}
    root = Tag("bpmn:definitions", {**attributes, "modeler:executionPlatformVersion": platform})
    root.with_children(*_roots(definitions))
    root.with_children(*_referred(definitions, set(_ids(root))))
    if with_definition_ids:
        _identify(root)
    diagram = model.diagram
    if diagram is None or diagram.is_blank():
        diagram = replace(_laid_out(definitions), notes=UNSET if diagram is None else diagram.notes)
    _note(root, diagram.notes or {})
    root.with_children(*diagram_tags(diagram, definitions, dict.fromkeys(_ids(root), 1)))
    return render(root, model.file or "model.bpmn")


def _identify(root: Tag) -> None:
    """Give every event definition an id, made from that of its event."""
    taken = set(_ids(root))
    for tag in root.within():
        for definition in tag.all(*EVENT_DEFINITIONS):
            base = f"{tag.get('id')}_definition"
            numbered = (f"{base}_{number}" for number in count(2))
            id = next(each for each in chain((base,), numbered) if each not in taken)
            taken.add(id)
            definition.attributes = {"id": id, **definition.attributes}


def _note(root: Tag, notes: dict[str, str]) -> None:
    for tag in root.within() if notes else ():
        if tag.name in NOTED and (text := notes.get(tag.get("id"), "")):
            tag.children.insert(0, Tag("bpmn:documentation", text=text))


def _laid_out(definitions: Definitions) -> Diagram:

    from perdure.bpmn.layout import lay_out  # noqa: PLC0415  readers need none

    return lay_out(definitions)


def _roots(definitions: Definitions) -> Iterator[Tag]:
    if definitions.collaboration is not None:
        yield _collaboration(definitions.collaboration)
    yield from map(process_tag, definitions.processes)
    yield from map(_message, definitions.messages)
    for signal in definitions.signals:
        yield Tag("bpmn:signal", given(id=signal.id, name=signal.name))
    for error in definitions.errors:
        yield Tag("bpmn:error", given(id=error.id, name=error.name, errorCode=error.code))
    for escalation in definitions.escalations:
        attributes = given(id=escalation.id, name=escalation.name, escalationCode=escalation.code)
        yield Tag("bpmn:escalation", attributes)


def _collaboration(collaboration: Collaboration) -> Tag:
    tag = Tag("bpmn:collaboration", given(id=collaboration.id))
    for participant in collaboration.participants:
        attributes = given(id=participant.id, name=participant.name, processRef=participant.process)
        tag.with_children(Tag("bpmn:participant", attributes))
    for flow in collaboration.message_flows:
        attributes = given(
            id=flow.id, name=flow.name, sourceRef=flow.source, targetRef=flow.target, messageRef=flow.message
        )
        tag.with_children(Tag("bpmn:messageFlow", attributes))
    return tag.with_children(
        *map(annotation_tag, collaboration.annotations), *map(association_tag, collaboration.associations)
    )


def _message(message: Message) -> Tag:
    kept = Kept(message.extensions, extension_schema.OF_MESSAGE)
    modelled = {}
    if message.correlation is not None:
        key = show_value(message.correlation)
        modelled["zeebe:subscription"] = Tag("zeebe:subscription", {"correlationKey": key})
    tag = Tag("bpmn:message", {**given(id=message.id, name=message.name), **kept.attributes})
    return tag.with_children(kept.elements(modelled), *kept.standard)


def _referred(definitions: Definitions, taken: set[str]) -> Iterator[Tag]:
    """Data stores and category values that annotations refer to; their texts are the annotations'."""
    for each in _annotations(definitions):
        if not each.reference or each.reference in taken:
            continue
        if each.kind == "data_store_reference":
            yield Tag("bpmn:dataStore", given(id=each.reference, name=each.text))
        elif each.kind == "group":
            value = Tag("bpmn:categoryValue", given(id=each.reference, value=each.text))
            yield Tag("bpmn:category").with_children(value)
        taken.add(each.reference)


def _annotations(definitions: Definitions) -> Iterator[Annotation]:
    if definitions.collaboration is not None:
        yield from definitions.collaboration.annotations
    for process in definitions.processes:
        for scope in scopes(process.body):
            yield from scope.annotations


def _ids(root: Tag) -> Iterator[str]:
    yield root.get("id")
    for child in root.children:
        yield from _ids(child)
