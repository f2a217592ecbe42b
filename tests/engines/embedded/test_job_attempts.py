"""Running jobs: handlers that wait, time out, hang or are cut off, and a store that is away when they are recorded."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest

from perdure.errors import StoreUnavailableError
from perdure.kernel.ports import Told, Unit
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import Call
from tests.engines.embedded.engine_world import ORIGIN, Handlers, World, opened
from tests.engines.embedded.process_models import line, service

pytestmark = pytest.mark.both_stores

SEEN: ContextVar[str] = ContextVar("seen", default="nothing")


def with_plain(plain: Any) -> Handlers:
    handlers = Handlers()
    handlers.plain = plain  # type: ignore[method-assign]
    return handlers


async def test_context_variables_of_one_job_do_not_reach_those_that_run_after_it() -> None:
    seen: list[str] = []

    async def plain(call: Call) -> dict[str, Any]:
        seen.append(SEEN.get())
        SEEN.set(call.call_id)
        return {}

    async with opened(handlers=with_plain(plain)) as world:
        await world.deploy(line("p", service("a", "t.one"), service("b", "t.one")))
        await asyncio.gather(*[world.engine.start("p", ORIGIN) for _ in range(5)])
        await world.sandbox.run_until_idle()
        assert seen == ["nothing"] * 10, "neither of the same commit nor of the next one"


async def test_a_timeout_inside_a_handler_is_the_handlers_own() -> None:
    async def plain(call: Call) -> dict[str, Any]:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            return {"late": True}
        return {"late": False}

    async with opened(handlers=with_plain(plain)) as world:
        await world.deploy(line("p", service("a", "t.one")))
        begun = [await world.start("p") for _ in range(2)]
        assert [each.state.status for each in begun] == ["completed"] * 2
        assert [await world.data(each) for each in begun] == [{"late": True}] * 2


@pytest.mark.parametrize("waits", [False, True])
async def test_waiting_for_something_that_was_cancelled_is_the_handlers_failure(waits: bool) -> None:
    async def plain(call: Call) -> dict[str, Any]:
        other = asyncio.get_running_loop().create_future()
        if waits:
            asyncio.get_running_loop().call_soon(other.cancel)
        else:
            other.cancel()
        await other
        return {}

    async with opened(handlers=with_plain(plain)) as world:
        await world.deploy(line("p", service("a", "t.one")))
        begun = await world.start("p")
        incident = begun.state.nodes[world.node(begun, "a")].incident
        assert incident is not None and "CancelledError" in incident.text


async def test_a_handler_that_waits_holds_up_no_other() -> None:
    gate = asyncio.Event()

    async def plain(call: Call) -> dict[str, Any]:
        if call.verb == "t.one":
            await gate.wait()
        return {}

    async with opened(handlers=with_plain(plain)) as world:
        await world.deploy(line("slow", service("a", "t.one")))
        await world.deploy(line("swift", service("a", "t.two"), service("b", "t.three")))
        names = ["slow", "swift", "slow", "swift"]
        begun = [await world.engine.start(each, ORIGIN) for each in names]
        for each in begun[1::2]:
            await world.instances.followers.follow(each, "end")
        assert await _states(world, begun) == ["active", "completed"] * 2
        gate.set()
        await world.sandbox.run_until_idle()
        assert await _states(world, begun) == ["completed"] * 4


async def _states(world: World, begun: list[Any]) -> list[str]:
    return [(await world.instances.read(each.id, ORIGIN)).state.status for each in begun]


async def test_a_handler_that_hangs_is_cut_off_when_its_process_closes_and_run_again_elsewhere(store_url: str) -> None:
    clock, cut, hanging = VirtualSources(), list[str](), asyncio.Event()

    async def hangs(call: Call) -> dict[str, Any]:
        hanging.set()
        try:
            await asyncio.Event().wait()
        finally:
            cut.append(call.idempotency_key)
        return {}

    async with opened(store_url, with_plain(hangs), clock=clock) as world:
        await world.deploy(line("p", service("a", "t.one")))
        begun = await world.engine.start("p", ORIGIN)
        await hanging.wait()
        await world.sandbox.runtime.conductor.finish_jobs(0)
        assert len(cut) == 1 and not world.sandbox.runtime.conductor.running
    handlers = Handlers()
    async with opened(store_url, handlers, clock=clock) as world:
        ended = await world.now(begun)
        assert (ended.state.status, handlers.keys["t.one"]) == ("completed", set(cut))


async def test_a_result_is_kept_until_the_store_that_was_away_has_recorded_it() -> None:
    clock = VirtualSources()
    async with opened(clock=clock) as world:
        driver: Any = world.sandbox.runtime.driver
        submit, away = driver.submit, 3

        def failing(unit: Unit, told: Told) -> None:
            nonlocal away
            if any(b"RecordJob" in record.body for record in unit.records) and away:
                away -= 1
                error = StoreUnavailableError("commit", "store", "x", "it is away")
                asyncio.get_running_loop().call_soon(told, error)
            else:
                submit(unit, told)

        driver.submit = failing
        await world.deploy(line("p", service("a", "t.one")))
        begun = await world.engine.start("p", ORIGIN)
        await clock.until_asleep(world.sandbox.runtime.conductor.tasks)
        assert away == 2 and world.sandbox.runtime.conductor.running, "it is under way until it is recorded"
        await world.sandbox.advance("PT10S")
        ended = await world.now(begun)
        assert (ended.state.status, away, world.handlers.runs) == ("completed", 0, {"t.one": 1})
        assert not world.sandbox.runtime.conductor.running
