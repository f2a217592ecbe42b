"""Parked states: a proof that begins from a running instance is true of what may really follow."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.deployed_process import Binding, Deployed
from perdure.bpmn.machine.execution_plan import plan_of
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.sequence_flows import NO_WAY_OUT
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.machine.token_game_loop import ENDLESS
from perdure.bpmn.model import Event, Task, nodes
from perdure.bpmn.proof import Bounds, Verdict
from perdure.bpmn.proof.enabled_moves import Move, Moves, command_of
from perdure.bpmn.proof.parked_states import ParkedStates
from perdure.bpmn.proof.prover import Question
from perdure.bpmn.proof.state_checks import deadlock
from perdure.bpmn.proof.state_transitions import ID, NOW, ORIGIN, start_command
from perdure.bpmn.proof.verb_effects import Environment
from perdure.bpmn.proof.verdict import Step
from perdure.errors import Rejection
from perdure.sources import effort_clock
from tests.bpmn.proof.random_models import random_process
from tests.depth import sampled

LOOSE = Environment()
WALKS, LONGEST, EACH = 8, 60, 60
STUCK = (NO_WAY_OUT, ENDLESS)


class Side:
    """A version as the engine has it, and the moves that the outside may make."""

    def __init__(self, deployed: Deployed, name: str) -> None:
        types = {each.type for each in nodes(deployed.process.body) if isinstance(each, Task | Event) and each.type}
        self.deployed = replace(deployed, bindings={type: Binding(verb=type) for type in sorted(types)})
        self.plan = plan_of(self.deployed, name.encode())
        self.states = ParkedStates(self.deployed, (), LOOSE)
        self._moves = Moves(self.states.outline, self.states.domains, LOOSE, is_lazy=True)

    def moves(self, state: Instance) -> list[Move]:
        return self._moves.of(state)

    def verdict(self, state: Instance) -> Verdict:
        parked = self.states.of(state).state
        question = Question(self.deployed, (), LOOSE, effort_clock(), lambda states: None, parked=parked)
        return question.parked_verdict(Bounds(states=5000, seconds=5.0))


class Play:
    """Two versions of a random process, and instances of them played at random."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.old = Side(random_process(seed, 4, changes=0), "old")
        self.new = Side(random_process(seed, 4, changes=1 + seed % 2), "new")
        self.machine = InstanceMachine(
            {each.plan.hash: each.plan for each in (self.old, self.new)}, lambda _, at: at + 1
        )

    def begun(self, moves: int) -> Instance | None:
        """An instance of the old version after so many moves; None of one that has ended."""
        start = start_command(self.old.plan.hash, self.old.plan.process, "", {})
        decision = self.machine.decide(ID, None, start, ORIGIN, NOW, 0.5)
        assert not isinstance(decision, Rejection)
        state = decision.state
        for _ in range(moves):
            state = self.moved(state, self.old) or state
        return None if state.ended_at else state

    def moved(self, state: Instance, side: Side) -> Instance | None:
        """After one move at random; None where there is none."""
        moves = side.moves(state)
        self.chance.shuffle(moves)
        for move in moves:
            values = {name: self.chance.choice(side.states.domains[name].values) for name in move.open}
            if (after := self.after(state, move, values)) is not None:
                return after
        return None

    def after(self, state: Instance, move: Move, values: dict[str, object]) -> Instance | None:
        decision = self.machine.decide(ID, state, command_of(state, move, values), ORIGIN, NOW, 0.5)  # type: ignore[arg-type]
        return None if isinstance(decision, Rejection) else decision.state

    def migrated(self, state: Instance) -> Instance | None:
        command = c.Migrate(definition=self.new.plan.hash, version=2, mapping={}, worker=1)
        tried = self.machine.tried(state, command, NOW)
        return None if isinstance(tried, Rejection) else tried.state

    def walked(self, state: Instance) -> str:
        """How a walk at random ends: the element where it is stuck, or nothing."""
        for _ in range(LONGEST):
            if state.ended_at:
                return ""
            if stuck := [
                node.element for node in state.nodes.values() if node.incident and node.incident.code in STUCK
            ]:
                return stuck[0]
            after = self.moved(state, self.new)
            if after is None:
                place = deadlock(state)
                return place[0] if place is not None else ""
            state = after
        return ""

    def repeated(self, steps: tuple[Step, ...]) -> bool:
        """Whether something happens in iterations: a proof looks at few of them, and a person sees the others too."""
        spots = self.new.plan.spots
        return any(getattr(spots[each.element].node, "repeat", None) is not None for each in steps)

    def followed(self, state: Instance, steps: tuple[Step, ...]) -> Instance | None:
        """After the steps of a counterexample, taken by the engine; None where one cannot be taken."""
        for step in steps:
            wanted = (step.kind, step.element, step.name, step.code)
            same = [each for each in self.new.moves(state) if (each.kind, each.element, each.name, each.code) == wanted]
            if not same:
                return None
            move = same[min(step.occurrence, len(same) - 1)]
            first = {name: self.new.states.domains[name].values[0] for name in move.open}
            fixed = move._replace(flags=tuple((name, step.flags.get(name, value)) for name, value in move.flags))
            after = self.after(
                state, fixed, {**first, **{name: step.flags[name] for name in move.open if name in step.flags}}
            )
            if after is None:
                return None
            state = after
        return state


@pytest.mark.req("O10")
@pytest.mark.parametrize("block", sampled(range(6), 2))
def test_what_is_proved_from_a_parked_state_never_gets_stuck_and_counterexamples_lead_there(block: int) -> None:
    proved = refuted = 0
    for seed in range(block * EACH, block * EACH + EACH):
        play = Play(seed)
        for moves in (1, 3):
            state = play.begun(moves)
            migrated = play.migrated(state) if state is not None else None
            if migrated is None or migrated.ended_at:
                continue
            verdict = play.new.verdict(migrated)
            if verdict.word == "proved":
                proved += 1
                ends = {play.walked(migrated) for _ in range(WALKS)}
                assert ends == {""}, f"seed {seed}, after {moves} moves: stuck at {ends}"
            for finding in verdict.findings:
                if finding.code == "SND001" and not play.repeated(finding.steps):
                    stuck = play.followed(migrated, finding.steps)
                    assert stuck is not None, f"seed {seed}, after {moves} moves: {finding}"
                    assert finding.element in (deadlock(stuck) or ()), f"seed {seed}, after {moves} moves: {finding}"
                    assert not play.new.moves(stuck), f"seed {seed}, after {moves} moves: {finding}"
                    refuted += 1
    assert proved and refuted, (proved, refuted)
