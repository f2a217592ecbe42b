"""The graph of a workflow: nodes by id, the edges between them, and what is attached to a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from perdure.workflows.nodes import CatchEvent, EndEvent, Node, ParallelGateway, StartEvent
from perdure.workflows.places import Place, refusal

END, START = "end", "start"


class Edge(NamedTuple):
    """From one node to another; `route` is the way of a gateway that it stands for."""

    source: str
    target: str
    place: Place
    route: str = ""


class Boundary(NamedTuple):
    """An event at the edge of a task, and where it leads."""

    host: str
    event: CatchEvent
    interrupts: bool
    target: str
    place: Place


class Graph:
    """Filled by the builder, read by the compiler."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.boundaries: list[Boundary] = []
        self.forked: dict[str, str] = {}
        """Of a fork whose tasks were given together: the join behind them."""
        self.ends: list[tuple[str, Place]] = []
        """Last nodes of ways that begin at the edge of a task: they end there unless something follows."""

    def add(self, node: Node, place: Place) -> str:
        """Put a node in; the same one twice is one."""
        if not isinstance(node, Node):
            fact = f"{node!r} is no node"
            raise refusal(place, "node", str(node)[:60], fact, "Give a task, a gateway or an event.")
        known = self.nodes.setdefault(node.id, node)
        if known is not node:
            fact = f"there are two nodes '{node.id}'; the other is at {known.place.file}:{known.place.line}"
            raise refusal(node.place, "id", node.id, fact, "Give one of them another id.")
        return node.id

    def named(self, node: Node | str, place: Place) -> str:
        """The id of a node that is given itself or by its id; `end` and `start` are there without being made."""
        if isinstance(node, str):
            if node == END and END not in self.nodes:
                self.nodes[END] = EndEvent(END)
            if node == START and START not in self.nodes:
                self.nodes[START] = StartEvent(START)
            return node
        return self.add(node, place)

    def connect(self, source: Node | str, target: Node | str, place: Place, route: str = "") -> None:
        edge = Edge(self.named(source, place), self.named(target, place), place, route)
        if not any(each[:2] == edge[:2] and each.route == route for each in self.edges):
            self.edges.append(edge)

    def chain(self, source: str, items: Node | str | Sequence[Node | str], place: Place, route: str = "") -> str:
        """One node after the other behind a source; the id of the last."""
        for item in [items] if isinstance(items, Node | str) else items:
            target = self.named(item, place)
            self.connect(source, target, place, route)
            source, route = target, ""
        return source

    def join_of(self, fork: str, place: Place) -> str:
        """The join behind a fork whose tasks were given together; made when it is first asked for."""
        id = self.forked.get(fork) or f"{fork}_join"
        if id not in self.nodes:
            self.nodes[id] = ParallelGateway(id, mode="join")
        self.forked[fork] = id
        return id

    def out(self, id: str) -> list[Edge]:
        return [edge for edge in self.edges if edge.source == id]

    def into(self, id: str) -> list[Edge]:
        return [edge for edge in self.edges if edge.target == id]

    def of_type(self, kind: type[Any]) -> list[Any]:
        return [node for node in self.nodes.values() if isinstance(node, kind)]
