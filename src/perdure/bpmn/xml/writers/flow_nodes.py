"""Flow nodes out. Each tag is given its flows and, for a subprocess, its content by the scope it stands in."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from perdure.bpmn.model import Activity, CallActivity, Event, Gateway, Node, SubProcess, Task
from perdure.bpmn.xml import extension_schema
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.readers.flow_nodes import GATEWAY_KINDS, POSITIONS, TASK_KINDS
from perdure.bpmn.xml.writers import extensions
from perdure.bpmn.xml.writers.event_definitions import condition, given, repeat_tag, trigger_tag
from perdure.bpmn.xml.writers.extensions import Kept, Modelled

_TASKS = {kind: name for name, kind in TASK_KINDS.items()}
_GATEWAYS = {kind: name for name, kind in GATEWAY_KINDS.items()}
_POSITIONS = {position: name for name, position in POSITIONS.items()}
_SUB_PROCESSES = {
    "embedded": "bpmn:subProcess",
    "event": "bpmn:subProcess",
    "transaction": "bpmn:transaction",
    "ad_hoc": "bpmn:adHocSubProcess",
}
_ACTIVATION, _COMPLETION = "bpmn:activationCondition", "bpmn:completionCondition"
_LOOP_PARTS = frozenset((extension_schema.LOOP, extension_schema.MULTI_INSTANCE, extension_schema.STANDARD_LOOP))
_OF_GATEWAY = extension_schema.OF_NODE | {_ACTIVATION}
_OF_SUB_PROCESS = extension_schema.OF_ACTIVITY | {_COMPLETION}


class Flows(NamedTuple):
    """The ids of the flows that come and go at a node."""

    incoming: list[str]
    outgoing: list[str]


def node_tag(node: Node, flows: Flows, content: list[Tag]) -> Tag:
    """`content` is what a subprocess holds."""
    match node:
        case Task():
            return _task(node, flows)
        case SubProcess():
            return _sub_process(node, flows, content)
        case CallActivity():
            return _call(node, flows)
        case Gateway():
            return _gateway(node, flows)
        case Event():
            return _event(node, flows)
        case _:
            assert_never(node)


def documentation_tag(text: str) -> Tag | None:
    return Tag("bpmn:documentation", text=text) if text else None


def _opened(name: str, node: Node, flows: Flows, kept: Kept, modelled: Modelled, attributes: dict[str, str]) -> Tag:
    """The element with everything that comes before what is particular to its kind."""
    tag = Tag(name, {**given(id=node.id, name=node.name), **attributes, **kept.attributes})
    modelled |= extensions.properties(node.properties)
    return tag.with_children(
        documentation_tag(node.documentation),
        kept.elements(modelled),
        *(Tag("bpmn:incoming", text=flow) for flow in flows.incoming),
        *(Tag("bpmn:outgoing", text=flow) for flow in flows.outgoing),
        *kept.standard,
    )


def _of_activity(node: Activity) -> dict[str, str]:
    return given(default=node.default, isForCompensation=_true(node.is_for_compensation))


def _kept(node: Activity, modelled: frozenset[str]) -> Kept:
    return Kept(node.extensions, modelled if node.repeat is None else modelled | _LOOP_PARTS)


def _task(task: Task, flows: Flows) -> Tag:
    kept = _kept(task, extension_schema.OF_TASK)
    modelled = extensions.work(task) | extensions.mappings(task.mappings) | extensions.people(task, kept)
    attributes = _of_activity(task) | given(
        messageRef=task.message, instantiate=_true(task.is_instantiating), scriptFormat=task.script_language
    )
    script = Tag("bpmn:script", text=task.script) if task.script else None
    tag = _opened(_TASKS[task.kind], task, flows, kept, modelled, attributes)
    return tag.with_children(repeat_tag(task.repeat, kept), script)


def _call(call: CallActivity, flows: Flows) -> Tag:
    kept = _kept(call, extension_schema.OF_CALL)
    modelled = extensions.mappings(call.mappings) | extensions.called(call)
    tag = _opened("bpmn:callActivity", call, flows, kept, modelled, _of_activity(call))
    return tag.with_children(repeat_tag(call.repeat, kept))


def _sub_process(node: SubProcess, flows: Flows, content: list[Tag]) -> Tag:
    kept = _kept(node, _OF_SUB_PROCESS)
    attributes = _of_activity(node) | given(triggeredByEvent=_true(node.kind == "event"))
    if node.kind == "ad_hoc":
        attributes |= given(
            ordering="Sequential" if node.ordering == "sequential" else "",
            cancelRemainingInstances="" if node.cancels_remaining else "false",
        )
    tag = _opened(_SUB_PROCESSES[node.kind], node, flows, kept, extensions.mappings(node.mappings), attributes)
    completion = kept.joined(_COMPLETION, condition(_COMPLETION, node.completion))
    return tag.with_children(repeat_tag(node.repeat, kept), *content, completion)


def _gateway(gateway: Gateway, flows: Flows) -> Tag:
    kept = Kept(gateway.extensions, _OF_GATEWAY)
    attributes = given(default=gateway.default, instantiate=_true(gateway.is_instantiating))
    tag = _opened(_GATEWAYS[gateway.kind], gateway, flows, kept, {}, attributes)
    return tag.with_children(kept.joined(_ACTIVATION, condition(_ACTIVATION, gateway.activation)))


def _event(event: Event, flows: Flows) -> Tag:
    kept = Kept(event.extensions, extension_schema.OF_EVENT)
    attributes = given(
        isInterrupting="false" if event.position == "start" and not event.is_interrupting else "",
        cancelActivity="false" if event.position == "boundary" and not event.is_interrupting else "",
        parallelMultiple=_true(event.is_parallel),
        attachedToRef=event.attached_to,
    )
    modelled = extensions.work(event) | extensions.mappings(event.mappings)
    tag = _opened(_POSITIONS[event.position], event, flows, kept, modelled, attributes)
    return tag.with_children(*kept.triggers([trigger_tag(each) for each in event.triggers]))


def _true(holds: bool) -> str:
    return "true" if holds else ""
