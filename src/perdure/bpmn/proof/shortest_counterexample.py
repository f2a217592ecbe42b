"""A shorter way to what was found: every move is one step here, none is put off, and the nearest states come first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import takewhile

from perdure.bpmn.proof.enabled_moves import Moves
from perdure.bpmn.proof.state_checks import BEYOND, Inspector, deadlock
from perdure.bpmn.proof.state_search import Explorer
from perdure.bpmn.proof.state_transitions import After, Stepper, Taken

MOST = 2_000
"""So many states are looked at for it."""
What = tuple[str, str, str]
"""A code, an element and a detail."""
Way = tuple[Taken, ...]


class Shortest:
    """Looks for everything that was found at once."""

    def __init__(self, explorer: Explorer, moves: Moves, stepper: Stepper, inspector: Inspector) -> None:
        self._explorer, self._moves, self._stepper, self._inspector = explorer, moves, stepper, inspector

    def ways(self, known: Mapping[What, int]) -> dict[What, Way]:
        """Per thing found the shortest way, where it has fewer steps than the way already known."""
        wanted, found = dict(known), dict[What, Way]()
        seen: set[bytes] = set()
        waiting: deque[tuple[Way, After]] = deque(
            ((each.taken,), each) for each in self._in_time(self._explorer.starts())
        )
        while waiting and wanted and len(seen) < MOST and not self._explorer.is_late():
            way, after = waiting.popleft()
            wanted = {what: steps for what, steps in wanted.items() if steps > len(way)}
            key, shown = self._explorer.key(after), self._shown(after)
            found |= dict.fromkeys(wanted.keys() & shown, way)
            wanted = {what: steps for what, steps in wanted.items() if what not in shown}
            if key in seen or after.state.ended_at or any(what[0] in BEYOND for what in shown):
                continue
            seen.add(key)
            for move in self._moves.of(after.state):
                results = self._in_time(self._stepper.after(after.state, move))
                waiting.extend(((*way, each.taken), each) for each in results)
        return found

    def _in_time(self, results: Iterator[After]) -> Iterator[After]:
        return takewhile(lambda _: not self._explorer.is_late(), results)

    def _shown(self, after: After) -> set[What]:
        shown = {(code, element, detail) for code, element, detail, _ in self._inspector.faults(after)}
        place = deadlock(after.state)
        if place is not None and not self._moves.of(after.state):
            shown.add(("SND001", place[0], ""))
        return shown
