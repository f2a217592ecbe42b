"""The search: breadth first, every state once, until there is no more or a bound is reached."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator

from perdure.bpmn.machine.journal_entries import Entered, Passed
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.proof.ample_sets import Ample
from perdure.bpmn.proof.enabled_moves import Move, Moves
from perdure.bpmn.proof.flag_values import Domain, Open
from perdure.bpmn.proof.process_graph import Outline
from perdure.bpmn.proof.state_checks import Inspector
from perdure.bpmn.proof.state_graph import Graph
from perdure.bpmn.proof.state_keys import Keys
from perdure.bpmn.proof.state_transitions import After, Stepper, Taken
from perdure.bpmn.proof.token_collisions import Meetings
from perdure.bpmn.proof.verdict import Bound, Bounds

SECOND = 1_000_000
OFTEN = 256
CHAIN = 500
"""How many moves without an alternative are taken as one."""

FAILURES = ("error", "call_failed", "call_escalated")
Now = Callable[[], int]
Told = Callable[[int], None]


class Reductions:
    """Which of them are used; all, unless a test wants to see every state.

    `free` flags have any value whenever they are read: more can happen than really can, so what is found then must be
    tried again with values.
    """

    def __init__(self, is_on: bool, free: frozenset[str] = frozenset()) -> None:
        self.is_on = is_on
        self.free = free
        self.used: Counter[str] = Counter()


class Explorer:
    """Holds the search together."""

    def __init__(
        self, starts: Callable[[], Iterator[After]], outline: Outline, domains: dict[str, Domain], moves: Moves,
        stepper: Stepper, inspector: Inspector, bounds: Bounds, now: Now, told: Told, reductions: Reductions,
    ) -> None:  # fmt: skip
        self._outline, self._domains, self._moves, self._stepper = outline, domains, moves, stepper
        self.starts, self._began = starts, 0
        self._inspector, self._bounds, self._now, self._told = inspector, bounds, now, told
        self._reductions = reductions
        self._keys = Keys(outline)
        self._ample = Ample(outline, reductions.free)
        self._meetings = Meetings(outline, moves, stepper, self._keys)
        self._queue: deque[tuple[int, Instance]] = deque()
        self._lives: dict[tuple[str, str], int] = {}
        self.graph = Graph()
        self.visited: set[str] = set()
        self.cut: set[str] = set()
        """Elements tokens stood on where the search went no further."""
        self.bound: Bound = ""

    def run(self) -> None:
        self._began = self._now()
        for after in self.starts():
            self._reach(-1, None, after)
            if self._is_over():
                break
        self._drain()
        while not self.bound and (ignored := self.graph.ignored()):
            for number in ignored:
                state = self._again(number)
                del self.graph.put_off[number]
                self._take(number, state, self._moves.of(state))
            self._drain()

    def _drain(self) -> None:
        while self._queue and not self.bound:
            number, state = self._queue.popleft()
            self._expand(number, state)
            self.graph.drop(state)
            if number % OFTEN == 0:
                self._told(len(self.graph))
            self._is_over()

    def _again(self, number: int) -> Instance:
        """A state that was dropped, made again by walking the way to it."""
        path = self.graph.path(number)
        results: Iterable[After] = self.starts()
        after = next(each for each in results if each.taken == path[0])
        self._slice(after.state)
        for taken in path[1:]:
            results = self._stepper.after(after.state, taken.move)
            after = next(each for each in results if each.taken == taken)
            self._slice(after.state)
        return after.state

    def _is_over(self) -> bool:
        """Whether a bound was reached: asked after every result, since one move may have more of them than states."""
        self.bound = self.bound or self._exceeded()
        return bool(self.bound)

    def _exceeded(self) -> Bound:
        if len(self.graph) > self._bounds.states:
            return "states"
        if self.graph.bytes > self._bounds.bytes:
            return "bytes"
        return "seconds" if self.is_late() else ""

    def is_late(self) -> bool:
        return self._now() - self._began > self._bounds.seconds * SECOND

    def _expand(self, number: int, state: Instance) -> None:
        moves = self._moves.of(state)
        if not moves:
            self.graph.rests[number] = True
            self._inspector.rest(number, state, self.graph)
            return
        chosen = self._ample.choose(state, moves) if self._reductions.is_on else None
        if chosen is None:
            self._take(number, state, moves)
            return
        self._reductions.used["stubborn sets"] += 1
        first = [move for move in moves if move.owner == chosen.leaf]
        ahead = self._take(number, state, [move for move in first if move.kind not in FAILURES])
        self.graph.put_off[number] = ahead
        self._take(number, state, [move for move in first if move.kind in FAILURES])
        self._take(number, state, [move for move in moves if move.owner in chosen.around])

    def _take(self, number: int, state: Instance, moves: list[Move]) -> list[int]:
        """The states some moves lead to."""
        found: list[int] = []
        for after in (each for move in moves for each in self._stepper.after(state, move)):
            found.append(self._reach(number, state, after))
            if self._is_over():
                break
        return found

    def _reach(self, number: int, before: Instance | None, after: After) -> int:
        """Note the state a move led to."""
        self.graph.transitions += 1
        path: list[Taken] = [after.taken]
        seen: set[bytes] = set()
        while True:
            key = self.key(after)
            for element, rest in self._meetings.after(before, after):
                self._inspector.met(number, path, element, rest, self.graph)
            known = self.graph.numbers.get(key)
            if known is not None or key in seen:
                break
            is_cut = self._inspector.look(number, path, after, self.graph)
            further = None if is_cut or len(path) >= CHAIN else self._only(after)
            if is_cut or further is None:
                return self._add(number, key, tuple(path), after, is_cut)
            seen.add(key)
            path.append(further.taken)
            self._note(further)
            self._reductions.used["sequences fused"] += 1
            before, after = after.state, further
        if after.taken.move.kind in FAILURES:
            # A job that failed stands where it stood, so that its state is known.
            self._inspector.look(number, path, after, self.graph)
        if known is None:
            return self._add(number, key, tuple(path), after, False)
        self._join(number, known)
        return known

    def _add(self, number: int, key: bytes, path: tuple[Taken, ...], after: After, is_cut: bool) -> int:
        made = self.graph.add(key, number, path, after.state)
        self._join(number, made)
        self._note(after)
        if is_cut:
            self.graph.rests[made] = True
            self.cut |= {node.element for node in after.state.nodes.values()}
        if is_cut or after.state.ended_at:
            self.graph.drop(after.state)
        else:
            self._queue.append((made, after.state))
        return made

    def _join(self, number: int, to: int) -> None:
        if number >= 0:
            self.graph.successors[number].append(to)

    def _only(self, after: After) -> After | None:
        """What follows when only one thing can: one move, with one result."""
        if not self._reductions.is_on or after.state.ended_at:
            return None
        moves = self._moves.of(after.state)
        if len(moves) != 1:
            return None
        results = self._stepper.after(after.state, moves[0])
        first = next(results, None)
        if first is None or next(results, None) is not None:
            return None
        self.graph.transitions += 1
        return first

    def _note(self, after: After) -> None:
        for entry in after.entries:
            if type(entry) is Entered or type(entry) is Passed:
                self.visited.add(entry.element)

    def key(self, after: After) -> bytes:
        """What makes its state the same as another; values that nothing will read again are forgotten."""
        self._note(after)
        if self._reductions.is_on:
            self._slice(after.state)
        return self._keys.of(after.state)

    def _slice(self, state: Instance) -> None:
        """Values that nothing will read again are forgotten."""
        live = 0
        for node in state.nodes.values():
            place = (node.element, node.kind)
            if place not in self._lives:
                self._lives[place] = self._outline.alive(*place)
            live |= self._lives[place]
        bits = self._outline.bits
        for name, domain in self._domains.items():
            is_kept = live & bits[name] and name not in self._reductions.free
            if is_kept or type(state.flags.get(name)) is Open:
                continue
            if not domain.is_eager:
                state.flags[name] = Open(name)
                self._reductions.used["values forgotten"] += 1
            elif state.flags.get(name) in domain.values[1:]:  # a parked instance may lack it: then it fails later
                state.flags[name] = domain.values[0]
