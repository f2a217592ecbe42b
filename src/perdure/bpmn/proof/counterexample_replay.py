"""Replay of a counterexample with every flag given: steps anybody can follow, as few as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.proof.enabled_moves import Move, Moves, command_of, step_of
from perdure.bpmn.proof.flag_values import Domain
from perdure.bpmn.proof.state_transitions import ID, NOW, ORIGIN, After, Taken, start_command
from perdure.bpmn.proof.verdict import Step
from perdure.errors import Rejection

Shows = Callable[[list[After]], bool]
MOST_TRIES = 300


class Replay:
    """Runs moves and steps on the machine, with values where the search had open flags."""

    def __init__(
        self, machine: InstanceMachine, definition: bytes, process: str, domains: Mapping[str, Domain], moves: Moves,
        parked: Instance | None = None,
    ) -> None:  # fmt: skip
        """One that is told of a `parked` state begins there."""
        self._machine, self._definition, self._process = machine, definition, process
        self._domains, self._moves, self._parked = domains, moves, parked

    def steps(self, path: tuple[Taken, ...]) -> tuple[Step, ...]:
        """The path as steps, each with the flags it must write for the rest to follow."""
        given = _given(path)
        found: list[Step] = []
        state: Instance | None = None
        for at, taken in enumerate(path):
            at_hand = 0 if state is None else occurrence(state, taken.move)
            if at_hand < 0:
                break
            step = step_of(taken.move, at_hand)
            found.append(replace(step, flags={**step.flags, **given[at]}))
            after = self._act(state, taken.move, found[-1].flags)
            if after is None:
                break
            state = after.state
        return tuple(found)

    def run(self, steps: tuple[Step, ...]) -> list[After] | None:
        """Every state on the way; None when some step cannot be taken."""
        found: list[After] = []
        state: Instance | None = None
        for step in steps:
            move = step_move(step) if state is None else self._find(state, step)
            after = self._act(state, move, step.flags) if move is not None else None
            if after is None:
                return None
            found.append(after)
            state = after.state
        return found

    def shorten(self, steps: tuple[Step, ...], shows: Shows) -> tuple[Step, ...]:
        """Leave out steps, last first, as long as the end shows the same."""
        tries = 0
        at = len(steps) - 1
        while at > 0 and tries < MOST_TRIES:
            shorter = (*steps[:at], *steps[at + 1 :])
            tries += 1
            after = self.run(shorter)
            if after and shows(after):
                steps = shorter
                at = min(at, len(steps))
            at -= 1
        return steps

    def _find(self, state: Instance, step: Step) -> Move | None:
        for move in self._moves.of(state):
            same = (move.kind, move.element, move.name, move.code) == (step.kind, step.element, step.name, step.code)
            if same and occurrence(state, move) == step.occurrence:
                return move
        return None

    def _act(self, state: Instance | None, move: Move, flags: Mapping[str, Scalar]) -> After | None:
        if state is None and self._parked is not None:
            return After(Taken(move), self._parked.copy(), ())
        if state is None:
            given = {name: self._start(domain, flags) for name, domain in self._domains.items()}
            command = start_command(self._definition, self._process, move.name, given)
            decision = self._machine.decide(ID, None, command, ORIGIN, NOW, 0.5)
        else:
            chosen = {name: flags.get(name, self._domains[name].values[0]) for name in move.open}
            fixed = move._replace(flags=tuple((name, flags.get(name, value)) for name, value in move.flags))
            decision = self._machine.decide(ID, state, command_of(state, fixed, chosen), ORIGIN, NOW, 0.5)
        if isinstance(decision, Rejection) or decision.state is None:
            return None
        return After(Taken(move), decision.state, decision.entries)

    def _start(self, domain: Domain, flags: Mapping[str, Scalar]) -> Scalar:
        if domain.name in flags:
            return flags[domain.name]
        return domain.values[0] if domain.initial is None else domain.initial


def step_move(step: Step) -> Move:
    return Move(0, step.kind, step.element, 0, step.name, step.code)


def occurrence(state: Instance, move: Move) -> int:
    """Which of the tokens on its element, or of the watches for its event, a move is about."""
    if move.kind in ("message", "signal", "timer"):
        same: Iterator[int] = (each.number for each in state.watches.values() if each.event == move.element)
    else:
        same = (each.number for each in state.nodes.values() if each.element == move.element and each.kind != "scope")
    found = sorted(same)
    return found.index(move.number) if move.number in found else -1


def _given(path: tuple[Taken, ...]) -> list[dict[str, Scalar]]:
    """Per step the flags whose values matter: what is read later belongs to the step that wrote it last."""
    found: list[dict[str, Scalar]] = [{} for _ in path]
    wrote: dict[str, int] = {}
    for at, taken in enumerate(path):
        for name, value in taken.old:
            found[wrote.get(name, 0)][name] = value
        found[at].update(taken.new)
        for name in (*taken.move.open, *(name for name, _ in taken.move.flags)):
            wrote[name] = at
    return found
