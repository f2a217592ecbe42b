"""What must be true of every journal and every state, told without the machine's own help."""

from __future__ import annotations

from collections import Counter

from perdure.bpmn import model as m
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.journal import Rows


class Oracle:
    """Reads the journal entry by entry, as it is written, and remembers only what it needs to judge the next."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._numbers: set[int] = set()
        self._handlers = {spot.handler for spot in plan.spots.values() if spot.handler}
        self._elements: dict[int, str] = {}
        self._parents: dict[int, int] = {}
        self._done: dict[str, list[tuple[int, int]]] = {}
        """Per handler: completions that are not undone yet, as the scope and the place in the journal."""
        self._undone: dict[int, list[tuple[int, int]]] = {}
        """Per compensation: what it has undone, in its order."""
        self._undoing: set[int] = set()
        self._again: set[int] = set()
        self._hosts: dict[int, tuple[int, str]] = {}
        self._leased: dict[int, int] = {}
        self.calls: dict[int, str] = {}
        self._place = 0
        self._before: e.Entry | None = None
        self.has_ended = False

    def read(self, entry: e.Entry) -> None:
        self._place += 1
        assert not self.has_ended or isinstance(entry, e.JobDiscarded | e.MessageIgnored | e.PayloadErased), entry
        match entry:
            case e.Entered():
                self._entered(entry)
            case e.Armed():
                self._fresh(entry.number)
                self._hosts[entry.number] = (entry.node, entry.event)
            case e.Thrown():
                self._thrown(entry)
            case e.Left():
                self._left(entry)
            case e.JobMade():
                self._job_made(entry)
            case e.JobStarted():
                self._leased[entry.number] = entry.attempt
            case e.JobCompleted() | e.JobFailed() | e.IncidentRaised():
                self._leased.pop(entry.number, None)
            case e.FlagsWritten():
                self._flags(entry)
            case e.Completed():
                self._completed(entry)
            case e.Undoing() if entry.scope:
                self._undoing.add(entry.number)
            case e.InstanceEnded():
                self.has_ended = True
                assert not self.calls, f"{self.calls} were called and are not told to stop"
            case _:
                pass
        self._before = entry

    def _fresh(self, number: int) -> None:
        assert number not in self._numbers, f"{number} was used before"
        self._numbers.add(number)

    def _entered(self, entry: e.Entered) -> None:
        self._fresh(entry.number)
        self._elements[entry.number] = entry.element
        self._parents[entry.number] = entry.parent
        if entry.kind == "scope" and entry.parent in self._undoing:
            # Its own way of being undone: what was done inside it is handed over to it once more.
            self._again.add(entry.number)
        if entry.element in self._handlers and entry.parent in self._undoing:
            self._undo(entry.element, entry.parent)

    def _job_made(self, entry: e.JobMade) -> None:
        before = self._before
        if entry.purpose == "undo" and isinstance(before, e.Entered) and before.number == entry.number:
            self._undo(entry.verb, self._parents[entry.number])

    def _undo(self, handler: str, undoer: int) -> None:
        waiting = self._done.get(handler, [])
        assert waiting, f"{handler} undoes what was not done, or was undone before"
        done = waiting.pop()
        for scope, place in self._undone.setdefault(undoer, []):
            assert scope != done[0] or place > done[1], f"{handler} undoes too late: the order is last first"
        self._undone[undoer].append(done)

    def _completed(self, entry: e.Completed) -> None:
        done = entry.done
        name = done.handler or done.verb
        if name and entry.scope not in self._again:
            self._done.setdefault(name, []).append((entry.scope, self._place))

    def _thrown(self, entry: e.Thrown) -> None:
        match entry.kind:
            case "call":
                assert entry.number not in self.calls
                self.calls[entry.number] = entry.element
            case "cancel_call":
                assert self.calls.pop(entry.number, None), f"{entry.element} was not running and is told to stop"
            case _:
                self._fresh(entry.number)

    def _left(self, entry: e.Left) -> None:
        if entry.how in ("completed", "moved"):
            self.calls.pop(entry.number, None)
        before = self._before
        if isinstance(before, e.Occurred) and before.number in self._hosts:
            host, event = self._hosts[before.number]
            node = self._plan.spots[event].node
            if isinstance(node, m.Event) and node.position == "boundary" and not node.is_interrupting:
                assert host != entry.number, f"{event} is not interrupting and took its host away"

    def _flags(self, entry: e.FlagsWritten) -> None:
        if self._plan.deployed.is_loose or entry.element == "by hand":
            return
        for name in entry.flags:
            contract = self._plan.contracts.get(name)
            assert contract is not None, f"{name} is not declared and was written"
            assert not contract.writers or entry.verb in contract.writers, f"{entry.verb} wrote {name}"
            assert entry.verb or self._elements, name


def check_state(state: Instance, rows: Rows) -> None:
    """Every token can go on: something outside will move it, or a person is told."""
    if state.status in ENDED:
        assert not (rows.parked or rows.timers or rows.jobs or rows.incidents), "rows are left after the end"
        return
    armed = Counter(watch.node for watch in state.watches.values())
    inside = Counter(node.parent for node in state.nodes.values())
    for node in state.nodes.values():
        if node.incident is not None:
            continue
        match node.kind:
            case "job":
                assert node.job is not None
                assert node.job.status != "pending" or node.job.retry_at, f"{node.element} waits for nobody"
            case "wait" | "gate":
                assert armed[node.number], f"{node.element} waits for nothing"
            case "many" | "loop" | "undo" | "scope":
                assert inside[node.number], f"{node.element} is empty and goes on"
            case "stuck":
                raise AssertionError(f"{node.element} is stuck and nobody is told")
            case _:
                pass
    if state.status == "suspended":
        assert not rows.timers and not any(row.kind in ("message", "signal") for row in rows.parked)
        assert all(row.worker for row in rows.jobs)
    numbers = [(row.step, row.kind) for row in rows.timers]
    assert len(set(numbers)) == len(numbers)
