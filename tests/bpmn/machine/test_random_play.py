"""Every element at random, with people, duplicates and late arrivals: it ends, holds nothing, and was told truly."""

from __future__ import annotations

import pytest

from perdure.bpmn.machine.state import ENDED
from tests.bpmn.machine.random_play import WildPlayer, wide_plan

SEEDS = range(320)
WILD, KIND = 60, 3_000


def play(seed: int) -> WildPlayer:
    player = WildPlayer(wide_plan(seed), seed)
    player.start()
    assert player.state is not None
    gives_up_at = player.chance.randint(5, WILD) if player.chance.random() < 0.25 else 0
    for turn in range(1, WILD + KIND):
        if player.state.status in ENDED:
            break
        if turn % 7 == 3:
            player.reopen()
        if turn == gives_up_at or (player.is_modified and turn > WILD):
            player.give_up()
        elif turn < WILD and player.chance.random() < 0.3:
            player.interfere()
        elif not player.step(is_kind=turn > WILD):
            assert player.is_modified, f"nothing can happen and it is {player.state.status}"
            player.give_up()
    assert player.state.status in ENDED, "it goes on for ever"
    player.reopen()
    player.report_everything()
    return player


@pytest.mark.req("O6")
@pytest.mark.parametrize("block", range(8))
def test_every_element_ends_from_wherever_chance_has_brought_it_and_is_told_truly(block: int) -> None:
    for seed in SEEDS[block::8]:
        try:
            play(seed)
        except Exception as error:
            error.add_note(f"Reproduce: tests.bpmn.machine.test_random_play.play({seed})")
            raise
