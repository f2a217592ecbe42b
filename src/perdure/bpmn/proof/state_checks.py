"""Checks of a state and of the move that led to it."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from perdure.bpmn.machine.journal_entries import ErrorThrown
from perdure.bpmn.machine.sequence_flows import NO_WAY_OUT
from perdure.bpmn.machine.state import Instance, Node
from perdure.bpmn.machine.token_game_loop import ENDLESS
from perdure.bpmn.proof.error_end_events import error_ends, uncaught
from perdure.bpmn.proof.finding_texts import MERGE
from perdure.bpmn.proof.process_graph import Outline
from perdure.bpmn.proof.state_graph import Graph
from perdure.bpmn.proof.state_transitions import After, Taken

CROWD = 3
"""More tokens than this on one element are not looked at."""
BEYOND = ("SND002", "SND005")
"""Behind these the search goes no further."""
STUCK = {NO_WAY_OUT: "SND004", ENDLESS: "SND005"}


class Suspect(NamedTuple):
    """Something found: its code, where it is, a detail, and the moves that lead to it."""

    code: str
    element: str
    detail: str
    path: tuple[Taken, ...]
    elements: tuple[str, ...] = ()


class Inspector:
    """Keeps the first of each kind at each element: the search is breadth first, so it is a shortest one."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._single = outline.single
        self._error_ends = error_ends(outline)
        self.suspects: dict[tuple[str, str, str], Suspect] = {}

    def look(self, number: int, path: list[Taken], after: After, graph: Graph) -> bool:
        """Note what is wrong after a move; whether it makes no sense to go on from there."""
        found = self.faults(after)
        for code, element, detail, elements in found:
            if (code, element, detail) not in self.suspects:
                whole = (*graph.path(number), *path)
                self.suspects[code, element, detail] = Suspect(code, element, detail, whole, elements)
        return any(code in BEYOND for code, *_ in found) or _is_crowd(after.state)

    def met(self, number: int, path: list[Taken], element: str, rest: tuple[Taken, ...], graph: Graph) -> None:
        """Two tokens come to a merge where nothing waits."""
        whole = (*graph.path(number), *path, *rest)
        self.suspects["SND002", element, MERGE] = Suspect("SND002", element, MERGE, whole, (element,))

    def rest(self, number: int, state: Instance, graph: Graph) -> None:
        """Nothing can happen any more, and the process has not ended."""
        place = deadlock(state)
        if place is not None and ("SND001", place[0], "") not in self.suspects:
            self.suspects["SND001", place[0], ""] = Suspect("SND001", place[0], "", graph.path(number), place)

    def faults(self, after: After) -> list[tuple[str, str, str, tuple[str, ...]]]:
        ended = uncaught(self._error_ends, after) if self._error_ends else []
        return [*faults(self._single, after), *(("SND007", element, detail, (element,)) for element, detail in ended)]


def deadlock(state: Instance) -> tuple[str, ...] | None:
    """Where tokens stand that can never move; None when a person could still help, or it has ended."""
    if state.ended_at or any(node.incident is not None for node in state.nodes.values()):
        return None
    containers = {node.parent for node in state.nodes.values()}
    leaves = [node.element for node in state.nodes.values() if node.number not in containers]
    return tuple(sorted(leaves)) or None


def faults(single: frozenset[str], after: After) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Code, element, detail and all elements of everything wrong in a state just reached."""
    found: list[tuple[str, str, str, tuple[str, ...]]] = []
    state = after.state
    for node in state.nodes.values():
        if node.incident is not None and node.job is None and node.kind not in ("call", "undo"):
            code = STUCK.get(node.incident.code, "SND009")
            found.append((code, node.element, "" if code != "SND009" else node.incident.text, (node.element,)))
    for element in _doubles(single, state):
        found.append(("SND002", element, "", (element,)))
    move = after.taken.move
    if move.kind in ("error", "call_failed"):
        stands = state.nodes.get(move.number)
        is_open = move.is_undo or (stands is not None and stands.incident is not None)
        if is_open and any(type(entry) is ErrorThrown and not entry.caught_by for entry in after.entries):
            found.append(("SND007", move.element, move.code, (move.element,)))
    return found


def _doubles(single: frozenset[str], state: Instance) -> list[str]:
    """Elements with two tokens of one scope, where only one is meant to be; at a join, two by the same flow."""
    if len(state.nodes) < 3:
        return []
    seen: set[tuple[int, str, str]] = set()
    found: list[str] = []
    for node in state.nodes.values():
        place = _place(state, node)
        if place is None:
            continue
        if place in seen and node.element in single:
            found.append(node.element)
        seen.add(place)
    return found


def _is_crowd(state: Instance) -> bool:
    """Whether events that let their activity stand have brought more tokens to one place than tell anything new."""
    places: Counter[tuple[int, str, str]] = Counter()
    for node in state.nodes.values():
        place = _place(state, node)
        if place is not None:
            places[place] += 1
    return any(count > CROWD for count in places.values())


def _place(state: Instance, node: Node) -> tuple[int, str, str] | None:
    above = state.nodes.get(node.parent)
    if above is None or above.kind != "scope" or node.kind in ("undo", "stuck"):
        return None
    return node.parent, node.element, node.flow if node.kind == "join" else ""
