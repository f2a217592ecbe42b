"""Random processes on the production code under a seeded storm: what the pure machine allows, and nothing twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.simulation.instances.simulation import InstanceSimulation
from tests.simulation.test_simulation import folder

__all__ = ["folder"]


@pytest.mark.req("V14", "V15", "V17", "O6", "X6", "X7")
async def test_instances_lose_nothing_and_do_nothing_twice(instance_seed: int, folder: Path) -> None:
    world = await InstanceSimulation(instance_seed, folder).run()
    if world.violations:
        pytest.fail(world.report(), pytrace=False)


FOUND = {
    20: "what the first of several triggers brought was lost",
    106: "an event occurred again while its intake ran",
    681: "a job retried by hand while its last attempt was on its way out did not run",
}


@pytest.mark.parametrize("found", FOUND)
async def test_what_a_seed_has_found_stays_mended(found: int, folder: Path) -> None:
    world = await InstanceSimulation(found, folder).run()
    assert not world.violations, world.report()


def test_the_same_seed_gives_the_same_life_of_instances(folder: Path) -> None:
    digests = set()
    for number in range(2):
        place = folder / str(number)
        place.mkdir()
        digests.add(asyncio.run(InstanceSimulation(42, place).run()).digest())
    assert len(digests) == 1
