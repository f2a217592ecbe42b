"""What really happens was foreseen: random runs never leave what the proof has explored."""

from __future__ import annotations

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import plan_of
from perdure.bpmn.machine.journal_entries import Entered, Passed
from perdure.bpmn.machine.state import ENDED
from perdure.bpmn.proof import Bounds, Proof
from perdure.bpmn.proof.state_keys import Keys
from perdure.bpmn.proof.verb_effects import Environment
from tests.bpmn.machine.generator import ERRORS
from tests.bpmn.machine.play import HASH, Player
from tests.bpmn.proof.random_models import random_process, with_handlers
from tests.depth import sampled

SEEDS = range(160)
RUNS = 4


def is_plain(deployed: Deployed) -> bool:
    """Without events that let their activity stand and without many iterations: those are bounded in a proof."""
    for node in m.nodes(deployed.process.body):
        if isinstance(node, m.Event) and not node.is_interrupting:
            return False
        if isinstance(node, m.Task) and isinstance(node.repeat, m.MultiInstance) and node.repeat.cardinality.text > "2":
            return False
    return True


def explored(deployed: Deployed, is_reduced: bool) -> Proof:
    types = [node.type for node in m.nodes(deployed.process.body) if isinstance(node, m.Task) and node.type]
    return searched(deployed, Environment(dict.fromkeys(types, ERRORS)), is_reduced)


def searched(deployed: Deployed, environment: Environment, is_reduced: bool) -> Proof:
    proof = Proof(deployed, (), environment, bounds=Bounds(states=1_500), is_reduced=is_reduced)
    proof.verdict()
    return proof


@pytest.mark.parametrize("block", sampled(range(4), 2))
def test_every_state_of_a_random_run_is_in_the_explored_graph(block: int) -> None:
    checked = 0
    for seed in SEEDS[block::4]:
        deployed = random_process(seed, 5, changes=0)
        if not is_plain(deployed):
            continue
        proof = explored(deployed, is_reduced=False)
        if proof.explorer.bound:
            continue
        keys = Keys(proof.outline)
        for run in range(RUNS):
            for player in walk(deployed, seed * RUNS + run):
                assert player.state is not None
                assert keys.of(player.state) in proof.explorer.graph.numbers, f"seed {seed}, run {run}"
                checked += 1
    assert checked > 100


@pytest.mark.parametrize("block", sampled(range(4), 1))
def test_every_element_of_a_random_run_was_seen_by_the_reduced_search(block: int) -> None:
    for seed in SEEDS[block::4]:
        deployed = random_process(seed, 8, changes=0)
        proof = explored(deployed, is_reduced=True)
        if proof.explorer.bound:
            continue
        for run in range(RUNS):
            for player in walk(deployed, seed * RUNS + run):
                seen = {entry.element for entry in player.journal if isinstance(entry, Entered | Passed)}
                assert seen <= proof.explorer.visited, f"seed {seed}, run {run}"


@pytest.mark.parametrize("block", sampled(range(4), 1))
def test_errors_that_nobody_declared_lead_nowhere_the_search_was_not(block: int) -> None:
    checked = 0
    for seed in SEEDS[block::4]:
        deployed = with_handlers(random_process(seed, 3, changes=0))
        proof = searched(deployed, Environment(), is_reduced=True)
        if proof.explorer.bound:
            continue
        for run in range(RUNS):
            player = walk(deployed, seed * RUNS + run)[-1]
            seen = {entry.element for entry in player.journal if isinstance(entry, Entered | Passed)}
            assert seen <= proof.explorer.visited, f"seed {seed}, run {run}"
            checked += "mend" in seen and "let" in seen
    assert checked > 2


def walk(deployed: Deployed, seed: int) -> list[Player]:
    """A random run, as it is after every step."""
    player = Player(plan_of(deployed, HASH), seed)
    player.start()
    found = [snapshot(player)]
    for _ in range(30):
        if player.state is None or player.state.status in ENDED or not player.step(is_kind=False):
            break
        found.append(snapshot(player))
    return found


def snapshot(player: Player) -> Player:
    made = Player.__new__(Player)
    made.state, made.journal = player.state, list(player.journal)
    return made
