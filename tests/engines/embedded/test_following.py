"""Following: told by commits of this process, and by a look at what others did."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.engine.models import line, user
from tests.engine.world import ORIGIN, World, opened


async def _waiting(world: World, waits: asyncio.Event) -> tuple[Any, asyncio.Task[Any]]:
    """An instance and someone who waits for its end; `waits` is set each time they begin to."""
    await world.deploy(line("p", user("review")))
    begun = await world.start("p")
    followers: Any = world.engine.followers
    later = followers._later

    def told(*asked: Any) -> Any:
        waits.set()
        return later(*asked)

    followers._later = told
    following = asyncio.ensure_future(followers.follow(begun, "end"))
    await waits.wait()
    return begun, following


async def test_whoever_waits_is_told_by_the_commit_and_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as world:
        begun, following = await _waiting(world, asyncio.Event())
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        monkeypatch.setattr(world.engine.instances, "read", None)
        assert (await following).state.status == "completed"


async def test_whoever_is_seen_waiting_twice_looks_what_others_did(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = asyncio.Event()
    async with opened() as world:
        begun, following = await _waiting(world, waits)
        read, looks = world.engine.instances.read, list[Any]()

        async def looked(*asked: Any) -> Any:
            looks.append(asked)
            return await read(*asked)

        monkeypatch.setattr(world.engine.instances, "read", looked)
        for is_due in (False, True, False, True):
            waits.clear()
            world.engine.followers._look_again()
            assert [told.done() for told in world.engine.followers._waiting[begun.id]] == [is_due]
            if is_due:
                await waits.wait()
        assert len(looks) == 2
        # Another process ends it: nothing here is told of that.
        monkeypatch.setattr(world.engine.instances.kernel, "_tell", lambda committing: None)
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        world.engine.followers._look_again()
        world.engine.followers._look_again()
        assert (await following).state.status == "completed"


async def test_whoever_gives_up_waiting_is_forgotten() -> None:
    async with opened() as world:
        begun, following = await _waiting(world, asyncio.Event())
        other = asyncio.ensure_future(world.engine.followers.follow(begun, "end"))
        found = await world.engine.followers.follow(begun, "end", timeout_seconds=0)
        assert found.state.status == "active"
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        assert (await other).state.status == "completed"
        assert world.engine.followers._waiting == {}
