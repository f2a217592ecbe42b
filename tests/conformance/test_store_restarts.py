"""A server that restarts, dies or loses an answer: work goes on by itself, nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from perdure.errors import FencedError, StoreUnavailableError
from perdure.kernel.ports import Conflict
from perdure.store.postgres.connection import Lost
from perdure.store.postgres.driver import PostgresDriver
from perdure.store.postgres.pipeline import COMMIT, Pipeline, Request
from perdure.testing.postgres_service import PostgresService
from tests.conformance.stores import TENANT, Raw, id_of, lone, message, opened, store_over, unit_of
from tests.conftest import unavailable


@pytest.fixture
def own_server(postgres_server: PostgresService) -> PostgresService:
    if not postgres_server.is_own:
        unavailable("the Postgres in use was named from outside and is not ours to stop")
    return postgres_server


@pytest.mark.parametrize("how", ["immediate", "kill"])
async def test_a_server_restarted_under_load_costs_nobody_anything(
    own_server: PostgresService, postgres_url: str, how: str
) -> None:
    acknowledged = 0
    half_way = asyncio.Event()

    async def work(driver: Any, label: int) -> None:
        nonlocal acknowledged
        for version in range(20):
            assert await driver.commit(unit_of(label, version, inbox=message(f"{label}/{version}"))) is None
            loaded = await store_over(driver).load(id_of(label))
            assert loaded is not None and loaded.version == version + 1
            acknowledged += 1
            if acknowledged == 100:
                half_way.set()

    def restart() -> None:
        if how == "immediate":
            own_server.restart("immediate")
        else:
            own_server.kill()
            own_server.start()

    async with opened(postgres_url, 2) as drivers:
        callers = [asyncio.create_task(work(drivers[label % 2], label)) for label in range(16)]
        await half_way.wait()
        await asyncio.to_thread(restart)
        await asyncio.gather(*callers)
        with Raw(postgres_url) as raw:
            assert raw("SELECT count(*), count(DISTINCT (aggregate, sequence)) FROM journal") == [(320, 320)]
            assert raw("SELECT count(*) FROM inbox") == [(320,)]
            assert raw("SELECT min(version), max(version), count(*) FROM aggregate") == [(20, 20, 16)]


async def test_callers_are_told_when_patience_ends_and_the_store_comes_back_by_itself(
    own_server: PostgresService, postgres_url: str
) -> None:
    driver = PostgresDriver(postgres_url, patience_seconds=0.2)
    await driver.open()
    await driver.commit(unit_of("a"))
    await asyncio.to_thread(own_server.kill)
    for ask in (
        driver.commit(unit_of("a", 1)),
        driver.fetch("load_aggregate", id=id_of("a")),
        driver.fetch("live_workers", now=None),
    ):
        with pytest.raises(StoreUnavailableError):
            await ask
    await asyncio.to_thread(own_server.start)
    assert await driver.commit(unit_of("a", 1)) is None
    assert await driver.fetch("count_aggregates") == [(1,)]
    await driver.close()


def lose_the_next_commit(
    monkeypatch: pytest.MonkeyPatch, *, is_done: bool, meanwhile: Callable[[], None] = lambda: None
) -> None:
    """The next COMMIT takes effect, or not, and its answer is lost."""
    real = Pipeline.turn

    async def turn(self: Pipeline, requests: list[Request]) -> list[list[tuple[Any, ...]]]:
        if requests[-1].statement != COMMIT:
            return await real(self, requests)
        monkeypatch.setattr(Pipeline, "turn", real)
        if is_done:
            await real(self, requests)
        await self.close()
        meanwhile()
        raise Lost("the answer was lost")

    monkeypatch.setattr(Pipeline, "turn", turn)


@pytest.mark.parametrize("is_done", [True, False])
async def test_a_commit_whose_answer_was_lost_is_settled(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    async with opened(postgres_url) as (driver,):
        await driver.commit(unit_of("old"))
        lose_the_next_commit(monkeypatch, is_done=is_done)
        units = [
            unit_of("a", idempotency=("key", b"")), unit_of("old", 1), lone(message("m", at=77)),
            unit_of("b", idempotency=("key", b"")), unit_of("old", 0, mark="late"),
        ]  # fmt: skip
        verdicts = await asyncio.gather(*map(driver.commit, units))
        assert verdicts == [None, None, None, Conflict("idempotency", "key", id_of("a")), Conflict("version")]
        with Raw(postgres_url) as raw:
            assert raw("SELECT count(*) FROM journal") == [(4,)]
            assert raw("SELECT count(*) FROM inbox") == [(1,)]


async def test_a_lost_answer_is_settled_though_others_have_gone_on_since(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(postgres_url) as (driver,):
        with Raw(postgres_url) as raw:
            lose_the_next_commit(
                monkeypatch, is_done=True, meanwhile=lambda: raw("UPDATE aggregate SET version = 9") and None
            )
            assert await driver.commit(unit_of("a")) is None


async def test_a_lost_answer_is_settled_though_the_lease_was_taken_meanwhile(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(postgres_url) as (driver,):
        driver.fence = await store_over(driver).add_worker("host", "process", 1)
        with Raw(postgres_url) as raw:
            lose_the_next_commit(
                monkeypatch, is_done=True, meanwhile=lambda: raw("UPDATE worker SET is_fenced = 1") and None
            )
            assert await driver.commit(unit_of("a")) is None
        with pytest.raises(FencedError):
            await driver.commit(unit_of("b"))


async def test_a_message_of_someone_else_is_not_taken_for_the_lost_one(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(postgres_url, 2) as (driver, other):
        await other.commit(lone(message("m", at=5)))
        lose_the_next_commit(monkeypatch, is_done=False)
        assert await driver.commit(lone(message("m", at=6))) == Conflict("inbox", "m", None, "applied")
        found = await store_over(driver).message(TENANT, "m")
        assert found is not None and found.received_at == 5


async def test_a_read_abandoned_in_the_middle_leaves_the_store_usable(postgres_url: str) -> None:
    async with opened(postgres_url) as (driver,):
        await driver.commit(unit_of("a"))
        for _ in range(10):
            task = asyncio.create_task(driver.fetch("count_aggregates"))
            for _ in range(3):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert await driver.fetch("count_aggregates") == [(1,)]
