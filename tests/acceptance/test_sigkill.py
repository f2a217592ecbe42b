"""Real processes killed with SIGKILL under load, at every kind of commit: nothing is lost, nothing happens twice."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from perdure.testing.postgres_service import PostgresService
from tests.acceptance.aftermath import Aftermath
from tests.acceptance.lives import Lives, Target, each_once, targets
from tests.acceptance.load import KINDS
from tests.conftest import unavailable
from tests.on_disk import postgres_server

__all__ = ["postgres_server"]

ROUNDS, ANYWHERE = 2, 8
FEW = (each_once(ANYWHERE, random.Random(1)), 25, 1)
MANY = (targets(ROUNDS, ANYWHERE, random.Random(1)), 100, 5)
"""Where to kill, how often at least, and how often each kind of commit is hit at least."""
SERVER_KILLS = 5
ANSWER_SECONDS = 60.0


@pytest.mark.req("V17")
@pytest.mark.req("X6")
@pytest.mark.req("X7")
@pytest.mark.both_stores
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("planned", "least_kills", "least_hits"),
    [pytest.param(*FEW, id="25"), pytest.param(*MANY, id="100", marks=pytest.mark.deep)],
)
def test_kills_at_every_kind_of_commit_lose_and_repeat_nothing(
    store_url: str, tmp_path: Path, planned: list[Target], least_kills: int, least_hits: int
) -> None:
    with Lives(store_url, tmp_path, seed=1) as lives:
        lives.kill_all(planned)
    assert lives.kills >= least_kills
    assert {kind: lives.hits[kind] for kind in KINDS if lives.hits[kind] < least_hits} == {}
    assert "Traceback" not in lives.errors(), lives.errors()[-4000:]
    asyncio.run(_assert_all_is_well(store_url, tmp_path, lives.life))


@pytest.mark.deep
@pytest.mark.req("V17")
@pytest.mark.timeout(300)
def test_work_goes_on_by_itself_when_postgres_is_killed_under_load(
    postgres_server: PostgresService, postgres_url: str, tmp_path: Path
) -> None:
    if not postgres_server.is_own:
        unavailable("a named Postgres server is not killed")
    with Lives(postgres_url, tmp_path, seed=2) as lives:
        lives.begin()
        for _ in range(SERVER_KILLS):
            assert lives.wait_for("acked", lives.chance.randint(5, 40))
            postgres_server.kill()
            postgres_server.start()
            lives.forget()
            assert lives.wait_for("acked", 20, seconds=ANSWER_SECONDS), lives.errors()[-4000:]
        lives.kill()
    assert "Traceback" not in lives.errors(), lives.errors()[-4000:]
    asyncio.run(_assert_all_is_well(postgres_url, tmp_path, lives.life))


async def _assert_all_is_well(url: str, folder: Path, lives: int) -> None:
    async with Aftermath.open(url, folder, lives) as aftermath:
        found = await aftermath.assert_all()
    assert found["calls"] > lives
