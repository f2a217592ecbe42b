"""Suspending what calls and what is called, at the same moment: whoever is suspended for itself stays so."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from perdure.engines.embedded.calls import Calls
from perdure.engines.embedded.instances import Instances
from perdure.kernel.kernel import Aggregate
from tests.engine.models import call, line, service, user
from tests.engine.world import ORIGIN, World, opened

CHILD = line("child", user("ask"), service("b", "t.two"))
PARENT = line("parent", call("inner", "child"))
TURNS = range(24)


async def _begin(world: World) -> tuple[Aggregate, Aggregate]:
    await world.deploy(CHILD, profile="open")
    await world.deploy(PARENT, profile="open")
    begun = await world.start("parent")
    return begun, (await world.engine.list_instances(ORIGIN, process="child"))[0]


async def _later(turns: int, work: Coroutine[Any, Any, Any]) -> Any:
    for _ in range(turns):
        await asyncio.sleep(0)
    return await work


async def _states(world: World, *instances: Aggregate) -> list[str]:
    await world.sandbox.run_until_idle()
    return [(await world.engine.read(each.id, ORIGIN)).state.status for each in instances]


@pytest.mark.req("O12")
@pytest.mark.parametrize("turns", TURNS)
async def test_a_caller_that_goes_on_meanwhile_lets_nothing_go_on_that_is_suspended_for_itself(turns: int) -> None:
    async with opened() as world:
        caller, child = await _begin(world)
        await world.engine.suspend(child.id, ORIGIN, reason="its own")
        await world.engine.suspend(caller.id, ORIGIN, reason="holiday")
        resumed = _later(turns, world.engine.resume(caller.id, ORIGIN))
        await asyncio.gather(world.sandbox.runtime.look_after(), resumed)
        assert await _states(world, caller, child) == ["active", "suspended"]


@pytest.mark.req("O12")
@pytest.mark.parametrize("turns", TURNS)
async def test_suspended_for_itself_at_the_moment_its_caller_is_it_stays_so(store_url: str, turns: int) -> None:
    async with opened(store_url) as world:
        caller, child = await _begin(world)
        own = _later(turns, world.engine.suspend(child.id, ORIGIN, reason="its own"))
        await asyncio.gather(world.engine.suspend(caller.id, ORIGIN, reason="holiday"), own)
        assert await _states(world, caller, child) == ["suspended", "suspended"]
        await world.engine.resume(caller.id, ORIGIN)
        assert await _states(world, caller, child) == ["active", "suspended"]


@pytest.mark.req("O12")
@pytest.mark.parametrize("turns", TURNS)
async def test_a_caller_that_is_resumed_while_it_is_suspended_leaves_nothing_held(turns: int) -> None:
    async with opened() as world:
        caller, child = await _begin(world)
        suspended = world.engine.suspend(caller.id, ORIGIN, reason="holiday")
        resumed = _later(turns, world.engine.resume(caller.id, ORIGIN))
        await asyncio.gather(suspended, resumed, return_exceptions=True)
        found = await _states(world, caller, child)
        assert found in (["active", "active"], ["suspended", "suspended"])


@pytest.mark.req("O12")
async def test_as_long_as_something_is_beginning_histories_of_what_is_held_are_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened() as world:
        caller, child = await _begin(world)
        await world.engine.suspend(caller.id, ORIGIN)
        reads: list[Any] = []
        history = Instances.history
        monkeypatch.setattr(Instances, "history", lambda *told: reads.append(told[1]) or history(*told))

        async def beginning(*_: Any) -> bool:
            return True

        monkeypatch.setattr(Calls, "_is_beginning", beginning)
        for _ in range(3):
            await world.sandbox.runtime.look_after()
        assert child.id not in reads
        assert await _states(world, caller, child) == ["suspended", "suspended"]
