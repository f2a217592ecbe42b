"""A signal reaches everyone who waits for it, each wait once, also when the broadcast is interrupted."""

from __future__ import annotations

import asyncio

import pytest

from perdure.engines.embedded.messages import signals
from perdure.journal import Origin
from tests.engines.embedded.message_world import ORIGIN, desks

pytestmark = pytest.mark.both_stores


async def test_a_signal_reaches_every_wait_of_the_tenant_and_of_no_other(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "PAGE", 4)
    async with desks(store_url) as (desk,):
        ids = [await desk.begin("alarmed") for _ in range(11)]
        other = await desk.begin("one")
        stranger = await desk.begin("alarmed", origin=Origin("stranger", "someone"))
        sent = await desk.messages.signal("alarm", ORIGIN, message_id="s", data={"level": 1})
        assert (sent.reached, sent.is_duplicate) == (11, False)
        assert {await desk.status(id) for id in ids} == {"completed"}
        assert await desk.status(other) == "active"
        assert (await desk.kernel.read(stranger, Origin("stranger"))).state.status == "active"
        assert await desk.store.pending_messages(0, 9) == []


async def test_a_signal_sent_twice_is_heard_once(store_url: str) -> None:
    async with desks(store_url, 2) as (first, second):
        id = await first.begin("alarmed again")
        sent = await asyncio.gather(
            *(desk.messages.signal("alarm", ORIGIN, message_id="s") for desk in (first, second))
        )
        assert sorted((each.reached, each.is_duplicate) for each in sent) == [(0, True), (1, False)]
        assert await second.status(id) == "active"
        assert (await first.messages.signal("alarm", ORIGIN)).reached == 1
        assert await second.status(id) == "completed"


async def test_a_signal_ends_every_wait_of_an_instance(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("both alarmed")
        assert (await desk.messages.signal("alarm", ORIGIN)).reached == 2
        assert await desk.status(id) == "completed"


async def test_a_signal_nobody_waits_for_is_gone_and_its_id_known(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        assert (await desk.messages.signal("alarm", ORIGIN, message_id="s")).reached == 0
        id = await desk.begin("alarmed")
        assert (await desk.messages.signal("alarm", ORIGIN, message_id="s")).is_duplicate
        await desk.go_on()
        assert (await desk.status(id), await desk.dead()) == ("active", {})


async def test_a_signal_under_an_id_that_something_else_has_is_heard_once(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        await desk.publish("s", 60)
        assert not (await desk.messages.signal("quiet", ORIGIN, message_id="s")).is_duplicate
        id = await desk.begin("alarmed again")
        sent = [await desk.messages.signal("alarm", ORIGIN, message_id="s") for _ in range(2)]
        assert [(each.reached, each.is_duplicate) for each in sent] == [(1, False), (0, True)]
        assert (await desk.messages.signal("quiet", ORIGIN, message_id="s")).is_duplicate
        assert await desk.status(id) == "active"


async def test_a_signal_starts_the_processes_that_wait_for_it(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        for process in ("p1", "p2"):
            await desk.begun_by(process, "alarm", "signal_start")
        id = await desk.begin("alarmed")
        assert (await desk.messages.signal("alarm", ORIGIN, message_id="s")).reached == 3
        assert (await desk.messages.signal("alarm", ORIGIN, message_id="s")).is_duplicate
        assert len(await desk.instances()) == 3
        assert await desk.status(id) == "completed"


async def test_an_instance_that_refuses_what_a_signal_brings_keeps_nobody_from_hearing_it(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        ids = [await desk.begin("alarmed") for _ in range(2)]
        process = await desk.begun_by("p", "alarm", "signal_start")
        sent = await desk.messages.signal("alarm", ORIGIN, message_id="s", data={"bad": 1})
        assert sent.reached == 0
        assert list((await desk.dead()).values()) == ["rejected"] * 3
        assert len(desk.failed) == 3
        assert [await desk.status(id) for id in ids] == ["active"] * 2
        assert await desk.store.pending_messages(0, 9) == [], process
