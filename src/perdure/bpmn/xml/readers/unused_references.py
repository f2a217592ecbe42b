"""References that nothing is built from: the flows an element names as its own, and what only describes."""

from __future__ import annotations

from collections import Counter

from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import FLOW_NODES, GATEWAYS
from perdure.bpmn.xml.readers.file_context import Reading

_ENDS = {"bpmn:incoming": ("targetRef", "reaches"), "bpmn:outgoing": ("sourceRef", "leaves")}
_AGAINST = {"Converging": "sourceRef", "Diverging": "targetRef"}
"""Of which end a gateway of a direction has one flow at most."""
_DESCRIBING = ("categoryValueRef", "dataStoreRef", "operationRef", "itemRef", "itemSubjectRef")


def look_for_strays(reading: Reading, root: Tag) -> None:
    """Reports flows that are named and are not there, or are not the element's; remarks on what describes nothing."""
    has_imports = root.first("bpmn:import") is not None
    flows = [tag for tag in reading.tags.values() if tag.name == "bpmn:sequenceFlow"]
    ends = Counter((end, flow.get(end)) for flow in flows for end in _AGAINST.values())
    for tag in reading.tags.values():
        if tag.name in GATEWAYS and (end := _AGAINST.get(tag.get("gatewayDirection"))):
            _direction(reading, tag, end, ends[end, tag.get("id")])
        if tag.name in FLOW_NODES:
            for child in tag.all(*_ENDS):
                _named_flow(reading, tag, child)
        for name in _DESCRIBING:
            wanted = reading.reference(tag, name)
            if wanted and wanted not in reading.tags and not has_imports:
                fact = f"{name} refers to '{wanted[:80]}', which is not in the file"
                reading.remark("BPM008", tag, fact, "Create it, or remove the reference.")


def _direction(reading: Reading, gateway: Tag, end: str, count: int) -> None:
    if count > 1:
        verb = "leave" if end == "sourceRef" else "reach"
        fact = f"gatewayDirection is '{gateway.get('gatewayDirection')}', and {count} flows {verb} it"
        reading.remark("BPM014", gateway, fact, "Correct the direction, or remove it: the flows decide.")


def _named_flow(reading: Reading, node: Tag, child: Tag) -> None:
    wanted, role = reading.resolve(child.text), child.name.removeprefix("bpmn:")
    flow = reading.tags.get(wanted)
    if not wanted:
        return
    if flow is None:
        fact = f"{role} refers to '{wanted[:80]}', which is not in the file"
        reading.report("BPM008", node, fact, "Create it, or correct the reference.")
    elif flow.name != "bpmn:sequenceFlow":
        fact = f"{role} refers to '{wanted[:80]}', which is no sequence flow"
        reading.report("BPM009", node, fact, "It may refer to a sequence flow.")
    else:
        _own_flow(reading, node, child, flow)


def _own_flow(reading: Reading, node: Tag, child: Tag, flow: Tag) -> None:
    end, verb = _ENDS[child.name]
    actual = flow.get(end)
    if actual and actual != node.get("id"):
        fact = f"its {child.name.removeprefix('bpmn:')} flow '{flow.get('id')[:80]}' {verb} '{actual[:80]}'"
        reading.report("BPM016", node, fact, "Name its own flows only.")
