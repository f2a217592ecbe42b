"""Suspending what calls and what is called, at the same moment: whoever is suspended for itself stays so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from perdure.engines.embedded.instances.call_activities import Calls
from perdure.kernel.kernel import Aggregate
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import call, line, service, user

pytestmark = pytest.mark.both_stores(one_in=4)

CHILD = line("child", user("ask"), service("b", "t.two"))
PARENT = line("parent", call("inner", "child"))
LOOKS = range(8)
"""At which look at an instance, or word put to one, the other of two things begins that happen together."""


class _Moment:
    """Comes when so many looks at instances have been taken since it was made."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
        self._left, self._come = looks, asyncio.Event()
        self._count()
        instances = world.engine.instances
        for owner, name in ((instances, "read"), (instances, "history"), (instances.kernel, "ask")):
            monkeypatch.setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, asked: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **more: Any) -> Any:
            self._left -= 1
            self._count()
            return asked(*given, **more)

        return counted

    def _count(self) -> None:
        if self._left <= 0:
            self._come.set()

    async def meet(self, first: Awaitable[Any], second: Awaitable[Any]) -> None:
        """The second begins at that moment, or when the first is over; what is refused is refused."""
        await asyncio.gather(self._lead(first), self._follow(second), return_exceptions=True)

    async def _lead(self, work: Awaitable[Any]) -> None:
        try:
            await work
        finally:
            self._come.set()

    async def _follow(self, work: Awaitable[Any]) -> None:
        await self._come.wait()
        await work


async def _begin(world: World) -> tuple[Aggregate, Aggregate]:
    await world.deploy(CHILD, profile="open")
    await world.deploy(PARENT, profile="open")
    begun = await world.start("parent")
    return begun, (await world.instances.newest(ORIGIN, process="child"))[0]


async def _states(world: World, *instances: Aggregate) -> list[str]:
    await world.sandbox.run_until_idle()
    return [(await world.instances.read(each.id, ORIGIN)).state.status for each in instances]


@pytest.mark.req("O12")
@pytest.mark.parametrize("looks", LOOKS)
async def test_a_caller_that_goes_on_meanwhile_lets_nothing_go_on_that_is_suspended_for_itself(
    looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as world:
        caller, child = await _begin(world)
        await world.engine.suspend(child.id, ORIGIN, reason="its own")
        await world.engine.suspend(caller.id, ORIGIN, reason="holiday")
        resumed = world.engine.resume(caller.id, ORIGIN)
        await _Moment(world, monkeypatch, looks).meet(world.sandbox.runtime.look_after(), resumed)
        assert await _states(world, caller, child) == ["active", "suspended"]


@pytest.mark.req("O12")
@pytest.mark.parametrize("looks", LOOKS)
async def test_suspended_for_itself_at_the_moment_its_caller_is_it_stays_so(
    store_url: str, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store_url) as world:
        caller, child = await _begin(world)
        own = world.engine.suspend(child.id, ORIGIN, reason="its own")
        await _Moment(world, monkeypatch, looks).meet(world.engine.suspend(caller.id, ORIGIN, reason="holiday"), own)
        assert await _states(world, caller, child) == ["suspended", "suspended"]
        await world.engine.resume(caller.id, ORIGIN)
        assert await _states(world, caller, child) == ["active", "suspended"]


@pytest.mark.req("O12")
@pytest.mark.parametrize("looks", LOOKS)
async def test_a_caller_that_is_resumed_while_it_is_suspended_leaves_nothing_held(
    looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as world:
        caller, child = await _begin(world)
        resumed = world.engine.resume(caller.id, ORIGIN)
        await _Moment(world, monkeypatch, looks).meet(
            world.engine.suspend(caller.id, ORIGIN, reason="holiday"), resumed
        )
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
        instances = world.engine.instances
        history = instances.history
        monkeypatch.setattr(instances, "history", lambda *told: reads.append(told[0]) or history(*told))

        async def beginning(*_: Any) -> bool:
            return True

        monkeypatch.setattr(Calls, "_is_beginning", beginning)
        for _ in range(3):
            await world.sandbox.runtime.look_after()
        assert child.id not in reads
        assert await _states(world, caller, child) == ["suspended", "suspended"]
