"""Random sound processes under random stimuli: they always end, hold nothing afterwards, and replay exactly."""

from __future__ import annotations

import pytest

from perdure.bpmn.machine.state import ENDED
from tests.bpmn.machine.play import Player, random_plan

SEEDS = range(400)
WILD, KIND = 60, 2_000


@pytest.mark.req("O6")
@pytest.mark.parametrize("block", range(8))
def test_a_sound_process_ends_from_wherever_chance_has_brought_it_and_leaves_nothing(block: int) -> None:
    for seed in SEEDS[block::8]:
        player = Player(random_plan(seed), seed)
        player.start()
        assert player.state is not None
        for turn in range(WILD + KIND):
            if player.state.status in ENDED:
                break
            if turn % 7 == 3:
                player.reopen()
            assert player.step(is_kind=turn > WILD), f"seed {seed}: nothing can happen and it is {player.state.status}"
        assert player.state.status in ENDED, f"seed {seed} goes on for ever"
        player.reopen()
