"""Scopes in: what processes and subprocesses hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from perdure.bpmn.model import Annotation, Association, Flow, Node, Process, Scope, SubProcess, SubProcessKind
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import DATA, SCOPE_CONTENT, with_article
from perdure.bpmn.xml.readers import flow_nodes
from perdure.bpmn.xml.readers.event_definitions import condition_of
from perdure.bpmn.xml.readers.extensions import documentation, read_extras
from perdure.bpmn.xml.readers.file_context import Reading
from perdure.bpmn.xml.readers.lanes import read_lanes_of
from perdure.bpmn.xml.readers.loop_characteristics import LOOP_TAGS, read_repeat

_ORDERINGS: dict[str, Literal["parallel", "sequential"]] = {"Parallel": "parallel", "Sequential": "sequential"}
_DIRECTIONS: dict[str, Literal["None", "One", "Both"]] = {"None": "None", "One": "One", "Both": "Both"}
_OF_FLOW = frozenset(("bpmn:conditionExpression",))
_COMPLETION = "bpmn:completionCondition"
_OF_SUB_PROCESS = SCOPE_CONTENT | LOOP_TAGS | {_COMPLETION}
_OF_PROCESS = SCOPE_CONTENT | {"bpmn:laneSet"}


def read_process(reading: Reading, tag: Tag, is_executable: bool) -> Process:
    extra = read_extras(reading, tag, extension_schema.OF_PROCESS, _OF_PROCESS)
    return Process(
        id=reading.id(tag),
        name=tag.get("name"),
        documentation=documentation(tag),
        is_executable=is_executable,
        version_tag=extra.get("zeebe:versionTag").get("value"),
        properties=extra.properties(reading),
        extensions=extra.rest,
        lanes=read_lanes_of(reading, tag),
        body=_scope(reading, tag),
    )


def read_annotation(reading: Reading, tag: Tag) -> Annotation:
    return _ANNOTATIONS[tag.name](reading, tag)


def read_association(reading: Reading, tag: Tag) -> Association:
    reading.required(tag, "sourceRef")
    reading.required(tag, "targetRef")
    return Association(
        id=reading.id(tag),
        source=reading.reference(tag, "sourceRef"),
        target=reading.reference(tag, "targetRef"),
        direction=reading.choice(tag, "associationDirection", _DIRECTIONS, "None"),
    )


def _scope(reading: Reading, tag: Tag) -> Scope:
    data = [read_annotation(reading, child) for child in tag.all(*DATA)]
    artifacts = [read_annotation(reading, child) for child in tag.all("bpmn:textAnnotation", "bpmn:group")]
    return Scope(
        nodes=tuple(_NODES[child.name](reading, child) for child in tag.children if child.name in _NODES),
        flows=tuple(_flow(reading, child) for child in tag.all("bpmn:sequenceFlow")),
        associations=tuple(read_association(reading, child) for child in tag.all("bpmn:association")),
        annotations=(*data, *artifacts),
    )


def _sub_process(reading: Reading, tag: Tag) -> SubProcess:
    extra = read_extras(reading, tag, extension_schema.OF_ACTIVITY, _OF_SUB_PROCESS)
    repeat = read_repeat(reading, tag)
    return SubProcess(
        id=reading.id(tag),
        name=tag.get("name"),
        documentation=documentation(tag),
        properties=extra.properties(reading),
        extensions=extra.rest + repeat.rest,
        default=tag.get("default"),
        repeat=repeat.how,
        is_for_compensation=reading.boolean(tag, "isForCompensation"),
        mappings=extra.mappings(),
        kind=_kind(reading, tag),
        body=_scope(reading, tag),
        ordering=reading.choice(tag, "ordering", _ORDERINGS, "parallel"),
        completion=condition_of(reading, tag, _COMPLETION),
        cancels_remaining=reading.boolean(tag, "cancelRemainingInstances", True),
    )


def _kind(reading: Reading, tag: Tag) -> SubProcessKind:
    if reading.boolean(tag, "triggeredByEvent"):
        if tag.name != "bpmn:subProcess":
            local = tag.name.removeprefix("bpmn:")
            hint = f"Put the {local} into an event subprocess, or remove the attribute."
            reading.report("BPM014", tag, f"triggeredByEvent is true, and no event begins {with_article(local)}", hint)
        return "event"
    match tag.name:
        case "bpmn:transaction":
            return "transaction"
        case "bpmn:adHocSubProcess":
            return "ad_hoc"
        case _:
            return "embedded"


def _flow(reading: Reading, tag: Tag) -> Flow:
    extra = read_extras(reading, tag, frozenset(), _OF_FLOW)
    return Flow(
        id=reading.id(tag),
        source=reading.required(tag, "sourceRef"),
        target=reading.required(tag, "targetRef"),
        name=tag.get("name"),
        condition=condition_of(reading, tag, "bpmn:conditionExpression"),
        documentation=documentation(tag),
        extensions=extra.rest,
    )


def _text(reading: Reading, tag: Tag) -> Annotation:
    text = tag.first("bpmn:text")
    return Annotation(id=reading.id(tag), text="" if text is None else text.text, name=tag.get("name"))


def _group(reading: Reading, tag: Tag) -> Annotation:
    value = reading.reference(tag, "categoryValueRef")
    return Annotation(
        id=reading.id(tag), kind="group", text=reading.values.get(value, ""), name=tag.get("name"), reference=value
    )


def _data_object(reading: Reading, tag: Tag) -> Annotation:
    return Annotation(id=reading.id(tag), kind="data_object", name=tag.get("name"))


def _data_object_reference(reading: Reading, tag: Tag) -> Annotation:
    reference = reading.reference(tag, "dataObjectRef")
    return Annotation(id=reading.id(tag), kind="data_object_reference", name=tag.get("name"), reference=reference)


def _data_store_reference(reading: Reading, tag: Tag) -> Annotation:
    store = reading.reference(tag, "dataStoreRef")
    return Annotation(
        id=reading.id(tag),
        kind="data_store_reference",
        text=reading.values.get(store, ""),
        name=tag.get("name"),
        reference=store,
    )


_ANNOTATIONS: dict[str, Callable[[Reading, Tag], Annotation]] = {
    "bpmn:textAnnotation": _text,
    "bpmn:group": _group,
    "bpmn:dataObject": _data_object,
    "bpmn:dataObjectReference": _data_object_reference,
    "bpmn:dataStoreReference": _data_store_reference,
}
_NODES: dict[str, Callable[[Reading, Tag], Node]] = {
    **dict.fromkeys(flow_nodes.TASK_KINDS, flow_nodes.read_task),
    **dict.fromkeys(flow_nodes.GATEWAY_KINDS, flow_nodes.read_gateway),
    **dict.fromkeys(flow_nodes.POSITIONS, flow_nodes.read_event),
    "bpmn:callActivity": flow_nodes.read_call,
    "bpmn:subProcess": _sub_process,
    "bpmn:transaction": _sub_process,
    "bpmn:adHocSubProcess": _sub_process,
}
