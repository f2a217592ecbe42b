"""Random runbooks on the production code under a seeded storm: in order, each step once, and nothing lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.simulation.plans.simulation import PlanSimulation
from tests.simulation.test_simulation import folder

__all__ = ["folder"]


@pytest.mark.req("X6", "X7", "V17", "V23")
async def test_runbooks_lose_nothing_and_do_nothing_twice(seed: int, folder: Path) -> None:
    world = await PlanSimulation(seed, folder).run()
    if world.violations:
        pytest.fail(world.report(), pytrace=False)


def test_the_same_seed_gives_the_same_life_of_runbooks(folder: Path) -> None:
    digests = set()
    for number in range(2):
        place = folder / str(number)
        place.mkdir()
        digests.add(asyncio.run(PlanSimulation(42, place).run()).digest())
    assert len(digests) == 1


SEEN_IN_A_STORM = (
    "dies", "freezes", "ChoiceMade", "StepSkipped", "StepCancelled", "FailurePassed", "StepsHeld", "StepRetried",
    "DecisionMade", "RunbookSealed", "CompensationStarted", "CompensationEnded", "RunbookCompleted", "RunbookFailed",
    "StepsAdded", "Escalated", "TimedOut", "AttemptDiscarded", "CompletionIgnored", "conflict LaunchSteps",
)  # fmt: skip


async def test_the_storm_over_runbooks_leaves_nothing_out(folder: Path) -> None:
    """Otherwise the simulation could grow calm without anybody noticing."""
    unseen = set(SEEN_IN_A_STORM)
    for seed in range(120):
        world = await PlanSimulation(seed, folder).run()
        unseen -= {what for what in unseen if any(what in line for line in world.trace)}
        if not unseen:
            break
    assert not unseen
