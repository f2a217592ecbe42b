"""Following: told by commits of this process, and by a look at what others did."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.engine.models import line, user
from tests.engine.world import ORIGIN, World, opened


async def _waiting(world: World) -> tuple[Any, asyncio.Task[Any]]:
    await world.deploy(line("p", user("review")))
    begun = await world.start("p")
    following = asyncio.ensure_future(world.engine.followers.follow(begun, "end"))
    await asyncio.sleep(0)
    return begun, following


async def test_whoever_waits_is_told_by_the_commit_and_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as world:
        begun, following = await _waiting(world)
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        monkeypatch.setattr(world.engine.instances, "read", None)
        assert (await following).state.status == "completed"


async def test_whoever_is_seen_waiting_twice_looks_what_others_did(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as world:
        begun, following = await _waiting(world)
        read, looks = world.engine.instances.read, list[Any]()

        async def looked(*asked: Any) -> Any:
            looks.append(asked)
            return await read(*asked)

        monkeypatch.setattr(world.engine.instances, "read", looked)
        for expected in (0, 1, 1, 2):
            world.engine.followers._look_again()
            for _ in range(3):
                await asyncio.sleep(0)
            assert len(looks) == expected
        # Another process ends it: nothing here is told of that.
        monkeypatch.setattr(world.engine.instances.kernel, "_tell", lambda committing: None)
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        world.engine.followers._look_again()
        world.engine.followers._look_again()
        assert (await following).state.status == "completed"


async def test_whoever_gives_up_waiting_is_forgotten() -> None:
    async with opened() as world:
        begun, following = await _waiting(world)
        other = asyncio.ensure_future(world.engine.followers.follow(begun, "end"))
        found = await world.engine.followers.follow(begun, "end", timeout_seconds=0)
        assert found.state.status == "active"
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        assert (await other).state.status == "completed"
        assert world.engine.followers._waiting == {}
