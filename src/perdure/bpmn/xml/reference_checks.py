"""Reference checks: every reference of a model leads to an element of the right kind in the right scope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from perdure.bpmn.model import (
    Activity,
    Association,
    CallActivity,
    CompensationTrigger,
    Definitions,
    ErrorTrigger,
    EscalationTrigger,
    Event,
    Extension,
    Flow,
    Gateway,
    Lane,
    MessageTrigger,
    Node,
    Process,
    Scope,
    SignalTrigger,
    SubProcess,
    Task,
    scopes,
)
from perdure.bpmn.xml.namespaces import with_article


class Fault(NamedTuple):
    code: str
    element: str
    fact: str
    hint: str = ""
    wanted: str = ""
    """What is referred to."""


def reference_faults(definitions: Definitions) -> Iterator[Fault]:
    """Every reference that does not hold, in the order of the model."""
    index = _Index(definitions)
    for process in definitions.processes:
        yield from _process_faults(index, process)
    if definitions.collaboration is not None:
        yield from _collaboration_faults(index, definitions)


class _Index:
    """Which kind each id of a file has, and which node each flow leaves."""

    def __init__(self, definitions: Definitions) -> None:
        self.kinds: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        for process in definitions.processes:
            self._add("process", process.id)
            self._kept(process.extensions)
            for scope in scopes(process.body):
                self._scope(scope)
            self._add("lane", *(lane.id for lane in _all_lanes(process.lanes)))
        self._add("message", *(each.id for each in definitions.messages))
        self._add("signal", *(each.id for each in definitions.signals))
        self._add("error", *(each.id for each in definitions.errors))
        self._add("escalation", *(each.id for each in definitions.escalations))
        self._collaboration(definitions)

    def _add(self, kind: str, *ids: str) -> None:
        # Of two elements with one id the first counts: that there are two is told elsewhere.
        for id in ids:
            self.kinds.setdefault(id, kind)

    def _scope(self, scope: Scope) -> None:
        for node in scope.nodes:
            self._add(_kind(node), node.id)
            self._kept(node.extensions)
        for flow in scope.flows:
            self._add("sequence flow", flow.id)
            self.sources[flow.id] = flow.source
        self._add("association", *(each.id for each in scope.associations))
        for annotation in scope.annotations:
            self._add(annotation.kind.replace("_", " "), annotation.id)

    def _kept(self, extensions: tuple[Extension, ...]) -> None:
        """Standard content without a meaning here, such as data inputs: what is noted of it is tied to its id."""
        for each in extensions:
            if each.name.startswith("bpmn:"):
                self._add(_words(each.name), *filter(None, [each.attributes.get("id")]))
                self._kept(each.children)

    def _collaboration(self, definitions: Definitions) -> None:
        if (found := definitions.collaboration) is not None:
            self._add("collaboration", found.id)
            self._add("participant", *(each.id for each in found.participants))
            self._add("message flow", *(each.id for each in found.message_flows))
            self._add("association", *(each.id for each in found.associations))
            self._add("annotation", *(each.id for each in found.annotations))

    def faults(self, element: str, role: str, wanted: str, *kinds: str) -> Iterator[Fault]:
        """The fault of a reference, if it has one; without kinds, anything will do."""
        kind = self.kinds.get(wanted)
        if kind is None:
            fact = f"{role} refers to '{wanted[:80]}', which is not in the file"
            yield Fault("BPM008", element, fact, "Create it, or correct the reference.", wanted)
        elif kinds and kind not in kinds:
            fact = f"{role} refers to '{wanted[:80]}', which is {with_article(kind)}"
            yield Fault("BPM009", element, fact, f"It may refer to {with_article(' or '.join(kinds))}.")


def _words(name: str) -> str:
    """`bpmn:dataInput` as people say it."""
    return re.sub("([A-Z])", r" \1", name.removeprefix("bpmn:")).lower()


_NODE_KINDS = ("activity", "gateway", "event")


def _kind(node: Node) -> str:
    if isinstance(node, Activity):
        return "activity"
    return "gateway" if isinstance(node, Gateway) else "event"


def _process_faults(index: _Index, process: Process) -> Iterator[Fault]:
    for scope in scopes(process.body):
        yield from _scope_faults(index, scope)
    for lane in _all_lanes(process.lanes):
        for member in lane.members:
            yield from index.faults(lane.id, "the lane", member, *_NODE_KINDS)


def _scope_faults(index: _Index, scope: Scope) -> Iterator[Fault]:
    home = {node.id for node in scope.nodes}
    for node in scope.nodes:
        yield from _node_faults(index, node, home)
    for flow in scope.flows:
        yield from _flow_faults(index, flow, home)
    for association in scope.associations:
        yield from _association_faults(index, association)
    for annotation in scope.annotations:
        if annotation.kind == "data_object_reference" and annotation.reference:
            yield from index.faults(annotation.id, "dataObjectRef", annotation.reference, "data object")


def _flow_faults(index: _Index, flow: Flow, home: set[str]) -> Iterator[Fault]:
    for role, end in (("sourceRef", flow.source), ("targetRef", flow.target)):
        if not end:
            continue
        faults = list(index.faults(flow.id, role, end, *_NODE_KINDS))
        yield from faults
        if not faults and end not in home:
            fact = f"its {role} '{end[:80]}' stands in another scope: no sequence flow crosses the border of one"
            yield Fault("BPM010", flow.id, fact, "Join elements of one process or subprocess.")


def _association_faults(index: _Index, association: Association) -> Iterator[Fault]:
    if association.source:
        yield from index.faults(association.id, "sourceRef", association.source)
    if association.target:
        yield from index.faults(association.id, "targetRef", association.target)


def _node_faults(index: _Index, node: Node, home: set[str]) -> Iterator[Fault]:
    match node:
        case Event():
            yield from _event_faults(index, node, home)
        case Task(message=message) if message:
            yield from index.faults(node.id, "messageRef", message, "message")
        case Task() | SubProcess() | CallActivity() | Gateway():
            pass
    if not isinstance(node, Event) and node.default:
        yield from _default_faults(index, node.id, node.default)


def _default_faults(index: _Index, node: str, default: str) -> Iterator[Fault]:
    faults = list(index.faults(node, "default", default, "sequence flow"))
    yield from faults
    if not faults and index.sources[default] != node:
        fact = f"its default flow '{default[:80]}' leaves '{index.sources[default][:80]}'"
        yield Fault("BPM016", node, fact, "Choose one of its own flows.")


def _event_faults(index: _Index, event: Event, home: set[str]) -> Iterator[Fault]:
    if event.attached_to:
        faults = list(index.faults(event.id, "attachedToRef", event.attached_to, "activity"))
        yield from faults
        if not faults and event.attached_to not in home:
            fact = f"it is attached to '{event.attached_to[:80]}', which stands in another scope"
            yield Fault("BPM010", event.id, fact, "Attach it to an activity beside it.")
    for trigger in event.triggers:
        match trigger:
            case MessageTrigger(message) if message:
                yield from index.faults(event.id, "messageRef", message, "message")
            case SignalTrigger(signal) if signal:
                yield from index.faults(event.id, "signalRef", signal, "signal")
            case ErrorTrigger(error) if error:
                yield from index.faults(event.id, "errorRef", error, "error")
            case EscalationTrigger(escalation) if escalation:
                yield from index.faults(event.id, "escalationRef", escalation, "escalation")
            case CompensationTrigger(activity) if activity:
                yield from index.faults(event.id, "activityRef", activity, "activity")
            case _:
                pass


def _collaboration_faults(index: _Index, definitions: Definitions) -> Iterator[Fault]:
    assert definitions.collaboration is not None
    for participant in definitions.collaboration.participants:
        if participant.process:
            yield from index.faults(participant.id, "processRef", participant.process, "process")
    for flow in definitions.collaboration.message_flows:
        for role, end in (("sourceRef", flow.source), ("targetRef", flow.target)):
            if end:
                yield from index.faults(flow.id, role, end, "participant", *_NODE_KINDS)
        if flow.message:
            yield from index.faults(flow.id, "messageRef", flow.message, "message")
    for association in definitions.collaboration.associations:
        yield from _association_faults(index, association)


def _all_lanes(lanes: tuple[Lane, ...]) -> Iterator[Lane]:
    for lane in lanes:
        yield lane
        yield from _all_lanes(lane.lanes)
