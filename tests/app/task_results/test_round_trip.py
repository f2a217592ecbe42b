"""The round trip of a pending task by every door: asked for, brought twice and out of order, counted once, moved on."""

from __future__ import annotations

import asyncio
import random
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from perdure.lifecycles.machine.state import Instance
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from tests.app.task_results.doors import BusDoor, Door, OperationDoor, SqlDoor, VerbDoor
from tests.buses.brokers import fresh_source
from tests.crash.audit import assert_audit_passes
from tests.lifecycles.onboarding import ME, Handlers, catalogue, lifecycles_of, written

LIFECYCLE = """
workflow: onboarding
states:
  OPEN:
    requirements:
      - type: field_present
        field: task_result:passport
        id: passport
        on_fail:
          blocker:
            type: MissingDocument
            resolution: "(papers.ask :client $subject :paper passport)"
            auto: true
            expected: 2
  REVIEW: {terminal: true}
transitions:
  - {from: OPEN, to: REVIEW}
"""
CLIENTS = ("c1", "c2", "c3")
FAST = ("operation", "verb", "sql", "redis")
UNACKNOWLEDGED = ("operation", "verb")
"""Doors whose sender is told at once, and keeps what is refused."""
BROKERS = {"redis": "redis_url", "nats": "nats_url", "kafka": "kafka_url"}
POISON: tuple[dict[str, Any] | bytes, ...] = (
    b"this is no JSON",
    {"correlation_id": "nobody:asked:for:1", "status": "completed"},
)
MAX_LIVES = 40


async def door_named(name: str, store_url: str, request: pytest.FixtureRequest) -> Door:
    if name in BROKERS:
        door = BusDoor(request.getfixturevalue(BROKERS[name]), fresh_source())
        await door.begin()
        return door
    return SqlDoor(store_url) if name == "sql" else VerbDoor() if name == "verb" else OperationDoor()


class Story:
    """Three clients whose passports are asked for, each in two pieces."""

    def __init__(self, url: str, file: Path) -> None:
        self.url, self.file = url, file
        self.clock, self.handlers = VirtualSources(seed=7), Handlers()

    async def process(self, crash_at: int = 0, side: Side = "before") -> tuple[Sandbox, FaultyDriver]:
        faulty = FaultyDriver(quiet_driver(self.url), crash_at, side)
        sandbox = await Sandbox.start(
            self.url, definitions=catalogue(), lifecycles=[self.file], handlers=self.handlers.bound(),
            clock=self.clock, driver=faulty,
        )  # fmt: skip
        return sandbox, faulty

    async def begin(self) -> list[str]:
        """The correlation ids of what was asked for."""
        sandbox, _ = await self.process()
        for client in CLIENTS:
            await lifecycles_of(sandbox).start("onboarding", client, {}, ME)
        await sandbox.run_until_idle()
        found = [state.tasks[0].correlation_id for state in await self.states(sandbox)]
        await sandbox.runtime.stop()
        return found

    async def states(self, sandbox: Sandbox) -> list[Instance]:
        found = [await lifecycles_of(sandbox).newest("onboarding", client, ME) for client in CLIENTS]
        return [each.state for each in found if each is not None]

    async def live(self, door: Door, crash_at: int, side: Side, dies_at: int) -> bool:
        """One life of a worker; whether it ended of old age."""
        sandbox, faulty = await self.process(crash_at, side)
        try:
            await door.work(sandbox, dies_at)
        except (Crash, asyncio.CancelledError) as end:
            # Of commands that shared the commit in which the process died, some are cancelled.
            if not isinstance(end, Crash) and not faulty.is_dead:
                raise
            await faulty.abandon()
            return False
        await sandbox.runtime.stop()
        return True


def mail(correlation_ids: list[str], seed: int) -> list[dict[str, Any] | bytes]:
    """Two pieces for each task, everything twice and out of order, poison in between."""
    found: list[dict[str, Any] | bytes] = [
        {
            "correlation_id": each, "status": "completed", "cargo_type": "document",
            "cargo_ref": f"entity://default/{number}", "idempotency_key": f"k{number}",
        }
        for each in correlation_ids
        for number in (1, 2)
    ]  # fmt: skip
    stolen = {"correlation_id": correlation_ids[0], "status": "completed", "cargo_ref": "document://other/1"}
    found += [*POISON, stolen]
    found += found
    random.Random(seed).shuffle(found)
    return found


async def check(story: Story, door: Door, parked: int) -> None:
    sandbox, _ = await story.process()
    for state in await story.states(sandbox):
        assert [(each.source, each.target) for each in state.history] == [("", "OPEN"), ("OPEN", "REVIEW")]
        (task,) = state.tasks
        assert (task.status, task.received) == ("completed", 2)
        assert sorted(task.cargo) == ["entity://default/1", "entity://default/2"]
    letters = await sandbox.runtime.store.dead_letters("default", 100)
    assert len(letters) == parked, [each.answer for each in letters]
    if isinstance(door, BusDoor):
        sandbox.runtime.buses = door.buses()
    assert await door.left(sandbox) == 0
    await sandbox.runtime.buses.close()
    await sandbox.runtime.stop()
    await assert_audit_passes(story.url)


def doors() -> list[Any]:
    slow = [pytest.param(name, marks=pytest.mark.deep) for name in ("nats", "kafka")]
    return [*FAST, *slow]


@pytest.mark.req("T3")
@pytest.mark.req("T4")
@pytest.mark.req("T5")
@pytest.mark.parametrize("name", doors())
async def test_each_result_counts_once_however_often_its_consumer_dies(
    name: str, sqlite_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await round_trip(name, sqlite_url, tmp_path, request)


@pytest.mark.deep
@pytest.mark.req("T4")
@pytest.mark.parametrize("name", [*FAST, "nats", "kafka"])
async def test_each_result_counts_once_on_postgres_however_often_its_consumer_dies(
    name: str, postgres_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await round_trip(name, postgres_url, tmp_path, request)


async def round_trip(name: str, url: str, folder: Path, request: pytest.FixtureRequest) -> None:
    """Every life of the worker gets one commit further before it ends, on one side of the commit or the other."""
    story = Story(url, written(folder, LIFECYCLE))
    door = await door_named(name, url, request)
    for each in mail(await story.begin(), seed=5):
        await door.send(each)
    lives = 0
    for lives in count(1):
        assert lives < MAX_LIVES
        # In turns it dies at a commit, and around an acknowledgement.
        is_turn = lives % 3 == 0 and lives < 12 and name not in UNACKNOWLEDGED
        dies_at = 1 + (lives // 3) % 2 if is_turn else 0
        crash_at = 0 if dies_at else lives
        if await story.live(door, crash_at, "before" if lives % 2 else "after", dies_at):
            break
    assert lives > 3, "nothing was killed"
    await check(story, door, 0 if name in UNACKNOWLEDGED else 3)


@pytest.mark.deep
@pytest.mark.req("T4")
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("name", ["sql", "redis", "nats"])
async def test_one_death_at_any_step_loses_and_repeats_nothing(
    name: str, side: Side, sqlite_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A death at every commit in turn, on every third message; then one whole life."""
    for crash_at in range(1, 60, 3):
        url = sqlite_url.replace("store.db", f"{crash_at}.db")
        story = Story(url, written(tmp_path, LIFECYCLE))
        door = await door_named(name, url, request)
        for each in mail(await story.begin(), seed=crash_at):
            await door.send(each)
        is_whole = await story.live(door, crash_at, side, 0)
        if not is_whole:
            assert await story.live(door, 0, side, 0)
        await check(story, door, 3)
        if is_whole:
            return
    pytest.fail("the story never ran through without reaching the crash")
