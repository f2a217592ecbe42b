"""A message that is not correlated is an event of every step it concerns, once, and a dead letter."""

from __future__ import annotations

import pytest

from tests.engines.embedded.engine_world import World, opened
from tests.engines.embedded.process_models import line, message, service, wait

pytestmark = pytest.mark.both_stores

CARRIED = line(
    "carried", service("a", "t.one"), wait("answer", "m", name="Document upload"), service("b", "t.two"),
    messages=(message("m", key="k"),),
)  # fmt: skip
AMBIGUOUS = "CorrelationFailed(m, ambiguous: {} and {} wait for it)"
NOBODY = "CorrelationFailed(m, no_subscription: nothing waits for 'm' under '{}', and no process starts by it)"


async def called(world: World) -> str:
    call = await world.sandbox.call("t.carried", {"given": 7})
    await world.sandbox.run_until_idle()
    return call.id


async def failures(world: World, call: str) -> list[str]:
    events = [each async for each in world.sandbox.outcome_events(call)]
    return [each.text for each in events if each.event == "CorrelationFailed"]


async def letters(world: World) -> list[str]:
    return [each["message_id"] for each in await world.sandbox.dead_letters()]


@pytest.mark.req("V19", "V34")
@pytest.mark.parametrize("way", ["publish", "correlate"])
async def test_a_message_that_several_want_is_an_event_of_each_of_them(store_url: str, way: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        calls = [await called(world) for _ in range(2)]
        stranger = await world.sandbox.call("t.long")
        send = getattr(world.sandbox, way)
        assert [await send("m", "k", message_id="news") for _ in range(2)] == ["ambiguous"] * 2
        carriers = [(await world.sandbox.status(id)).carrier for id in calls]
        told = AMBIGUOUS.format(*(each.instance for each in carriers if each is not None))
        assert [await failures(world, id) for id in calls] == [[told]] * 2, "once, however often it is sent"
        assert await failures(world, stranger.id) == []
        assert await letters(world) == ["news"]


@pytest.mark.req("V19", "V34", "V38")
@pytest.mark.parametrize("way", ["publish", "correlate"])
async def test_a_message_under_the_id_of_a_call_that_does_not_wait_is_an_event_of_the_call(
    store_url: str, way: str
) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        call = await called(world)
        send = getattr(world.sandbox, way)
        assert await send("m", call, message_id="one") == "no_subscription"
        assert await send("m", f"{call}:1", message_id="two") == "no_subscription"
        assert await failures(world, call) == [NOBODY.format(call), NOBODY.format(f"{call}:1")]
        assert await letters(world) == ["one", "two"]
        for key in (f"{call}:9", f"{call}:0", f"{call}:x", "nobody's"):
            assert await send("m", key, message_id=key) == "no_subscription"
            assert (await letters(world))[-1] == key, "no key keeps a message from being told as lost"
        assert len(await failures(world, call)) == 2


@pytest.mark.req("V19", "V34")
async def test_a_message_whose_time_ended_is_an_event_of_the_instance_whose_business_key_it_names(
    store_url: str,
) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        instance = await world.start("carried", business_key="case-7")
        assert await world.sandbox.publish("m", "case-7", message_id="early", ttl_seconds=60) == "buffered"
        assert "CorrelationFailed" not in await world.entries(instance)
        await world.sandbox.advance("PT2M")
        assert await letters(world) == ["early"]
        assert (await world.entries(instance)).count("CorrelationFailed") == 1


@pytest.mark.req("V19")
async def test_a_step_that_has_ended_still_records_what_came_too_late(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        call = await called(world)
        await world.sandbox.cancel(call)
        await world.sandbox.run_until_idle()
        assert await world.sandbox.publish("m", call, message_id="late") == "no_subscription"
        assert len(await failures(world, call)) == 1
        assert (await world.sandbox.status(call)).state == "cancelled"


@pytest.mark.req("V18", "V19")
async def test_a_message_under_the_id_of_a_runbook_is_an_event_of_the_steps_that_are_under_way(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        program = "(t.one :as @a)(t.carried :given 7 :after [@a] :as @b)(t.long :after [@a])(t.two :after [@b])"
        run = await world.sandbox.runbooks.start(program)
        await world.sandbox.run_until_idle()
        for _ in range(2):
            assert await world.sandbox.publish("m", run.id, message_id="news") == "no_subscription"
        events = [each async for each in world.sandbox.outcome_events(run.id)]
        told = [(each.step, each.text) for each in events if each.event == "CorrelationFailed"]
        assert told == [(2, NOBODY.format(run.id))], "the step that a process carries, not one that has long ended"
