"""Random processes on the production code under a seeded storm: what the pure machine allows, and nothing twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.simulation.instances.simulation import InstanceSimulation
from tests.simulation.test_simulation import folder

__all__ = ["folder"]


@pytest.mark.req("V13", "V14", "V15", "V17", "O6", "X6", "X7", "X13")
async def test_instances_lose_nothing_and_do_nothing_twice(instance_seed: int, folder: Path) -> None:
    world = await InstanceSimulation(instance_seed, folder).run()
    if world.violations:
        pytest.fail(world.report(), pytrace=False)


def test_the_same_seed_gives_the_same_life_of_instances(folder: Path) -> None:
    digests = set()
    for number in range(2):
        place = folder / str(number)
        place.mkdir()
        digests.add(asyncio.run(InstanceSimulation(42, place).run()).digest())
    assert len(digests) == 1
