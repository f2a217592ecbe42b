"""The production code under a seeded storm: crashes, freezes, duplicates, delays, clock jumps, lost leases.

Two runs of one seed are the same to the letter, so the one line that a failure prints is all it takes to see it again.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from perdure.runbooks.machine import journal_entries as e
from tests.simulation.simulation import Simulation

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def folder(store_folder: Path) -> Path:
    """Where the file lies: in memory if that can be had, since no power fails in a simulation."""
    return store_folder


@pytest.mark.req("X6")
@pytest.mark.req("X7")
@pytest.mark.req("X16")
@pytest.mark.req("V14")
@pytest.mark.req("V17")
async def test_nothing_is_lost_and_nothing_happens_twice(seed: int, folder: Path) -> None:
    world = await Simulation(seed, folder).run()
    if world.violations:
        pytest.fail(world.report(), pytrace=False)


DIGEST = """
import asyncio, pathlib, sys
from tests.simulation.simulation import Simulation
print(asyncio.run(Simulation(int(sys.argv[1]), pathlib.Path(sys.argv[2])).run()).digest())
"""


def test_the_same_seed_gives_the_same_run(folder: Path) -> None:
    digests = set()
    for number in range(2):
        place = folder / str(number)
        place.mkdir()
        digests.add(asyncio.run(Simulation(42, place).run()).digest())
    assert len(digests) == 1


def test_the_same_seed_gives_the_same_run_in_every_process(folder: Path) -> None:
    digests = set()
    for number in range(2):
        place = folder / str(number)
        place.mkdir()
        command = [sys.executable, "-c", DIGEST, "7", str(place)]
        variables = {**os.environ, "PYTHONHASHSEED": str(number), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True, timeout=120)
        digests.add(done.stdout.strip())
    assert len(digests) == 1


NOT_HERE = (e.StepReady, e.ProcessAsked, e.IncidentCreated, e.IncidentClosed)
"""What calls without processes do not meet; the simulation of instances does."""
OF_PLANS = 24
"""The first tag of the entries that only runbooks of several steps have; the simulation of plans meets those."""
SEEN_IN_A_STORM = (
    "dies", "freezes", "thaws", "the clock jumps", "cannot reach the store to commit", "was refused: FencedError",
    "away", "conflict StartCall", "conflict Complete", "conflict FireTimer", "inbox m", "message - v0",
    *(f"{entry.__name__}" for entry in get_args(e.Entry) if entry not in NOT_HERE
      and entry.__struct_config__.tag < OF_PLANS),
)  # fmt: skip


async def test_the_storm_leaves_nothing_out(folder: Path) -> None:
    """Otherwise the simulation could grow calm without anybody noticing."""
    unseen = set(SEEN_IN_A_STORM)
    for seed in range(120):
        world = await Simulation(seed, folder).run()
        unseen -= {what for what in unseen if any(what in line for line in world.trace)}
        if not unseen:
            break
    assert not unseen
