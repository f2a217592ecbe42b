"""One move, once for every value of the flags it looks at: the machine decides, a proof only chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.journal_entries import Entry
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.proof.enabled_moves import WORKER, Move, command_of
from perdure.bpmn.proof.flag_values import Domain, Open, OpenValueError
from perdure.errors import Rejection
from perdure.journal import Origin

ORIGIN = Origin()
NOW = 1
ID = bytes(16)

Chosen = tuple[tuple[str, Scalar], ...]


class Taken(NamedTuple):
    """A move with the values that were chosen on the way: of flags it wrote itself, and of ones written before."""

    move: Move
    new: Chosen = ()
    old: Chosen = ()


class After(NamedTuple):
    """Where a move leads."""

    taken: Taken
    state: Instance
    entries: tuple[Entry, ...]


class Stepper:
    """Asks the machine."""

    def __init__(self, machine: InstanceMachine, domains: Mapping[str, Domain]) -> None:
        self._machine, self._domains = machine, domains

    def start(self, command: c.StartInstance, move: Move) -> Iterator[After]:
        """Every state a start leads to."""
        waiting: list[dict[str, Scalar]] = [{}]
        while waiting:
            chosen = waiting.pop()
            flags: dict[str, Scalar] = {**command.flags, **chosen}
            try:
                decision = self._machine.decide(ID, None, _with(command, flags), ORIGIN, NOW, 0.5)
            except OpenValueError as read:
                waiting.extend(self._choices(chosen, read.flag))
                continue
            if not isinstance(decision, Rejection):
                taken = Taken(move, tuple(sorted(chosen.items())))
                yield After(taken, decision.state, decision.entries)

    def after(self, state: Instance, move: Move) -> Iterator[After]:
        """Every state a move leads to."""
        waiting: list[tuple[dict[str, Scalar], dict[str, Scalar]]] = [({}, {})]
        while waiting:
            new, old = waiting.pop()
            try:
                decision = self._machine.decide(
                    ID, _seen(state, old), command_of(state, move, new), ORIGIN, NOW, 0.5
                )  # fmt: skip
            except OpenValueError as read:
                if read.is_new:
                    waiting.extend((each, old) for each in self._choices(new, read.flag))
                else:
                    waiting.extend((new, each) for each in self._choices(old, read.flag))
                continue
            if isinstance(decision, Rejection) or decision.state is None:
                continue
            self._settle(decision.state)
            taken = Taken(move, tuple(sorted(new.items())), tuple(sorted(old.items())))
            yield After(taken, decision.state, decision.entries)

    def _choices(self, chosen: dict[str, Scalar], flag: str) -> list[dict[str, Scalar]]:
        return [{**chosen, flag: value} for value in reversed(self._domains[flag].values)]

    def _settle(self, state: Instance) -> None:
        """What was written is no longer new."""
        for name, value in state.flags.items():
            if type(value) is Open and value.is_new:
                state.flags[name] = Open(name)


def start_command(definition: bytes, process: str, start: str, flags: dict[str, Scalar]) -> c.StartInstance:
    return c.StartInstance(
        definition=definition, process=process, process_version=1, head=b"head", flags=flags, start=start,
        worker=WORKER,
    )  # fmt: skip


def _with(command: c.StartInstance, flags: dict[str, Scalar]) -> c.StartInstance:
    return start_command(command.definition, command.process, command.start, flags)


def _seen(state: Instance, old: Mapping[str, Scalar]) -> Instance:
    """The state with values chosen for flags that were open; decisions work on a copy of what they are given."""
    if not old:
        return state
    made = state.copy()
    made.flags.update(old)
    return made
