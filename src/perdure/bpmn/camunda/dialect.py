"""The dialect of Zeebe: a model rewritten so that Camunda 8 runs what the embedded engine runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.camunda import feel
from perdure.bpmn.lint.findings import OLDEST_RELEASE, Release
from perdure.bpmn.xml import write_model
from perdure.verb_contract import FlagContract

INTAKE = "intake"
_LISTENERS = "zeebe:executionListeners"
_LISTENER = "zeebe:executionListener"
_OTHER_WAYS = ("zeebe:calledDecision", "zeebe:publishMessage", "zeebe:script")
Repeated = TypeVar("Repeated", m.Task, m.SubProcess, m.CallActivity)
Flags = Mapping[str, Iterable[FlagContract]]


def zeebe_xml(model: m.Model, flags: Flags, release: Release = OLDEST_RELEASE) -> str:
    """The file for Camunda 8, the same bytes for the same model; `flags` are those of each process, by its id."""
    return write_model(zeebe_model(model, flags), platform=f"{release}.0")


def zeebe_model(model: m.Model, flags: Flags) -> m.Model:
    """The model in Zeebe's dialect. Lint for the target says first what cannot be carried."""
    definitions = model.definitions
    uncoded = frozenset(each.id for each in definitions.escalations if not each.code)
    processes = tuple(
        _uncoded(_process(each, tuple(flags.get(each.id, ()))), uncoded) for each in definitions.processes
    )
    messages = tuple(map(_message, definitions.messages))
    return replace(model, definitions=replace(definitions, processes=processes, messages=messages))


def _uncoded(process: m.Process, escalations: frozenset[str]) -> m.Process:
    """What catches an escalation without a code names none: Zeebe would take the lack for a code of its own."""
    return replace(process, body=_catching(process.body, escalations)) if escalations else process


def _catching(scope: m.Scope, escalations: frozenset[str]) -> m.Scope:
    nodes: list[m.Node] = []
    for node in scope.nodes:
        if isinstance(node, m.SubProcess):
            nodes.append(replace(node, body=_catching(node.body, escalations)))
        elif isinstance(node, m.Event) and node.position in ("start", "boundary"):
            triggers = tuple(
                replace(each, escalation="")
                if isinstance(each, m.EscalationTrigger) and each.escalation in escalations
                else each
                for each in node.triggers
            )
            nodes.append(replace(node, triggers=triggers))
        else:
            nodes.append(node)
    return replace(scope, nodes=tuple(nodes))


def _message(message: m.Message) -> m.Message:
    return message if message.correlation is None else replace(message, correlation=feel.key(message.correlation))


def _process(process: m.Process, flags: tuple[FlagContract, ...]) -> m.Process:
    body = _scope(process.body)
    nodes = tuple(_started(node, flags) for node in body.nodes)
    return replace(process, body=replace(body, nodes=nodes))


def _started(node: m.Node, flags: tuple[FlagContract, ...]) -> m.Node:
    """A start event that gives every flag a value: on Zeebe a variable that nobody set is null."""
    if not isinstance(node, m.Event) or node.position != "start" or node.triggers:
        return node
    given = {each.target for each in node.mappings}
    mappings = [
        m.Mapping("output", feel.first_value(flag.name, flag.starting_value()), flag.name)
        for flag in flags
        if flag.name not in given
    ]
    return replace(node, mappings=(*node.mappings, *mappings))


def _scope(scope: m.Scope) -> m.Scope:
    defaults = {node.default for node in scope.nodes if not isinstance(node, m.Event)} - {""}
    flows = [_plain(flow) if flow.id in defaults else flow for flow in scope.flows]
    for node in scope.nodes:
        if isinstance(node, m.Gateway) and node.kind == "exclusive":
            _reverse(flows, node.id)
    return replace(scope, nodes=tuple(map(_node, scope.nodes)), flows=tuple(flows))


def _reverse(flows: list[m.Flow], gateway: str) -> None:
    """Zeebe looks at the flows of an exclusive gateway from the last in the file to the first, we from the first."""
    places = [place for place, flow in enumerate(flows) if flow.source == gateway]
    for place, flow in zip(places, [flows[each] for each in reversed(places)], strict=True):
        flows[place] = flow


def _plain(flow: m.Flow) -> m.Flow:
    """A default flow without a condition: nothing looks at one."""
    kept = tuple(each for each in flow.extensions if each.name != "bpmn:conditionExpression")
    return replace(flow, condition=None, extensions=kept)


def _node(node: m.Node) -> m.Node:
    node = _listened(_by_verb(node))
    match node:
        case m.Task():
            return _repeated(_asked(node) if node.kind == "user" else node)
        case m.SubProcess():
            return _repeated(replace(node, body=_scope(node.body)))
        case m.CallActivity():
            return _repeated(node)
        case m.Event() if any(isinstance(each, m.CompensationTrigger) for each in node.triggers):
            return replace(node, is_interrupting=True)
        case _:
            return node


def _by_verb(node: m.Node) -> m.Node:
    """Work that a verb does, without the other ways to do it that Zeebe knows and nothing here reads."""
    if not isinstance(node, (m.Task, m.Event)) or not node.type:
        return node
    return replace(node, extensions=tuple(each for each in node.extensions if each.name not in _OTHER_WAYS))


def _listened(node: m.Node) -> m.Node:
    """A wait whose intake runs as a job, after what was waited for and before the token leaves."""
    verb = node.properties.get(INTAKE, "")
    if not verb:
        return node
    listener = m.Extension(_LISTENER, {"eventType": "end", "type": verb})
    kept = [each for each in node.extensions if each.name != _LISTENERS]
    there = [child for each in node.extensions if each.name == _LISTENERS for child in each.children]
    return replace(node, extensions=(*kept, m.Extension(_LISTENERS, children=(*there, listener))))


def _asked(task: m.Task) -> m.Task:
    return replace(
        task,
        is_native=True,
        groups=task.groups and feel.names(task.groups),
        users=task.users and feel.names(task.users),
        due=task.due and feel.moment(task.due),
        follow_up=task.follow_up and feel.moment(task.follow_up),
    )


def _repeated(node: Repeated) -> Repeated:
    if not isinstance(node.repeat, m.MultiInstance):
        return node
    repeat = node.repeat
    made = replace(repeat, cardinality=feel.counted(repeat.cardinality), completion=feel.completion(repeat.completion))
    return replace(node, repeat=made)
