"""When each step of a counterexample happens: the proof is untimed, a scenario has a clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from typing import NamedTuple

from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import Plan, plan_of
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.journal_entries import Entered, Entry, Passed
from perdure.bpmn.machine.state import ROOT, Instance
from perdure.bpmn.model import nodes
from perdure.bpmn.proof.counterexample_replay import occurrence
from perdure.bpmn.proof.enabled_moves import Move, command_of
from perdure.bpmn.proof.state_transitions import ID, ORIGIN, start_command
from perdure.bpmn.proof.verb_effects import intake_of
from perdure.bpmn.proof.verdict import Step
from perdure.errors import Rejection

MILLI = 1_000
BEGIN = 1_000_000
MOST_TRIES = 300
"""So many places in other orders are looked at."""
AROUND = ("join", "many", "loop", "stuck", "undo")
"""Nodes that are no visit of their element."""
ARRIVALS = ("message", "signal", "timer")


class Ran(NamedTuple):
    """One execution of a job: its verb, when it began and ended (0: it never does), and what it did."""

    verb: str
    began: int
    ended: int = 0
    flags: tuple[tuple[str, Scalar], ...] = ()
    code: str = ""


class Timetable(NamedTuple):
    """Steps from outside with their times, jobs in the order they began, and the state at the end.

    It `is_natural` when jobs that simply run as they come give the same; `is_timely` when no other timer would have
    fired before.
    """

    steps: tuple[tuple[int, Step], ...]
    jobs: tuple[Ran, ...]
    end: Instance | None
    is_natural: bool = True
    is_timely: bool = True
    keys: tuple[tuple[int, str], ...] = ()
    """Correlation keys, by the number of the step that brings the message."""
    visited: tuple[str, ...] = ()
    """Elements that tokens went through or stood on."""
    order: tuple[Step, ...] = ()
    """The steps, jobs among them, in the order they are taken."""


def timetable(deployed: Deployed, steps: tuple[Step, ...], start: dict[str, Scalar]) -> Timetable:
    """Walk the steps on the machine with a clock; it stops where a step cannot be taken. Where another timer would have
    fired before, the same steps are tried in another order that leads to the same end."""
    plan = plan_of(replace(deployed, flags=(), is_loose=True), b"scenario")
    told = _without_intakes(deployed, steps)
    clock = _Clock(plan)
    for step in told:
        if not clock.take(step, start):
            break
    table = clock.table()
    return table if table.is_timely else _reordered(plan, told, start, table) or table


def _reordered(plan: Plan, steps: tuple[Step, ...], start: dict[str, Scalar], wanted: Timetable) -> Timetable | None:
    """An order in which every timer fires when it is due: what waits for no clock first, then timers by their time."""
    first = _Clock(plan)
    if len(wanted.order) < len(steps) or not first.take(steps[0], start):
        return None
    waiting = [(first, steps[1:])]
    for _ in range(MOST_TRIES):
        if not waiting:
            break
        clock, left = waiting.pop()
        if not left and _end(table := clock.table()) == _end(wanted):
            return table
        ahead: list[tuple[int, int, _Clock]] = []
        for at, step in enumerate(left):
            further = clock.fork()
            if left.index(step) == at and further.take(step, start) and further.is_timely:
                ahead.append((further.now if step.kind == "timer" else 0, at, further))
        ahead.sort(key=lambda each: each[:2], reverse=True)
        waiting += [(further, (*left[:at], *left[at + 1 :])) for _, at, further in ahead]
    return None


def _end(table: Timetable) -> object:
    """What tells whether two orders come to the same."""
    nodes = table.end.nodes.values() if table.end is not None else ()
    tokens = sorted((node.element, node.kind, node.flow if node.kind == "join" else "", node.incident is not None)
                    for node in nodes)  # fmt: skip
    return "" if table.end is None else table.end.status, tokens, sorted(table.visited)


class _Clock:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._machine = InstanceMachine({plan.hash: plan}, cron=lambda text, after: after + BEGIN)
        self.now = BEGIN
        self._state: Instance | None = None
        self._steps: list[tuple[int, Step]] = []
        self._jobs: dict[int, Ran] = {}
        self._open: list[int] = []
        self._is_natural = self.is_timely = True
        self._keys: dict[int, str] = {}
        self._visited: list[str] = []
        self._order: list[Step] = []

    def fork(self) -> _Clock:
        """The same moment once more, to be gone on from in another way."""
        made = copy(self)
        made._steps, made._open = list(self._steps), list(self._open)
        made._jobs, made._keys = dict(self._jobs), dict(self._keys)
        made._visited, made._order = list(self._visited), list(self._order)
        return made

    def take(self, step: Step, start: dict[str, Scalar]) -> bool:
        if self._state is None:
            given = {**start, **step.flags}
            return self._decide(start_command(self._plan.hash, self._plan.process, step.name, given), step, -1)
        number = self._number(self._state, step)
        if number < 0:
            return False
        self.now = self._time(self._state, step, number)
        flags = tuple(step.flags.items())
        move = Move(number, step.kind, step.element, number, step.name, step.code, flags, is_undo=step.is_undo)
        return self._decide(command_of(self._state, move, {}), step, number)

    def _decide(self, command: c.Command, step: Step, number: int) -> bool:
        before = self._state
        decision = self._machine.decide(ID, before, command, ORIGIN, self.now, 0.5)
        if isinstance(decision, Rejection) or decision.state is None:
            return False
        if step.kind in ("job", "error"):
            self._job(step, number)
        else:
            self._is_natural = self._is_natural and not self._open
            if before is not None and step.kind == "message":
                self._keys[len(self._steps)] = before.watches[number].key
            self._steps.append((self.now, step))
        self._state = decision.state
        self._order.append(step)
        self._visited += visited(decision.entries)
        self._began(decision.state)
        return True

    def _job(self, step: Step, number: int) -> None:
        self._is_natural = self._is_natural and self._open[:1] == [number]
        self._open.remove(number)
        self._jobs[number] = self._jobs[number]._replace(
            ended=self.now, flags=tuple(step.flags.items()), code=step.code
        )

    def _began(self, state: Instance) -> None:
        self._open = [number for number in self._open if number in state.nodes]
        for node in state.nodes.values():
            if node.job is not None and node.job.status == "leased" and node.number not in self._jobs:
                self._jobs[node.number] = Ran(node.job.type, self.now)
                self._open.append(node.number)

    def _time(self, state: Instance, step: Step, number: int) -> int:
        due = state.watches[number].due if step.kind == "timer" else 0
        now = max(self.now + MILLI, due)
        if any(0 < watch.due <= now and watch.number != number for watch in state.watches.values()):
            self.is_timely = False
        return now

    def _number(self, state: Instance, step: Step) -> int:
        if step.kind in ARRIVALS:
            numbers = [each.number for each in state.watches.values() if each.event == step.element]
        else:
            numbers = [node.number for node in state.nodes.values() if node.element == step.element
                       and node.kind != "scope"]  # fmt: skip
        found = sorted(numbers)[step.occurrence : step.occurrence + 1]
        if not found:
            return -1
        move = Move(found[0], step.kind, step.element, found[0])
        return found[0] if occurrence(state, move) == step.occurrence else -1

    def table(self) -> Timetable:
        is_natural = self._is_natural and not self._open
        return Timetable(
            tuple(self._steps), tuple(self._jobs.values()), self._state, is_natural, self.is_timely,
            tuple(self._keys.items()), tuple(self._visited), tuple(self._order),
        )  # fmt: skip


def visited(entries: Iterable[Entry]) -> Iterator[str]:
    """The elements that entries speak of, as scenarios count visits."""
    for entry in entries:
        match entry:
            case Entered() if entry.number != ROOT and entry.kind not in AROUND:
                yield entry.element
            case Passed():
                yield entry.element
            case _:
                pass


def _without_intakes(deployed: Deployed, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Scenarios write an intake's flags with what arrives: the job behind it is folded into the arrival."""
    intakes = {node.id: intake_of(node) for node in nodes(deployed.process.body)}
    found: list[Step] = []
    for step in steps:
        if step.kind == "job" and step.name and intakes.get(step.element) == step.name:
            at = max(at for at, each in enumerate(found) if each.element == step.element)
            found[at] = replace(found[at], flags={**found[at].flags, **step.flags})
        else:
            found.append(step)
    return tuple(found)
