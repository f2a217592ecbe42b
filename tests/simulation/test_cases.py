"""Random lives of cases on the production code under a seeded storm: none moves twice, and none is forgotten."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.simulation.cases.simulation import CaseSimulation
from tests.simulation.test_simulation import folder

__all__ = ["folder"]


@pytest.mark.req("T2", "T5", "T9")
async def test_cases_lose_nothing_and_do_nothing_twice(instance_seed: int, folder: Path) -> None:
    world = await CaseSimulation(instance_seed, folder).run()
    if world.violations:
        pytest.fail(world.report(), pytrace=False)


def test_the_same_seed_gives_the_same_life_of_cases(folder: Path) -> None:
    digests = set()
    for number in range(2):
        place = folder / str(number)
        place.mkdir()
        digests.add(asyncio.run(CaseSimulation(42, place).run()).digest())
    assert len(digests) == 1


SEEN_IN_A_STORM = (
    "dies", "freezes", "StateEntered", "FactsJudged", "TaskRequested", "TaskResultReceived", "TaskClosed",
    "TransitionProposed", "LifecycleEnded", "VersionVerified", "VersionRejected", "VersionExpired",
    "DocumentSuperseded", "DocumentErased", "conflict Evaluate", "asks",
)  # fmt: skip


async def test_the_storm_over_cases_leaves_nothing_out(folder: Path) -> None:
    """Otherwise the simulation could grow calm without anybody noticing."""
    unseen = set(SEEN_IN_A_STORM)
    for seed in range(120):
        world = await CaseSimulation(seed, folder).run()
        unseen -= {what for what in unseen if any(what in line for line in world.trace)}
        if not unseen:
            break
    assert not unseen
