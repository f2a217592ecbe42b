"""Pasts: shared by instances that went the same way, and left behind with those that have ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure.app.instances import history_cache
from perdure.app.perdure import Perdure
from perdure.app.runtime import Runtime
from perdure.journal import Origin
from perdure.kernel import kernel
from perdure.kernel.kernel import Kernel
from perdure.sources import Id, SystemSources, id_text, parse_id
from perdure.store.sqlite.driver import SqliteDriver
from perdure.verbs import HandlerRegistry, load_text
from tests.engines.embedded.engine_world import VERBS, Handlers, opened
from tests.engines.embedded.process_models import line, service, user
from tests.pair import pair


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
        followed, id = runtime.pasts._followed, parse_id(begun.id)
        lagging = followed[id]
        lagging.past = (
            history_cache.empty_history()
        )  # as if another process had committed what this one was not told of
        was = await world.instances.read(begun.id, perdure._origin)
        assert runtime.pasts.known(was) is None and (await runtime.pasts.of(was)).verbs == ["t.one"]
        followed[id].past = history_cache.empty_history()
        ended = await perdure.tasks.complete(f"{begun.id}:{begun.tokens[0].number}", {}, until="end")
        assert (ended.completed, ended.progress) == (["t.one", "t.one"], "3 of 3 steps complete")


async def test_a_past_that_was_read_before_this_process_was_told_is_not_told_twice(tmp_path: Path) -> None:
    async with _two(tmp_path, user("r1"), user("r2")) as (one, two):
        begun = await one.instances.start("p", {}, until="rest")
        told, held = asyncio.Event(), []
        one.runtime.store.watch = lambda tell: lambda verdict: (held.append((tell, verdict)), told.set())[-1]
        answering = asyncio.create_task(one.tasks.complete(f"{begun.id}:{begun.tokens[0].number}", {}))
        await told.wait()  # it is durable, and this process has not been told
        assert (await one.instances.get(begun.id)).progress.startswith("1 of 2")
        one.runtime.store.watch = None
        for tell, verdict in held:
            tell(verdict)
        await answering
        waits = await two.instances.get(begun.id)
        await two.tasks.complete(f"{begun.id}:{waits.tokens[0].number}", {}, until="end")
        shown = [await each.instances.get(begun.id) for each in (one, two)]
        assert [each.progress for each in shown] == ["2 of 2 steps complete"] * 2


async def test_a_past_with_a_gap_is_not_taken_for_that_of_an_earlier_record(tmp_path: Path) -> None:
    async with _two(tmp_path, user("r1"), user("r2"), user("r3")) as (one, two):
        begun = await one.instances.start("p", {}, until="rest")
        await two.tasks.complete(f"{begun.id}:{begun.tokens[0].number}", {})
        read = await one.runtime.instances.read(begun.id, one._origin)  # somebody has read the second record
        number = next(node.number for node in read.state.nodes.values() if node.element == "r2")
        await one.runtime.engine.complete_task(read.id, number, one._origin, data={})  # while the third is committed
        assert (await one.instances._views.instance(read)).progress.startswith("1 of 3")


async def test_every_view_of_what_runs_shows_what_its_records_tell(sqlite_url: str) -> None:
    """On threads and a clock that are real: what is read is often durable before this process is told of it."""
    catalogue = load_text(VERBS)
    path = sqlite_url.removeprefix("sqlite:///")
    registry = HandlerRegistry.collect([], catalogue, Handlers().bound(catalogue))
    runtime = Runtime(SqliteDriver(sqlite_url, path), catalogue, registry, SystemSources())
    await runtime.start()
    perdure, engine, instances = Perdure(runtime, Origin()), runtime.engine, runtime.instances
    await engine.deploy(line("p", *[service(f"s{number}", "t.one") for number in range(10)]), Origin())
    wrong: list[Any] = []

    async def look(id: Id) -> None:
        for _ in range(30):
            view = await perdure.instances.get(id_text(id))
            past = history_cache.empty_history()
            for told in (await instances.history(id, Origin()))[: view.sequence]:
                past.add(told.entries)
            wrong.extend([view] if view.completed != past.verbs else [])
            await asyncio.sleep(0)

    async def run() -> None:
        begun = await engine.start("p", Origin(), data={})
        await asyncio.gather(look(begun.id), instances.followers.follow(begun, "end"))

    try:
        for _ in range(3):
            await asyncio.gather(*[run() for _ in range(16)])
    finally:
        await runtime.stop()
    assert not wrong


@asynccontextmanager
async def _two(folder: Path, *elements: Any) -> AsyncIterator[tuple[Perdure, Perdure]]:
    """Two processes, and a process of BPMN that both know."""
    catalogue = load_text(VERBS)
    async with pair(f"sqlite:///{folder}/two.db", catalogue, Handlers().bound(catalogue)) as both:
        await both.first.runtime.engine.deploy(line("p", *elements), Origin())
        yield both.first, both.second


async def test_a_long_past_is_an_instances_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_cache, "MAX_SHARED_VERBS", 1)
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
        assert {*runtime.instances.payloads._held} == {parse_id(each.id) for each in (waits, *ended[-2:])}
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


async def test_who_changes_what_a_view_holds_changes_nothing_of_the_instance() -> None:
    async with opened() as world:
        await world.deploy(line("p", service("a", "t.one"), user("review")))
        for _ in range(4):
            view = await world.sandbox.instances.start("p", {"given": 1, "deep": {"x": [1]}}, until="rest")
            view.data["given"] = 999
            view.data["deep"]["x"].append(2)
            view.flags["orch_other"] = True
            ended = await world.sandbox.tasks.complete(f"{view.id}:{view.tokens[0].number}", {}, until="end")
            assert (ended.data["given"], ended.data["deep"], "orch_other" in ended.flags) == (1, {"x": [1]}, False)
