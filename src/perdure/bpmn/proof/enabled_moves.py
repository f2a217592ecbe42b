"""Enabled moves of a state, as the commands that the machine would be given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import NamedTuple, assert_never

from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.call_activity_flags import Names, returned
from perdure.bpmn.machine.state import Failure, Instance, Node, Watch
from perdure.bpmn.model import CallActivity, Event
from perdure.bpmn.proof.flag_values import Domain, Open
from perdure.bpmn.proof.process_graph import Outline
from perdure.bpmn.proof.verb_effects import Environment, intake_of
from perdure.bpmn.proof.verdict import Step, StepKind
from perdure.human_tasks import SOMEONE, Person, entitled

WORKER = 1
MOST = 2
"""How many tokens of an event that does not interrupt may be under way at the same time."""
ARRIVED = b"arrived"


class Move(NamedTuple):
    """One thing the outside may do. `owner` is the node it happens to; `flags` are chosen now, `open` ones later."""

    owner: int
    kind: StepKind
    element: str
    number: int
    name: str = ""
    code: str = ""
    flags: tuple[tuple[str, Scalar], ...] = ()
    open: tuple[str, ...] = ()
    is_undo: bool = False
    has_intake: bool = False


class Moves:
    """Finds the moves of a state."""

    def __init__(
        self, outline: Outline, domains: Mapping[str, Domain], environment: Environment, is_lazy: bool
    ) -> None:
        self._outline, self._domains, self._environment = outline, domains, environment
        self._is_lazy = is_lazy
        self._caught: dict[str, tuple[str, ...]] = {}

    def of(self, state: Instance) -> list[Move]:
        found: list[Move] = []
        for node in state.nodes.values():
            found.extend(self._of_node(state, node))
        for watch in state.watches.values():
            found.extend(self._of_watch(state, watch))
        return found

    def _of_node(self, state: Instance, node: Node) -> Iterator[Move]:
        if node.incident is not None:
            return
        if node.job is not None and node.kind == "job":
            yield from self._of_job(node, node.job.type, _undoes(state, node))
        elif node.kind == "task":
            intake = intake_of(self._outline.parts[node.element].node)
            for flags, left in self._written("" if not intake else None):
                yield Move(node.number, "task", node.element, node.number, "", "", flags, left, has_intake=bool(intake))
        elif node.kind == "call":
            yield from self._of_call(node)

    def _of_job(self, node: Node, verb: str, is_undo: bool) -> Iterator[Move]:
        for flags, left in self._written(verb):
            yield Move(node.number, "job", node.element, node.number, verb, "", flags, left, is_undo)
        for code in self._undo_codes(node, verb) if is_undo else self.codes(verb, node.element):
            yield Move(node.number, "error", node.element, node.number, verb, code, is_undo=is_undo)

    def _of_call(self, node: Node) -> Iterator[Move]:
        activity = self._outline.parts[node.element].node
        if not isinstance(activity, CallActivity):
            return
        process = activity.process
        for flags, left in self._written(process, returned(activity)):
            yield Move(node.number, "call", node.element, node.number, process, "", flags, left)
        for code in self.codes(process, node.element):
            yield Move(node.number, "call_failed", node.element, node.number, process, code)
        for code in self._outline.escalated(node.element):
            yield Move(node.number, "call_escalated", node.element, node.number, process, code)

    def _of_watch(self, state: Instance, watch: Watch) -> Iterator[Move]:
        if watch.is_met or self._is_crowded(state, watch):
            return
        match watch.kind:
            case "condition":
                return
            case "timer":
                yield Move(watch.node, "timer", watch.event, watch.number)
            case "message" | "signal":
                intake = intake_of(self._outline.parts[watch.event].node)
                for flags, left in self._written("" if not intake else None):
                    yield Move(
                        watch.node, watch.kind, watch.event, watch.number, watch.name, "", flags, left,
                        has_intake=bool(intake),
                    )  # fmt: skip
            case _:
                assert_never(watch.kind)

    def _is_crowded(self, state: Instance, watch: Watch) -> bool:
        """Whether an event that lets its activity stand has brought enough tokens that are still under way."""
        part = self._outline.parts[watch.event]
        if not isinstance(part.node, Event) or part.node.is_interrupting or part.node.position == "catch":
            return False
        if part.node.position == "start":
            scope, places = watch.node, frozenset((part.scope, part.id))
        else:
            scope, places = state.nodes[watch.node].parent, self._outline.aside(watch.event)
        return sum(node.parent == scope and node.element in places for node in state.nodes.values()) >= MOST

    def codes(self, verb: str, element: str) -> tuple[str, ...]:
        """The business errors a verb may raise there; when nobody said, those that are caught around it."""
        known = self._environment.raised(verb)
        if known is not None:
            return tuple(sorted(known))
        if element not in self._caught:
            self._caught[element] = self._outline.caught(element)
        return self._caught[element]

    def _undo_codes(self, node: Node, verb: str) -> tuple[str, ...]:
        """What a handler of compensation was declared to raise; a verb that undoes another has an end of its own."""
        is_handler = node.job is not None and node.job.purpose != "undo"
        return tuple(sorted(self._environment.raised(verb) or ())) if is_handler else ()

    def _written(
        self, verb: str | None, among: Names = None
    ) -> Iterator[tuple[tuple[tuple[str, Scalar], ...], tuple[str, ...]]]:
        """Every choice of the flags a verb writes: those chosen now, and those left open. None writes nothing."""
        if verb is None:
            yield (), ()
            return
        names = self._environment.written(verb)
        domains = [
            domain
            for name, domain in self._domains.items()
            if (names is None or name in names) and (among is None or name in among)
        ]
        now = [each for each in domains if each.is_eager or not self._is_lazy]
        left = tuple(each.name for each in domains if not each.is_eager and self._is_lazy)
        for values in product(*(each.values for each in now)):
            yield tuple(zip((each.name for each in now), values, strict=True)), left


def _undoes(state: Instance, node: Node) -> bool:
    """Whether a node runs for a compensation: errors do not leave it."""
    around = state.nodes.get(node.parent)
    while around is not None and around.kind != "undo":
        around = state.nodes.get(around.parent)
    return around is not None


def command_of(state: Instance, move: Move, chosen: Mapping[str, Scalar]) -> c.Command:
    """The command behind a move. `chosen` are values of flags that it writes and that have been read since."""
    flags: dict[str, Scalar] = dict(move.flags)
    for name in move.open:
        flags[name] = chosen[name] if name in chosen else Open(name, is_new=True)
    return _COMMANDS[move.kind](state, move, flags)


def step_of(move: Move, occurrence: int = 0) -> Step:
    return Step(
        kind=move.kind, element=move.element, name=move.name, code=move.code, flags=dict(move.flags),
        occurrence=occurrence, is_undo=move.is_undo,
    )  # fmt: skip


def _job(state: Instance, move: Move, flags: dict[str, Scalar]) -> c.Command:
    job = state.nodes[move.number].job
    assert job is not None
    done = c.JobDone(state.head, flags)
    return c.RecordJob(node=move.number, attempt=job.attempt, job_worker=job.worker, outcome=done, worker=WORKER)


def _error(state: Instance, move: Move, flags: dict[str, Scalar]) -> c.Command:
    job = state.nodes[move.number].job
    assert job is not None
    fault = c.JobFault(_failure(move.code))
    return c.RecordJob(node=move.number, attempt=job.attempt, job_worker=job.worker, outcome=fault, worker=WORKER)


def _task(state: Instance, move: Move, flags: dict[str, Scalar]) -> c.Command:
    message = ARRIVED if move.has_intake else b""
    return c.CompleteTask(
        node=move.number, who=_somebody(state, move.number), message=message, flags=flags, worker=WORKER
    )


def _somebody(state: Instance, number: int) -> Person:
    """Who may answer is not what is proved: somebody may."""
    task = state.nodes[number].task
    return entitled(task) if task is not None else Person(SOMEONE)


def _call(state: Instance, move: Move, flags: dict[str, Scalar]) -> c.Command:
    return c.EndCall(node=move.number, status="completed", flags=flags, worker=WORKER)


def _call_failed(state: Instance, move: Move, flags: dict[str, Scalar]) -> c.Command:
    return c.EndCall(node=move.number, status="failed", failure=_failure(move.code), worker=WORKER)


def _call_escalated(state: Instance, move: Move, flags: dict[str, Scalar]) -> c.Command:
    return c.Escalate(node=move.number, code=move.code, worker=WORKER)


def _arrival(state: Instance, move: Move, flags: dict[str, Scalar]) -> c.Command:
    message = ARRIVED if move.has_intake else b""
    return c.Correlate(watch=move.number, message_id=f"m{state.next}", message=message, flags=flags, worker=WORKER)


def _timer(state: Instance, move: Move, flags: dict[str, Scalar]) -> c.Command:
    return c.FireTimer(number=move.number, kind="watch", due=state.watches[move.number].due, worker=WORKER)


def _failure(code: str) -> Failure:
    return Failure("permanent_business", code, "As declared.")


_COMMANDS: dict[str, Callable[[Instance, Move, dict[str, Scalar]], c.Command]] = {
    "job": _job, "error": _error, "task": _task, "call": _call, "call_failed": _call_failed,
    "call_escalated": _call_escalated,
    "message": _arrival, "signal": _arrival, "timer": _timer,
}  # fmt: skip
