"""The flow graph: one graph over all scopes, with boundary events, links and compensation."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from perdure.bpmn.model import CompensationTrigger, Event, LinkTrigger, Node, SubProcess

if TYPE_CHECKING:
    from perdure.bpmn.lint.model_index import Index, Room


class Graph:
    """Successors by id. `<id>/end` is the end of a scope, `<id>/while` any moment while it is open."""

    def __init__(self) -> None:
        self.after: dict[str, list[str]] = defaultdict(list)

    @staticmethod
    def of(index: Index) -> Graph:
        graph = Graph()
        for flow in index.flows.values():
            graph.after[end_of(index, flow.source)].append(flow.target)
        for room in index.rooms:
            _join_room(graph, index, room)
        _join_compensation(graph, index)
        return graph

    def reach(self, starts: Iterable[str], stop: Callable[[str], bool] = lambda id: False) -> set[str]:
        """Everything the starts may lead to, the starts included; nothing is followed past a stop."""
        seen = set(starts)
        waiting = deque(seen)
        while waiting:
            id = waiting.popleft()
            if stop(id):
                continue
            for next in self.after.get(id, ()):
                if next not in seen:
                    seen.add(next)
                    waiting.append(next)
        return seen

    def past(self, starts: Iterable[str]) -> set[str]:
        """Everything the starts may lead to; a start itself only when something leads back to it."""
        return self.reach({next for start in starts for next in self.after.get(start, ())})


def end_of(index: Index, id: str) -> str:
    """Where a node is left: at the end of its scope when it is a subprocess."""
    return f"{id}/end" if isinstance(index.nodes.get(id), SubProcess) else id


def entries(index: Index, room: Room) -> list[str]:
    """The nodes that get a token when the scope is entered."""
    starts = [event.id for event in index.starts(room)]
    if starts and room.kind() != "ad_hoc":
        return starts + [node.id for node in room.body.nodes if index.is_instantiating(node)]
    return [
        node.id
        for node in room.body.nodes
        if not index.incoming(node.id)
        and not (isinstance(node, SubProcess) and node.kind == "event")
        and not (isinstance(node, Event) and node.position == "boundary")
        and not (not isinstance(node, Event) and getattr(node, "is_for_compensation", False))
    ]


def _join_room(graph: Graph, index: Index, room: Room) -> None:
    graph.after[room.id].extend((*entries(index, room), f"{room.id}/while"))
    if not room.body.nodes:
        graph.after[room.id].append(f"{room.id}/end")
    graph.after[f"{room.id}/while"].extend(boundary.id for boundary in index.boundaries.get(room.id, ()))
    if room.parent is not None:
        graph.after[f"{room.id}/while"].append(f"{room.parent.id}/while")
    links = link_targets(room)
    for node in room.body.nodes:
        left = end_of(index, node.id)
        graph.after[left].append(f"{room.id}/while")
        if not index.outgoing(node.id) and not is_link(node):
            graph.after[left].append(f"{room.id}/end")
        if isinstance(node, SubProcess) and node.kind == "event":
            graph.after[f"{room.id}/while"].append(node.id)
        graph.after[node.id].extend(boundary.id for boundary in index.boundaries.get(node.id, ()))
        graph.after[node.id].extend(links.get(node.id, ()))


def is_link(node: Node) -> bool:
    return isinstance(node, Event) and any(isinstance(trigger, LinkTrigger) for trigger in node.triggers)


def link_targets(room: Room) -> dict[str, list[str]]:
    """Where each throwing link leads."""
    catches: dict[str, list[str]] = defaultdict(list)
    throws: list[tuple[str, str]] = []
    for node in room.body.nodes:
        for trigger in node.triggers if isinstance(node, Event) else ():
            if isinstance(trigger, LinkTrigger) and isinstance(node, Event):
                if node.position == "catch":
                    catches[trigger.name].append(node.id)
                else:
                    throws.append((node.id, trigger.name))
    return {id: catches[name] for id, name in throws if name in catches}


def joins(index: Index, room: Room) -> dict[str, str]:
    """For each node of a scope, the nearest node every path from it passes, where there is one."""
    exit = f"{room.id}/end"
    links = link_targets(room)
    after = {node.id: [flow.target for flow in index.outgoing(node.id)] for node in room.body.nodes}
    for node in room.body.nodes:
        after[node.id].extend(links.get(node.id, ()))
        after[node.id].extend(boundary.id for boundary in index.boundaries.get(node.id, ()))
    before: dict[str, list[str]] = defaultdict(list)
    for id, targets in after.items():
        for target in targets or [exit]:
            before[target].append(id)
    nearest = _dominators(exit, before, after)
    return {id: join for id, join in nearest.items() if join != exit}


def _dominators(root: str, next: dict[str, list[str]], previous: dict[str, list[str]]) -> dict[str, str]:
    """The immediate dominator of everything reachable from the root (Cooper, Harvey and Kennedy)."""
    order = _postorder(root, next)
    number = {id: at for at, id in enumerate(order)}
    nearest = {root: root}
    changed = True
    while changed:
        changed = False
        for id in reversed(order[:-1]):
            known = [each for each in (previous.get(id) or [root]) if each in nearest]
            chosen = known[0]
            for other in known[1:]:
                chosen = _meet(chosen, other, nearest, number)
            if nearest.get(id) != chosen:
                nearest[id] = chosen
                changed = True
    del nearest[root]
    return nearest


def _meet(one: str, other: str, nearest: dict[str, str], number: dict[str, int]) -> str:
    while one != other:
        while number[one] < number[other]:
            one = nearest[one]
        while number[other] < number[one]:
            other = nearest[other]
    return one


def _postorder(root: str, next: dict[str, list[str]]) -> list[str]:
    order: list[str] = []
    seen = {root}
    stack = [(root, iter(next.get(root, ())))]
    while stack:
        id, rest = stack[-1]
        for each in rest:
            if each not in seen:
                seen.add(each)
                stack.append((each, iter(next.get(each, ()))))
                break
        else:
            order.append(id)
            stack.pop()
    return order


def _join_compensation(graph: Graph, index: Index) -> None:
    throws = [event.id for event, _ in index.triggers(CompensationTrigger, "throw", "end")]
    for handler, events in index.compensates.items():
        for event in events:
            graph.after[event].append(handler)
        graph.after[end_of(index, handler)].extend(["*/compensated"])
    graph.after["*/compensated"].extend(throws)


def knots(after: dict[str, list[str]]) -> list[list[str]]:
    """The groups of ids that all lead to each other, single ones only when they lead to themselves (Kosaraju)."""
    before: dict[str, list[str]] = defaultdict(list)
    for id, targets in after.items():
        for target in targets:
            if target in after:
                before[target].append(id)
    order = _postorder("", {"": list(after), **{id: [t for t in ts if t in after] for id, ts in after.items()}})
    seen: set[str] = set()
    found: list[list[str]] = []
    for id in reversed(order[:-1]):
        if id in seen:
            continue
        group = _gather(id, before, seen)
        if len(group) > 1 or id in after[id]:
            found.append(sorted(group))
    return found


def _gather(id: str, next: dict[str, list[str]], seen: set[str]) -> list[str]:
    seen.add(id)
    group = [id]
    for each in group:
        for other in next.get(each, ()):
            if other not in seen:
                seen.add(other)
                group.append(other)
    return group
