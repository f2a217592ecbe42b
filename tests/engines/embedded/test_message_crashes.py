"""Whatever commit a process dies at, another one goes on, and every message counts exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from perdure.sources import Id
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from tests.engines.embedded.message_world import ORIGIN, Desk, desks

pytestmark = pytest.mark.both_stores

Story = Callable[[Desk], Awaitable[None]]
NewUrl = Callable[[], str]


async def dies(url: str, story: Story, crash_at: int, side: Side) -> bool:
    """Play a story in a process that dies at a commit; False when the story ended first."""
    driver = FaultyDriver(quiet_driver(url), crash_at, side)
    await driver.open()
    desk = Desk(driver, VirtualSources(7))  # type: ignore[arg-type]
    with suppress(Crash, asyncio.CancelledError):
        await story(desk)
        await desk.settle()
    is_dead = driver.is_dead
    await driver.abandon()
    return is_dead


@pytest.fixture(params=["sqlite", "postgres"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewUrl]:
    """Urls of stores that are fresh, once for each kind of store."""
    if request.param == "sqlite":
        numbers = count()
        yield lambda: f"sqlite:///{tmp_path / f'{next(numbers)}.db'}"
        return
    server, made = request.getfixturevalue("postgres_server"), []

    def create() -> str:
        made.append(server.create_database())
        return str(made[-1])

    yield create
    for url in made:
        server.drop_database(url)


async def everywhere(new_url: NewUrl, before: Story, story: Story, check: Story, commits: int) -> None:
    """A crash before and after each commit of a story, which another process then tells again from its start."""
    for crash_at in range(1, commits + 1):
        for side in ("before", "after"):
            url = new_url()
            async with desks(url) as (desk,):
                await before(desk)
            assert await dies(url, story, crash_at, side), f"the story has fewer than {crash_at} commits"
            async with desks(url) as (desk,):
                await story(desk)
                await desk.go_on()
                await check(desk)


async def nothing(desk: Desk) -> None:
    pass


def named(label: str) -> Id:
    return Id((label.encode() * 16)[:16])


async def test_a_kept_message_meets_its_wait_wherever_its_process_dies(new_url: NewUrl) -> None:
    async def story(desk: Desk) -> None:
        await desk.publish("m", 60)
        await desk.begin("again", id=named("a"))
        await desk.settle()

    async def check(desk: Desk) -> None:
        assert [each.event for each in (await desk.state(named("a"))).watches.values()] == ["second"]
        assert (await desk.dead(), await desk.publish("m")) == ({}, "duplicate")

    await everywhere(new_url, nothing, story, check, 3)


async def test_a_wait_whose_process_died_before_it_looked_for_messages_gets_them(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        await desk.publish("m", 60)

    async def story(desk: Desk) -> None:
        await desk.begin("again", id=named("a"))

    assert await dies(store_url, story, 1, "after")
    async with desks(store_url) as (desk,):
        assert [each.event for each in (await desk.state(named("a"))).watches.values()] == ["first"]
        assert await desk.messages.sweep() == 1
        assert [each.event for each in (await desk.state(named("a"))).watches.values()] == ["second"]
        assert await desk.publish("m") == "duplicate"
        assert await desk.messages.sweep() == 0


async def test_a_message_that_starts_processes_starts_each_once_wherever_its_process_dies(new_url: NewUrl) -> None:
    async def before(desk: Desk) -> None:
        for process in ("p1", "p2"):
            await desk.begun_by(process, "order")

    async def story(desk: Desk) -> None:
        await desk.messages.publish("order", "case-1", ORIGIN, message_id="m")

    async def check(desk: Desk) -> None:
        assert len(await desk.instances()) == 2
        assert await desk.store.pending_messages(0, 9) == []

    await everywhere(new_url, before, story, check, 3)


async def test_a_broadcast_reaches_each_wait_once_wherever_its_process_dies(new_url: NewUrl) -> None:
    async def before(desk: Desk) -> None:
        for label in "ab":
            await desk.begin("alarmed again", id=named(label))
        await desk.begin("both alarmed", id=named("c"))

    async def story(desk: Desk) -> None:
        await desk.messages.signal("alarm", ORIGIN, message_id="s")

    async def check(desk: Desk) -> None:
        for label in "ab":
            assert [each.event for each in (await desk.state(named(label))).watches.values()] == ["second"]
        assert (await desk.state(named("c"))).status == "completed"
        assert await desk.store.pending_messages(0, 9) == []

    await everywhere(new_url, before, story, check, 5)


async def test_who_begins_to_wait_after_a_signal_was_sent_does_not_hear_it_when_the_broadcast_goes_on(
    store_url: str,
) -> None:
    async def story(desk: Desk) -> None:
        await desk.messages.signal("alarm", ORIGIN, message_id="s")

    async with desks(store_url) as (desk,):
        await desk.begin("alarmed", id=named("a"))
    assert await dies(store_url, story, 1, "after")
    async with desks(store_url) as (desk,):
        await desk.begin("alarmed", id=named("b"))
        await desk.go_on()
        assert [(await desk.state(named(label))).status for label in "ab"] == ["completed", "active"]
