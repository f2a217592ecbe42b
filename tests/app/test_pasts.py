"""Pasts: shared by instances that went the same way, and left behind with those that have ended."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.app import pasts
from perdure.kernel import kernel
from perdure.kernel.kernel import Kernel
from perdure.sources import Id, parse_id
from tests.engine.models import line, service, user
from tests.engine.world import opened


def _left(kernel: Kernel, count: int) -> asyncio.Event:
    """Comes when so many have left memory."""
    gone, left = asyncio.Event(), [count]

    def leaving(_: Id) -> None:
        left[0] -= 1
        if left[0] == 0:
            gone.set()

    kernel.leave(leaving)
    return gone


async def test_instances_that_went_the_same_way_share_a_past_and_others_have_their_own() -> None:
    async with opened() as world:
        perdure, followed = world.sandbox, world.sandbox.runtime.pasts._followed
        await world.deploy(line("p", service("a", "t.one"), user("review"), service("b", "t.one")))
        begun = [await perdure.instances.start("p", {}, until="rest") for _ in range(6)]
        *_, first, second = [followed[parse_id(each.id)].past for each in begun]
        assert first is second and (list(first.elements), first.verbs) == (["a"], ["t.one"])
        review = begun[-1].tokens[0].number
        await perdure.instances.modify(begun[-1].id, cancel=[review], start=["b"])
        gone = await perdure.instances.wait(begun[-1].id)
        assert (gone.state, gone.completed) == ("completed", ["t.one", "t.one"])
        kept = [followed[parse_id(each.id)].past for each in begun[:-1]]
        assert all(list(each.elements) == ["a"] for each in kept)
        assert [each.completed for each in begun] == [["t.one"]] * 6


async def test_a_past_that_lags_behind_is_read_anew() -> None:
    async with opened() as world:
        perdure, runtime = world.sandbox, world.sandbox.runtime
        await world.deploy(line("p", service("a", "t.one"), user("review"), service("b", "t.one")))
        begun = await perdure.instances.start("p", {}, until="rest")
        lagging = runtime.pasts._followed[parse_id(begun.id)]
        lagging.version -= 1  # as if another process had committed what this one was not told of
        lagging.past = pasts.empty_past()
        was = await world.engine.read(begun.id, perdure._origin)
        assert runtime.pasts.known(was) is None and (await runtime.pasts.of(was)).verbs == ["t.one"]
        lagging = runtime.pasts._followed[parse_id(begun.id)]
        lagging.version, lagging.told, lagging.past = lagging.version - 1, lagging.told - 1, pasts.empty_past()
        ended = await perdure.tasks.complete(f"{begun.id}:{begun.tokens[0].number}", {}, until="end")
        assert (ended.completed, ended.progress) == (["t.one", "t.one"], "3 of 3 steps complete")


async def test_a_long_past_is_an_instances_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasts, "MAX_SHARED_VERBS", 1)
    async with opened() as world:
        perdure, followed = world.sandbox, world.sandbox.runtime.pasts._followed
        await world.deploy(line("p", service("a", "t.one"), service("b", "t.one"), user("review")))
        begun = [await perdure.instances.start("p", {}, until="rest") for _ in range(6)]
        *_, first, second = [followed[parse_id(each.id)].past for each in begun]
        assert first == second and first is not second
        assert [each.completed for each in begun] == [["t.one", "t.one"]] * 6


async def test_what_has_ended_leaves_memory_and_is_shown_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "ENDED_KEPT", 2)
    async with opened() as world:
        perdure, runtime = world.sandbox, world.sandbox.runtime
        await world.deploy(line("p", service("a", "t.one"), user("review")))
        gone = _left(runtime.kernel, 3)
        waits = await perdure.instances.start("p", {"n": 0}, until="rest")
        ended: list[Any] = []
        for number in range(1, 6):
            begun = await perdure.instances.start("p", {"n": number}, until="rest")
            ended.append(await perdure.tasks.complete(f"{begun.id}:{begun.tokens[0].number}", {}, until="end"))
        await gone.wait()
        remembered = [runtime.kernel.remembered(parse_id(each.id)) is not None for each in (waits, *ended)]
        assert remembered == [True, False, False, False, True, True]
        assert {*runtime.engine.payloads._held} == {parse_id(each.id) for each in (waits, *ended[-2:])}
        assert {*runtime.pasts._followed} == {parse_id(each.id) for each in (waits, *ended[-2:])}
        assert [await perdure.instances.get(each.id) for each in (waits, *ended)] == [waits, *ended]


async def test_those_that_end_together_are_all_shown_from_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "ENDED_KEPT", 2)
    async with opened() as world:
        perdure, views = world.sandbox, world.sandbox.instances._views
        await world.deploy(line("p", user("review")))
        gone = _left(world.sandbox.runtime.kernel, 6)
        begun = [await perdure.instances.start("p", {}, until="rest") for _ in range(8)]
        looked: list[Any] = []
        monkeypatch.setattr(type(views), "instance", lambda *given, **_: looked.append(given))
        keys = [f"{each.id}:{each.tokens[0].number}" for each in begun]
        ended = await asyncio.gather(*[perdure.tasks.complete(key, {}, until="end") for key in keys])
        assert [each.state for each in ended] == ["completed"] * 8 and not looked
        await gone.wait()
        assert len(world.sandbox.runtime.pasts._followed) == 2
