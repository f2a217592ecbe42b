"""Scopes out: processes, subprocesses, lanes and what is only drawn."""

from __future__ import annotations

from perdure.bpmn.model import Annotation, Association, Flow, Lane, Process, Scope, SubProcess
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.writers import extensions
from perdure.bpmn.xml.writers.event_definitions import condition, given
from perdure.bpmn.xml.writers.extensions import Kept
from perdure.bpmn.xml.writers.flow_nodes import Flows, documentation_tag, node_tag

_ANNOTATIONS = {
    "text": "bpmn:textAnnotation",
    "group": "bpmn:group",
    "data_object": "bpmn:dataObject",
    "data_object_reference": "bpmn:dataObjectReference",
    "data_store_reference": "bpmn:dataStoreReference",
}
_REFERENCES = {
    "group": "categoryValueRef",
    "data_object_reference": "dataObjectRef",
    "data_store_reference": "dataStoreRef",
}
_ARTIFACTS = ("text", "group")
_CONDITION = "bpmn:conditionExpression"
_OF_FLOW = frozenset((_CONDITION,))


def process_tag(process: Process) -> Tag:
    kept = Kept(process.extensions, extension_schema.OF_PROCESS)
    modelled = extensions.properties(process.properties)
    if process.version_tag:
        modelled["zeebe:versionTag"] = Tag("zeebe:versionTag", {"value": process.version_tag})
    said = {"isExecutable": "true" if process.is_executable else "false"}
    tag = Tag("bpmn:process", {**given(id=process.id, name=process.name), **said, **kept.attributes})
    tag.with_children(documentation_tag(process.documentation), kept.elements(modelled), *kept.standard)
    if process.lanes:
        tag.with_children(_lanes("bpmn:laneSet", process.lanes))
    return tag.with_children(*_content(process.body))


def annotation_tag(annotation: Annotation) -> Tag:
    attributes = given(id=annotation.id, name=annotation.name)
    if annotation.kind in _REFERENCES:
        attributes |= given(**{_REFERENCES[annotation.kind]: annotation.reference})
    tag = Tag(_ANNOTATIONS[annotation.kind], attributes)
    return tag.with_children(Tag("bpmn:text", text=annotation.text)) if annotation.kind == "text" else tag


def association_tag(association: Association) -> Tag:
    attributes = given(id=association.id, sourceRef=association.source, targetRef=association.target)
    direction = "" if association.direction == "None" else association.direction
    return Tag("bpmn:association", attributes | given(associationDirection=direction))


def _content(scope: Scope) -> list[Tag]:
    flows = _flows_by_node(scope)
    nodes = [
        node_tag(node, flows.get(node.id, Flows([], [])), _content(node.body) if isinstance(node, SubProcess) else [])
        for node in scope.nodes
    ]
    data = [each for each in scope.annotations if each.kind not in _ARTIFACTS]
    artifacts = [each for each in scope.annotations if each.kind in _ARTIFACTS]
    return [
        *nodes,
        *map(_flow, scope.flows),
        *map(annotation_tag, data),
        *map(annotation_tag, artifacts),
        *map(association_tag, scope.associations),
    ]


def _flows_by_node(scope: Scope) -> dict[str, Flows]:
    found: dict[str, Flows] = {}
    for flow in scope.flows:
        found.setdefault(flow.source, Flows([], [])).outgoing.append(flow.id)
        found.setdefault(flow.target, Flows([], [])).incoming.append(flow.id)
    return found


def _flow(flow: Flow) -> Tag:
    kept = Kept(flow.extensions, _OF_FLOW)
    attributes = given(id=flow.id, name=flow.name, sourceRef=flow.source, targetRef=flow.target)
    return Tag("bpmn:sequenceFlow", attributes | kept.attributes).with_children(
        documentation_tag(flow.documentation),
        kept.elements({}),
        *kept.standard,
        kept.joined(_CONDITION, condition(_CONDITION, flow.condition)),
    )


def _lanes(name: str, lanes: tuple[Lane, ...]) -> Tag:
    return Tag(name).with_children(*map(_lane, lanes))


def _lane(lane: Lane) -> Tag:
    tag = Tag("bpmn:lane", given(id=lane.id, name=lane.name))
    tag.with_children(*(Tag("bpmn:flowNodeRef", text=member) for member in lane.members))
    return tag.with_children(_lanes("bpmn:childLaneSet", lane.lanes) if lane.lanes else None)
