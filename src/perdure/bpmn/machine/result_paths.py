"""Places: where in an instance's data the results of a node belong."""

from __future__ import annotations

from perdure.bpmn.machine.state import ROOT, Instance, Node, Place


def place_of(state: Instance, node: Node) -> Place:
    """Under each multi-instance activity around it and the iteration it is in, or that of what it undoes."""
    if node.parent == ROOT:
        return ()
    place: list[str] = []
    current: Node | None = node
    while current is not None:
        parent = state.nodes.get(current.parent)
        place[:0] = _undone(parent, current)
        # Where all iterations are undone together, it is in none of them.
        if parent is not None and parent.kind == "many" and current.kind != "undo":
            place[:0] = (parent.element, str(current.iteration))
        current = parent if parent is not current else None
    return tuple(place)


def iteration_of(state: Instance, node: Node) -> int:
    """The iteration a node is, or of what it undoes; 0 outside any."""
    place = _undone(state.nodes.get(node.parent), node)
    return node.iteration or (int(place[-1]) if place else 0)


def _undone(around: Node | None, node: Node) -> Place:
    """The place, from that of a compensation, of what a node directly inside it undoes."""
    if around is None or around.undo is None:
        return ()
    return around.undo.adopted.get(node.number, around.undo.place)
