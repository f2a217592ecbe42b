"""When each step of a counterexample happens: the proof is untimed, a scenario has a clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.definition import Deployed
from perdure.bpmn.machine.entries import Entered, Entry, Passed
from perdure.bpmn.machine.machine import InstanceMachine
from perdure.bpmn.machine.plan import plan_of
from perdure.bpmn.machine.state import ROOT, Instance
from perdure.bpmn.model import nodes
from perdure.bpmn.proof.environment import intake_of
from perdure.bpmn.proof.moves import Move, command_of
from perdure.bpmn.proof.replay import occurrence
from perdure.bpmn.proof.stepping import ID, ORIGIN, start_command
from perdure.bpmn.proof.verdict import Step
from perdure.errors import Rejection

MILLI = 1_000
BEGIN = 1_000_000
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


def timetable(deployed: Deployed, steps: tuple[Step, ...], start: dict[str, Scalar]) -> Timetable:
    """Walk the steps on the machine with a clock; it stops where a step cannot be taken."""
    clock = _Clock(replace(deployed, flags=(), is_loose=True))
    for step in _without_intakes(deployed, steps):
        if not clock.take(step, start):
            break
    return clock.table()


class _Clock:
    def __init__(self, deployed: Deployed) -> None:
        plan = plan_of(deployed, b"scenario")
        self._plan = plan
        self._machine = InstanceMachine({plan.hash: plan}, cron=lambda text, after: after + BEGIN)
        self._now = BEGIN
        self._state: Instance | None = None
        self._steps: list[tuple[int, Step]] = []
        self._jobs: dict[int, Ran] = {}
        self._open: list[int] = []
        self._is_natural = self._is_timely = True
        self._keys: dict[int, str] = {}
        self._visited: list[str] = []

    def take(self, step: Step, start: dict[str, Scalar]) -> bool:
        if self._state is None:
            given = {**start, **step.flags}
            return self._decide(start_command(self._plan.hash, self._plan.process, step.name, given), step, -1)
        number = self._number(self._state, step)
        if number < 0:
            return False
        self._now = self._time(self._state, step, number)
        flags = tuple(step.flags.items())
        move = Move(number, step.kind, step.element, number, step.name, step.code, flags, is_undo=step.is_undo)
        return self._decide(command_of(self._state, move, {}), step, number)

    def _decide(self, command: c.Command, step: Step, number: int) -> bool:
        before = self._state
        decision = self._machine.decide(ID, before, command, ORIGIN, self._now, 0.5)
        if isinstance(decision, Rejection) or decision.state is None:
            return False
        if step.kind in ("job", "error"):
            self._job(step, number)
        else:
            self._is_natural = self._is_natural and not self._open
            if before is not None and step.kind == "message":
                self._keys[len(self._steps)] = before.watches[number].key
            self._steps.append((self._now, step))
        self._state = decision.state
        self._visited += visited(decision.entries)
        self._began(decision.state)
        return True

    def _job(self, step: Step, number: int) -> None:
        self._is_natural = self._is_natural and self._open[:1] == [number]
        self._open.remove(number)
        self._jobs[number] = self._jobs[number]._replace(
            ended=self._now, flags=tuple(step.flags.items()), code=step.code
        )

    def _began(self, state: Instance) -> None:
        self._open = [number for number in self._open if number in state.nodes]
        for node in state.nodes.values():
            if node.job is not None and node.job.status == "leased" and node.number not in self._jobs:
                self._jobs[node.number] = Ran(node.job.type, self._now)
                self._open.append(node.number)

    def _time(self, state: Instance, step: Step, number: int) -> int:
        due = state.watches[number].due if step.kind == "timer" else 0
        now = max(self._now + MILLI, due)
        if any(0 < watch.due <= now and watch.number != number for watch in state.watches.values()):
            self._is_timely = False
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
            tuple(self._steps), tuple(self._jobs.values()), self._state, is_natural, self._is_timely,
            tuple(self._keys.items()), tuple(self._visited),
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
