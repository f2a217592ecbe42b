"""The flows of one scope as a graph: where each node leads, what dominates what, where loops begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from perdure.bpmn.conditions.tree import Condition
from perdure.bpmn.contract import Contract
from perdure.bpmn.model import (
    Activity,
    ErrorTrigger,
    Event,
    Flow,
    Gateway,
    Node,
    Scope,
    SubProcess,
    TerminateTrigger,
    TimerTrigger,
)
from perdure.errors import RejectedError, Rejection

EXIT = ""
"""Where every end event leads; no node has this id."""
Kind = Literal["step", "pass", "gateway", "boundary", "race", "fork", "end"]


class Way(msgspec.Struct, frozen=True):
    """One way on from a node: under a condition, or by an event."""

    target: str
    condition: Condition | None = None
    event: str = ""


class Vertex(msgspec.Struct, frozen=True):
    """`step` does something; `pass` only leads on; `boundary` is a step with interrupting boundary events."""

    id: str
    kind: Kind
    ways: tuple[Way, ...]
    sides: tuple[Way, ...] = ()
    """Of boundary timers that do not interrupt."""
    incoming: int = 0
    error: str = ""


class FlowGraph(msgspec.Struct, frozen=True):
    entry: str
    vertices: dict[str, Vertex]
    order: dict[str, int]

    def targets(self, id: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(way.target for way in self.vertices[id].ways)) if id != EXIT else ()


def refused(id: str, fact: str, hint: str = "") -> RejectedError:
    """What a program cannot say, by the id of the element."""
    return RejectedError(Rejection("invalid", "scaffold", "element", id, fact, hint))


def flow_graph(scope: Scope, contract: Contract, scope_id: str) -> FlowGraph:
    """Refuses elements that a scaffold has no statement for."""
    starts = [node for node in scope.nodes if isinstance(node, Event) and node.position == "start"]
    if len(starts) != 1:
        fact = f"it has {len(starts)} start events" if starts else "it has no start event"
        raise refused(scope_id, fact, "Give it exactly one start event without a trigger.")
    builder = _Builder(scope, contract)
    vertices = {node.id: builder.vertex(node) for node in scope.nodes if not _is_boundary(node)}
    return FlowGraph(starts[0].id, vertices, {node.id: place for place, node in enumerate(scope.nodes)})


class _Builder:
    def __init__(self, scope: Scope, contract: Contract) -> None:
        self._contract = contract
        self._boundaries = [node for node in scope.nodes if isinstance(node, Event) and node.position == "boundary"]
        self._nodes = {node.id: node for node in scope.nodes}
        self._flows = scope.flows

    def vertex(self, node: Node) -> Vertex:
        incoming = sum(flow.target == node.id for flow in self._flows)
        match node:
            case Gateway():
                kind, ways = self._gateway(node)
                return Vertex(node.id, kind, ways, incoming=incoming)
            case Event(position="end"):
                return self._end(node)
            case Event(position="start"):
                if node.triggers:
                    raise refused(node.id, "it starts by a trigger", "Begin with a plain start event.")
                return Vertex(node.id, "pass", (Way(self._next(node)),), incoming=incoming)
            case _:
                return self._step(node, incoming)

    def _step(self, node: Node, incoming: int) -> Vertex:
        self._check(node)
        own = [each for each in self._boundaries if each.attached_to == node.id]
        ends = tuple(Way(self._next(each), event=each.id) for each in own if each.is_interrupting)
        sides = tuple(Way(self._next(each), event=each.id) for each in own if not each.is_interrupting)
        for each in own:
            _check_boundary(each)
        step: Kind = "boundary" if ends else "pass" if self._does_nothing(node) else "step"
        return Vertex(node.id, step, (*ends, Way(self._next(node))), sides, incoming)

    def _check(self, node: Node) -> None:
        what = unsupported(node, self._contract)
        if what:
            raise refused(node.id, what, "The reference page of scaffolds lists the elements there are statements for.")

    def _does_nothing(self, node: Node) -> bool:
        return isinstance(node, Event) and node.position == "throw" and not node.triggers

    def _end(self, node: Event) -> Vertex:
        for trigger in node.triggers:
            if isinstance(trigger, ErrorTrigger):
                return Vertex(node.id, "end", (Way(EXIT),), error=trigger.error or node.id)
            if not isinstance(trigger, TerminateTrigger):
                raise refused(node.id, "it ends by a trigger that is neither an error nor a termination")
        return Vertex(node.id, "end", (Way(EXIT),), incoming=-1 if node.triggers else 0)

    def _gateway(self, node: Gateway) -> tuple[Kind, tuple[Way, ...]]:
        flows = self._outgoing(node)
        if not flows:
            raise refused(node.id, "no flow leaves it", "Lead every gateway on.")
        if node.kind == "parallel":
            return ("fork" if len(flows) > 1 else "pass"), tuple(Way(flow.target) for flow in flows)
        if node.kind == "event":
            return "race", tuple(self._catch(node, flow) for flow in flows)
        if node.kind != "exclusive":
            raise refused(node.id, f"it is of kind {node.kind}", "Use exclusive, parallel and event gateways.")
        if len(flows) == 1:
            return "pass", (Way(flows[0].target),)
        ordered = [flow for flow in flows if flow.id != node.default] + [f for f in flows if f.id == node.default]
        return "gateway", tuple(self._conditional(node, flow) for flow in ordered)

    def _conditional(self, node: Gateway, flow: Flow) -> Way:
        if flow.id == node.default:
            return Way(flow.target)
        condition = self._contract.conditions.get(flow.id)
        if condition is None:
            raise refused(flow.id, "it leaves an exclusive gateway without a condition and is not its default")
        return Way(flow.target, condition)

    def _catch(self, gateway: Gateway, flow: Flow) -> Way:
        """The way over an event behind an event gateway: the event is the way's, its target what follows."""
        event = self._nodes[flow.target]
        if event.id not in self._contract.waits and timer_of(event) is None:
            raise refused(gateway.id, f"'{event.id}' behind it is neither a message nor a timer")
        self._check(event)
        return Way(self._next(event), event=event.id)

    def _outgoing(self, node: Node) -> list[Flow]:
        return [flow for flow in self._flows if flow.source == node.id]

    def _next(self, node: Node) -> str:
        flows = self._outgoing(node)
        if len(flows) > 1:
            raise refused(node.id, "several flows leave it", "Let a gateway say whether one or all of them are taken.")
        if any(flow.condition is not None for flow in flows):
            raise refused(node.id, "its flow has a condition", "Put an exclusive gateway after it.")
        return flows[0].target if flows else EXIT


def timer_of(node: Node) -> TimerTrigger | None:
    """The timer of an event that has no other trigger."""
    if isinstance(node, Event) and len(node.triggers) == 1 and isinstance(node.triggers[0], TimerTrigger):
        return node.triggers[0]
    return None


def unsupported(node: Node, contract: Contract) -> str:
    """Why no statement says what a node does; empty when one does."""
    if isinstance(node, Activity) and node.repeat is not None:
        return "it is repeated by a marker"
    if isinstance(node, Activity) and node.is_for_compensation:
        return "it is for compensation"
    match node:
        case Event(position="throw", triggers=()):
            return ""
        case Event() if node.id in contract.work or node.id in contract.waits or timer_of(node) is not None:
            return ""
        case Event():
            return "it is an event that is neither a message nor a timer"
    if isinstance(node, SubProcess):
        return "" if node.kind == "embedded" else f"it is a subprocess of kind {node.kind}"
    if node.id in contract.work or node.id in contract.waits or node.id in contract.gates:
        return ""
    return "it is neither work, nor a wait, nor a user task"


def _is_boundary(node: Node) -> bool:
    return isinstance(node, Event) and node.position == "boundary"


def _check_boundary(event: Event) -> None:
    if timer_of(event) is not None:
        return
    is_error = len(event.triggers) == 1 and isinstance(event.triggers[0], ErrorTrigger)
    if not is_error or not event.is_interrupting:
        raise refused(event.id, "it is a boundary event that is neither a timer nor an error")


def dominators(roots: str, nodes: Iterable[str], before: Callable[[str], list[str]]) -> dict[str, set[str]]:
    """For each node those that stand on every way to it from the root, itself included."""
    every = list(nodes)
    found = {each: set(every) for each in every}
    found[roots] = {roots}
    changed = True
    while changed:
        changed = False
        for each in every:
            if each == roots:
                continue
            ways = [found[other] for other in before(each) if other in found]
            now = (set.intersection(*ways) if ways else set()) | {each}
            if now != found[each]:
                found[each], changed = now, True
    return found
