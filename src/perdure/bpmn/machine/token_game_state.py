"""The state of the token game: an instance being decided on, its new entries, and tokens on their way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.apply import TABLE, inside
from perdure.bpmn.machine.execution_plan import Plan, Spot
from perdure.bpmn.machine.state import Flags, Instance, Node, NodeKind

Cron = Callable[[str, int], int]
"""The next time a cron expression names after a time, both in microseconds; 0 when there is none."""


def no_cron(text: str, after: int) -> int:
    return 0


class TokenGame:
    """Works on a private copy. Everything that happens goes through `emit`, so entries and state always agree."""

    __slots__ = ("cron", "entries", "is_flagged", "moved", "moves", "now", "plan", "ready", "spots", "state", "touched")

    def __init__(self, plan: Plan, state: Instance, now: int, cron: Cron = no_cron) -> None:
        self.follow(plan)
        self.state = state
        self.now = now
        self.cron = cron
        self.entries: list[e.Entry] = []
        self.moves: deque[tuple[Any, ...]] = deque()
        self.touched: dict[int, None] = {}
        self.ready: list[int] = []
        self.is_flagged = False
        self.moved = 0

    def follow(self, plan: Plan) -> None:
        """Go by a plan from now on."""
        self.plan = plan
        self.spots = plan.spots

    def emit(self, entry: e.Entry) -> None:
        TABLE[type(entry)](self.state, entry)
        self.entries.append(entry)

    def spot(self, element: str) -> Spot:
        return self.spots[element]

    @property
    def is_called(self) -> bool:
        """Whether a call activity of another instance waits for this one."""
        return self.state.parent.startswith("node:")

    def later(self, move: str, *about: Any) -> None:
        """Something to do when everything before it has been done; see `moves` for what there is."""
        self.moves.append((move, *about))

    def go(self, element: str, scope: int, flow: str = "") -> None:
        """A token is on its way to an element."""
        self.moves.append(("arrive", element, scope, flow))

    def touch(self, container: int) -> None:
        """Something inside it ended: look whether it is empty once all tokens stand still."""
        self.touched[container] = None

    def enter(self, element: str, parent: int, kind: NodeKind, flow: str = "", iteration: int = 0) -> int:
        number = self.state.next
        self.emit(e.Entered(number, element, parent, kind, self.now, flow, iteration))
        return number

    def remove(self, number: int, how: e.How) -> None:
        """Take a token away with everything inside it; processes it called are told to stop."""
        nodes = self.state.nodes
        for each in (number, *inside(self.state, number)):
            if nodes[each].kind == "call" and how != "completed":
                self.emit(e.Thrown(each, "cancel_call", nodes[each].element))
        self.emit(e.Left(number, how))

    def children(self, number: int) -> list[Node]:
        return [node for node in self.state.nodes.values() if node.parent == number]

    def is_empty(self, number: int) -> bool:
        return all(node.parent != number for node in self.state.nodes.values())

    def scope_of(self, number: int) -> int:
        """The nearest scope around a node."""
        nodes = self.state.nodes
        current = nodes[number].parent
        while current and nodes[current].kind != "scope":
            current = nodes[current].parent
        return current

    def write(self, flags: Flags, verb: str, element: str) -> None:
        if flags:
            self.emit(e.FlagsWritten(flags, verb, element))
            self.is_flagged = True

    def stuck(self, element: str, scope: int, code: str, text: str, flow: str = "") -> None:
        """The token cannot go on: it waits for a person on that element."""
        number = self.enter(element, scope, "stuck", flow)
        self.emit(e.IncidentRaised(number, self.now, code, text))

    def incident(self, number: int, code: str, text: str) -> None:
        self.emit(e.IncidentRaised(number, self.now, code, text))
