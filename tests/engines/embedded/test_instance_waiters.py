"""Following: told by commits of this process, and by a look at what others did."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.errors import RejectedError
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import line, service, user


async def _waiting(world: World, waits: asyncio.Event) -> tuple[Any, asyncio.Task[Any]]:
    """An instance and someone who waits for its end; `waits` is set each time they begin to."""
    await world.deploy(line("p", user("review")))
    begun = await world.start("p")
    followers: Any = world.instances.followers
    wait = followers.wait

    def waiting(*asked: Any) -> Any:
        waits.set()
        return wait(*asked)

    followers.wait = waiting
    following = asyncio.ensure_future(followers.follow(begun, "end"))
    await waits.wait()
    return begun, following


async def test_whoever_waits_is_told_by_the_commit_and_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as world:
        begun, following = await _waiting(world, asyncio.Event())
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        monkeypatch.setattr(world.instances.followers, "_read_stored", None)
        assert (await following).state.status == "completed"


async def test_whoever_is_seen_waiting_twice_looks_what_others_did(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = asyncio.Event()
    async with opened() as world:
        begun, following = await _waiting(world, waits)
        read, looks = world.instances.read, list[Any]()

        async def looked(*asked: Any) -> Any:
            looks.append(asked)
            return await read(*asked)

        monkeypatch.setattr(world.instances.followers, "_read_stored", looked)
        for is_due in (False, True, False, True):
            waits.clear()
            world.instances.followers._look_again()
            assert [each.told.done() for each in world.instances.followers._waiting[begun.id]] == [is_due]
            if is_due:
                await waits.wait()
        assert len(looks) == 2
        # Another process ends it: nothing here is told of that.
        monkeypatch.setattr(world.engine.instances.kernel, "_tell", lambda committing: None)
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        world.instances.followers._look_again()
        world.instances.followers._look_again()
        assert (await following).state.status == "completed"


async def test_whoever_gives_up_waiting_is_forgotten() -> None:
    async with opened() as world:
        begun, following = await _waiting(world, asyncio.Event())
        other = asyncio.ensure_future(world.instances.followers.follow(begun, "end"))
        found = await world.instances.followers.follow(begun, "end", timeout_seconds=0)
        assert found.state.status == "active"
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN)
        assert (await other).state.status == "completed"
        assert world.instances.followers._waiting == {}


async def test_who_starts_or_answers_and_waits_is_told_what_following_tells() -> None:
    async with opened() as world:
        await world.deploy(line("p", service("a", "t.one"), user("review"), service("b", "t.two")))
        for _ in range(5):
            rests = await world.engine.start("p", ORIGIN, until="rest")
            assert rests is await world.instances.followers.follow(rests, "rest")
            assert [node.element for node in rests.state.nodes.values() if node.parent] == ["review"]
            node = world.node(rests, "review")
            ended = await world.engine.complete_task(rests.id, node, ORIGIN, until="end")
            assert ended.state.status == "completed" and ended == await world.instances.read(rests.id, ORIGIN)
            assert world.instances.followers._waiting == {}
            with pytest.raises(RejectedError, match="'ada' has completed it"):
                await world.engine.complete_task(rests.id, node, ORIGIN, until="end")


async def test_who_starts_again_under_a_key_and_waits_is_told_of_the_first() -> None:
    async with opened() as world:
        await world.deploy(line("p", user("review")))
        begun = [await world.engine.start("p", ORIGIN, idempotency_key="k", until="rest") for _ in range(2)]
        assert begun[0] == begun[1]
        with pytest.raises(RejectedError, match="was used for something else"):
            await world.engine.start("p", ORIGIN, idempotency_key="k", data={"other": 1}, until="rest")


async def test_who_answers_and_waits_gets_what_is_not_in_memory_loaded() -> None:
    async with opened() as world:
        await world.deploy(line("p", user("review"), user("again")))
        begun = await world.start("p", data={"given": 1})
        for element, until in (("review", "rest"), ("again", "end")):
            world.instances.payloads._held.clear()
            world.definitions.plans._held.clear()
            begun = await world.engine.complete_task(
                begun.id, world.node(begun, element), ORIGIN, data={element: "done"}, until=until
            )  # fmt: skip
        assert begun.state.status == "completed"
        assert await world.data(begun) == {"given": 1, "review": "done", "again": "done"}


async def test_who_answers_and_waits_looks_what_others_did_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened() as world:
        await world.deploy(line("p", user("review"), user("again")))
        begun = await world.start("p")
        followers, waits = world.instances.followers, asyncio.Event()
        wait = followers.wait
        monkeypatch.setattr(followers, "wait", lambda *asked: (wait(*asked), waits.set()))
        first = world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN, until="end")
        asked = asyncio.ensure_future(first)
        await waits.wait()
        waits.clear()
        followers._look_again()
        assert not waits.is_set()
        followers._look_again()
        await waits.wait()
        # Another process ends it: nothing here is told of that.
        monkeypatch.setattr(world.engine.instances.kernel, "_tell", lambda committing: None)
        now = await world.instances.read(begun.id, ORIGIN)
        await world.engine.complete_task(begun.id, world.node(now, "again"), ORIGIN)
        followers._look_again()
        followers._look_again()
        assert (await asked).state.status == "completed"
        assert followers._waiting == {}


async def test_who_gives_up_what_they_asked_and_waited_for_is_forgotten_and_it_is_done() -> None:
    async with opened() as world:
        await world.deploy(line("p", user("review"), user("again")))
        begun = await world.start("p")
        answering = world.engine.complete_task(begun.id, world.node(begun, "review"), ORIGIN, until="end")
        asked = asyncio.ensure_future(answering)
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        now = await world.now(begun)
        assert [node.element for node in now.state.nodes.values() if node.parent] == ["again"]
        world.instances.followers._look_again()
        assert world.instances.followers._waiting == {}
