"""Tokens that meet where nothing waits: the first has passed, the second comes although it was under way already."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

from perdure.bpmn.machine.journal_entries import Entered, Passed
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.machine.token_game_loop import ENDLESS
from perdure.bpmn.proof.enabled_moves import Move, Moves
from perdure.bpmn.proof.process_graph import Outline
from perdure.bpmn.proof.state_keys import Key, Keys
from perdure.bpmn.proof.state_transitions import After, Stepper, Taken
from perdure.bpmn.proof.token_reachability import Flood

MOST = 1_000
"""So many states are looked at to see whether the second one comes."""
MOST_TRIED = 10 * MOST
"""And so many results of moves, of which many may be the same state."""
Place = tuple[str, int]
"""An element, and the node of the scope a token entered it in."""


class Meetings:
    """Looks, whenever a token goes through a merge, whether another of its scope gets there without it."""

    def __init__(self, outline: Outline, moves: Moves, stepper: Stepper, keys: Keys) -> None:
        self._outline, self._moves, self._stepper, self._keys = outline, moves, stepper, keys
        self._merges = outline.merges
        self._seen: set[tuple[Place, Key, tuple[tuple[str, str], ...]]] = set()
        self._floods: dict[tuple[str, tuple[tuple[str, str], ...]], bool] = {}
        self.found: set[str] = set()

    def after(self, before: Instance | None, after: After) -> Iterator[tuple[str, tuple[Taken, ...]]]:
        """Merges that two tokens reach, each once, with the moves that bring the second one."""
        if not self._merges:
            return
        entered = places(self._merges, after)
        for place in dict.fromkeys(entered):
            if place[0] in self.found or (entered.count(place) > 1 and _is_endless(after.state)):
                continue
            rest = () if entered.count(place) > 1 else self._second(place, before, after)
            if rest is not None:
                self.found.add(place[0])
                yield place[0], rest

    def _second(self, place: Place, before: Instance | None, after: After) -> tuple[Taken, ...] | None:
        scope = place[1]
        if before is None or not self._may_come(place, before, after.state):
            return None
        first = frozenset(after.state.nodes.keys() - before.nodes.keys())
        waiting: deque[tuple[Instance, tuple[Taken, ...]]] = deque([(after.state, ())])
        seen: set[Key] = set()
        tried = 0
        while waiting and len(seen) < MOST and tried < MOST_TRIED:
            state, path = waiting.popleft()
            for move in self._moves.of(state):
                if not is_other(state, move, scope, first):
                    continue
                for result in islice(self._stepper.after(state, move), MOST_TRIED):
                    tried += 1
                    if place in places(self._merges, result):
                        return (*path, result.taken)
                    key = self._keys.of(result.state)
                    if key not in seen and first <= result.state.nodes.keys():
                        seen.add(key)
                        waiting.append((result.state, (*path, result.taken)))
        return None

    def _may_come(self, place: Place, before: Instance, state: Instance) -> bool:
        """Whether flows lead the others there at all; each situation is asked about once."""
        element, scope = place
        others = [node for node in state.nodes.values()
                  if node.parent == scope and node.number in before.nodes and node.kind != "undo"]  # fmt: skip
        standing = tuple(sorted((node.element, node.flow if node.kind == "join" else "") for node in others))
        if (element, standing) not in self._floods:
            flood = Flood(self._outline, self._outline.parts[element].scope, element)
            enters = flood.walk(standing, listens=False).enters
            self._floods[element, standing] = bool(enters & self._outline.parts[element].bit)
        if not self._floods[element, standing]:
            return False
        question = (place, self._keys.of(state), standing)
        is_new = question not in self._seen
        self._seen.add(question)
        return is_new


def places(merges: dict[str, frozenset[str]], after: After) -> list[Place]:
    """The merges that tokens entered with a move."""
    return [
        (entry.element, entry.parent) for entry in after.entries
        if (type(entry) is Passed or type(entry) is Entered) and entry.flow in merges.get(entry.element, ())
    ]  # fmt: skip


def is_other(state: Instance, move: Move, scope: int, first: frozenset[int]) -> bool:
    """Whether a move is about something in a scope that does not follow from the token that went first."""
    number = move.owner
    while number in state.nodes and number != scope:
        if number in first:
            return False
        number = state.nodes[number].parent
    return number == scope and move.owner != scope


def has_met(merges: dict[str, frozenset[str]], element: str, walked: list[After]) -> bool:
    """Whether the last of some moves brought a second token to a merge."""
    last = [place for place in places(merges, walked[-1]) if place[0] == element]
    if len(set(last)) < len(last):
        return not _is_endless(walked[-1].state)
    return any(
        place in places(merges, walked[at]) and _is_apart(place[1], walked[at - 1].state, walked[at:])
        for place in last for at in range(1, len(walked) - 1)
    )  # fmt: skip


def _is_endless(state: Instance) -> bool:
    """Whether it is one token that came round again and again."""
    return any(node.incident is not None and node.incident.code == ENDLESS for node in state.nodes.values())


def _is_apart(scope: int, before: Instance, walked: list[After]) -> bool:
    """Whether nothing after the first move follows from it."""
    state = walked[0].state
    first = frozenset(state.nodes.keys() - before.nodes.keys())
    for after in walked[1:]:
        if not first <= state.nodes.keys() or not is_other(state, after.taken.move, scope, first):
            return False
        state = after.state
    return True
