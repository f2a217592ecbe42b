"""The production code under a seeded storm: crashes, freezes, duplicates, delays, clock jumps, lost leases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.simulation import Simulation


@pytest.mark.req("X6")
@pytest.mark.req("X7")
@pytest.mark.req("V14")
@pytest.mark.req("V17")
@pytest.mark.req("X16")
async def test_nothing_is_lost_and_nothing_happens_twice(seed: int, tmp_path: Path) -> None:
    world = await Simulation(seed, tmp_path).run()
    if world.violations:
        pytest.fail(world.report(), pytrace=False)
