"""Keys of states: two states are equal when tokens stand alike and know the same."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.bpmn.conditions.tree import atoms, literals_of
from perdure.bpmn.machine.completed_activities import backwards, listed
from perdure.bpmn.machine.state import Done, Instance, Node, Undo, Watch
from perdure.bpmn.model import COMPLETED_COUNT, CallActivity, Element, MultiInstance, StandardLoop, SubProcess, Task
from perdure.bpmn.proof.flag_values import Open
from perdure.bpmn.proof.process_graph import Outline

Key = bytes
MOST_DONE = 2
STOPPED = ("stuck", "many", "loop")
"""Where an incident says that tokens cannot go on."""


class Keys:
    """Makes the key of a state. Tokens that only their age tells apart are the same."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._encode = msgspec.msgpack.Encoder().encode
        self._numbers = {id: at for at, id in enumerate(outline.parts)}
        self._keeps_order = bool(outline.undo_writes)

    def of(self, state: Instance) -> Key:
        flags = sorted((name, value) for name, value in state.flags.items()
                       if type(value) is not Open and name in self._outline.bits)  # fmt: skip
        return self._encode((state.status, flags, self._tree(state)))

    def _tree(self, state: Instance) -> list[Any]:
        below: dict[int, list[Any]] = {}
        watches: dict[int, list[Any]] = {}
        for watch in state.watches.values():
            watches.setdefault(watch.node, []).append(self._watch(watch))
        # A node is always younger than the one around it.
        for node in reversed(list(state.nodes.values())):
            below.setdefault(node.parent, []).append(
                self._node(node, below.get(node.number, []), watches.get(node.number, []))
            )
        return sorted(below.get(0, []))

    def _node(self, node: Node, below: list[Any], watches: list[Any]) -> list[Any]:
        job = node.job
        return [
            self._numbers.get(node.element, -1),
            node.kind,
            node.flow if node.kind == "join" else "",
            "" if job is None else f"{job.purpose} {job.type}",
            "" if node.kind not in STOPPED or node.incident is None else node.incident.code,
            self._many(node),
            1 if node.is_interrupted else 0,
            list(node.opened),
            self._done(node.done),
            [] if node.undo is None else self._undo(node.undo),
            sorted(watches),
            sorted(below),
        ]

    def _watch(self, watch: Watch) -> list[Any]:
        left = min(watch.left, 2) if watch.cycle else 0
        return [
            self._numbers.get(watch.event, -1),
            watch.kind,
            watch.name,
            watch.is_met,
            left,
        ]

    def _many(self, node: Node) -> list[int]:
        """How far iterations are; what nothing depends on is left out, or a loop would have a state per turn."""
        if node.many is None:
            return []
        part = self._outline.parts.get(node.element)
        element: Element | None = part.node if part is not None else None
        if node.kind == "scope":
            return [node.many.total, node.many.started, min(node.many.ended, _counted(element))]
        repeat = element.repeat if isinstance(element, Task | SubProcess | CallActivity) else None
        if isinstance(repeat, StandardLoop) and repeat.maximum is None:
            return []
        started = node.many.started if isinstance(repeat, MultiInstance) else 0
        return [node.many.total, started, node.many.ended]

    def _undo(self, undo: Undo) -> list[Any]:
        return [self._done(backwards(undo.queue)), undo.then, len(undo.failed)]

    def _done(self, done: tuple[Done, ...]) -> list[Any]:
        if not done:
            return []
        if not self._outline.is_undone:
            return []
        turns = listed(done, MOST_DONE)
        made = _twice([[each.element, each.handler, each.verb, self._done(each.inner)] for each in turns])
        return made if self._keeps_order else sorted(made)


def _counted(element: Element | None) -> int:
    """How many completed activities of an ad-hoc subprocess can be told from more of them."""
    completion = element.completion if isinstance(element, SubProcess) else None
    met = [atom for atom in atoms(completion) if atom.flag == COMPLETED_COUNT] if completion is not None else []
    literals = [each for atom in met for each in literals_of(atom)]
    return max((each + 1 for each in literals if isinstance(each, int)), default=0)


def _twice(made: list[Any]) -> list[Any]:
    """Done twice stands for done more often, or a loop would have a state per turn; the last ones count."""
    kept: list[Any] = []
    for each in reversed(made):
        if kept.count(each) < MOST_DONE:
            kept.append(each)
    return kept[::-1]
