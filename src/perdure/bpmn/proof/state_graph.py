"""The graph of explored states: numbered as found, with the move that reached each."""

from __future__ import annotations

from perdure.bpmn.machine.state import Instance
from perdure.bpmn.proof.state_transitions import Taken

OVERHEAD = 400
"""Bytes kept per state besides its key."""
PER_TOKEN = 700
"""Bytes of one token or watch of a state that still waits to be looked at."""


class Graph:
    """Only keys and edges stay; states themselves are dropped once they have been looked at."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}
        self.parents: list[int] = []
        self.paths: list[tuple[Taken, ...]] = []
        self.successors: list[list[int]] = []
        self.ended: list[bool] = []
        self.rests: list[bool] = []
        """Whether it ends here, well or not: ended, stuck, cut off, deadlocked."""
        self.put_off: dict[int, list[int]] = {}
        """Per state in which some tokens were put off: where those that went first lead without stopping others."""
        self.transitions = 0
        self.bytes = 0

    def __len__(self) -> int:
        return len(self.parents)

    def add(self, key: bytes, parent: int, path: tuple[Taken, ...], state: Instance) -> int:
        number = self.numbers[key] = len(self.parents)
        self.parents.append(parent)
        self.paths.append(path)
        self.successors.append([])
        self.ended.append(state.ended_at != 0)
        self.rests.append(state.ended_at != 0)
        self.bytes += OVERHEAD + len(key) + weight(state)
        return number

    def drop(self, state: Instance) -> None:
        """A state was looked at and is kept no longer."""
        self.bytes -= weight(state)

    def path(self, number: int) -> tuple[Taken, ...]:
        """Everything that led to a state, from the start."""
        found: list[Taken] = []
        while number >= 0:
            found.extend(reversed(self.paths[number]))
            number = self.parents[number]
        return tuple(reversed(found))

    def ignored(self) -> list[int]:
        """States enough to end all putting off: from every other, some way leads to where nobody is put off."""
        before: dict[int, list[int]] = {}
        for number, following in self.put_off.items():
            for each in following:
                before.setdefault(each, []).append(number)
        good: set[int] = set()
        self._spread([each for each in before if each not in self.put_off], before, good)
        found: list[int] = []
        for number in self.put_off:
            if number not in good:
                found.append(number)
                good.add(number)
                self._spread([number], before, good)
        return found

    def _spread(self, waiting: list[int], before: dict[int, list[int]], good: set[int]) -> None:
        while waiting:
            for each in before.get(waiting.pop(), ()):
                if each not in good:
                    good.add(each)
                    waiting.append(each)

    def endless(self) -> list[int]:
        """States from which nothing that ends can be reached, in the order they were found."""
        before: list[list[int]] = [[] for _ in self.parents]
        for number, successors in enumerate(self.successors):
            for each in successors:
                before[each].append(number)
        good = list(self.rests)
        waiting = [number for number, rests in enumerate(self.rests) if rests]
        while waiting:
            for each in before[waiting.pop()]:
                if not good[each]:
                    good[each] = True
                    waiting.append(each)
        return [number for number, is_good in enumerate(good) if not is_good]


def weight(state: Instance) -> int:
    return PER_TOKEN * (len(state.nodes) + len(state.watches))
