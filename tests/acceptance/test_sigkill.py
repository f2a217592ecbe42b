"""Real processes killed with SIGKILL under load, at every kind of commit: nothing is lost, nothing happens twice."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from perdure.testing.services import PostgresService
from tests.acceptance.aftermath import Aftermath
from tests.acceptance.lives import Lives, targets
from tests.acceptance.load import KINDS
from tests.conftest import unavailable
from tests.on_disk import postgres_server

__all__ = ["postgres_server"]

ROUNDS, ANYWHERE = 2, 8
LEAST_HITS = 5
SERVER_KILLS = 5
ANSWER_SECONDS = 60.0


@pytest.mark.req("V17")
@pytest.mark.req("X6")
@pytest.mark.req("X7")
@pytest.mark.timeout(600)
def test_a_hundred_kills_at_every_kind_of_commit_lose_and_repeat_nothing(store_url: str, tmp_path: Path) -> None:
    with Lives(store_url, tmp_path, seed=1) as lives:
        lives.kill_all(targets(ROUNDS, ANYWHERE, random.Random(1)))
    assert lives.kills >= 100
    assert {kind: lives.hits[kind] for kind in KINDS if lives.hits[kind] < LEAST_HITS} == {}
    assert "Traceback" not in lives.errors(), lives.errors()[-4000:]
    asyncio.run(_assert_all_is_well(store_url, tmp_path, lives.life))


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
