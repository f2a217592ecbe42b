"""Changes of running instances: cancel, suspend, modify, migrate and back; what comes too late is not applied."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.bpmn.model import Model
from perdure.errors import RejectedError
from perdure.verbs import Call
from tests.engines.embedded.engine_world import ORIGIN, Handlers, opened
from tests.engines.embedded.process_models import (
    END,
    START,
    after,
    boundary,
    flow,
    fork,
    line,
    message,
    model,
    pause,
    service,
    times,
    user,
    wait,
)


@pytest.mark.req("V23")
async def test_a_cancelled_instance_is_over_and_what_it_did_stays_done(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", service("a", "t.one"), user("review"), service("b", "t.two")))
        id = world.letters(await world.start("p"))
        await world.sandbox.instances.cancel(id, "enough")
        await world.sandbox.run_until_idle()
        ended = await world.sandbox.instances.get(id)
        assert (ended.state, ended.data, ended.tokens, ended.waits) == ("cancelled", {"t_one": 1}, [], [])
        told = [each.entry async for each in world.sandbox.instances.events(id)]
        assert told.index("CancelRequested") < told.index("InstanceEnded")
        assert await world.sandbox.tasks.list() == []
        await world.sandbox.instances.cancel(id)
        assert [each.entry async for each in world.sandbox.instances.events(id)] == told, "twice is once"


@pytest.mark.req("O12")
async def test_nothing_happens_to_a_suspended_instance_until_it_is_resumed(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", pause("sleep", "P1D"), service("a", "t.one")))
        kept, shifted = await world.start("p"), await world.start("p")
        for each in (kept, shifted):
            await world.engine.suspend(each.id, ORIGIN, reason="holiday")
        await world.sandbox.advance("P10D")
        assert world.handlers.runs["t.one"] == 0
        await world.engine.resume(kept.id, ORIGIN)
        await world.engine.resume(shifted.id, ORIGIN, shift_timers=True)
        assert (await world.now(kept)).state.status == "completed", "what fell due meanwhile fires now"
        assert (await world.now(shifted)).state.status == "active"
        await world.sandbox.advance("P2D")
        assert (await world.now(shifted)).state.status == "completed"


@pytest.mark.req("O12")
async def test_a_message_for_a_suspended_instance_waits_and_reaches_it_when_it_is_resumed(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", wait("asked", "m"), messages=(message("m", key="k"),)))
        begun = await world.start("p")
        await world.engine.suspend(begun.id, ORIGIN)
        assert (await world.engine.publish("m", "k", ORIGIN, ttl_seconds=3600)).outcome == "buffered"
        await world.engine.resume(begun.id, ORIGIN)
        assert (await world.now(begun)).state.status == "completed"


OLD = line("p", wait("asked", "m"), service("a", "t.one"), messages=(message("m", key="k"),))
NEW = line("p", wait("answered", "m"), service("b", "t.two"), messages=(message("m", key="k"),))
SLEEPY = line("p", pause("sleep", "P5D"), service("a", "t.one"))
SLEEPIER = line("p", pause("doze", "P50D"), service("b", "t.two"))


@pytest.mark.req("O10")
async def test_a_migrated_instance_keeps_its_message_wait_and_comes_back_the_way_it_went(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(OLD)
        begun = await world.start("p")
        await world.deploy(NEW)
        dry = await world.engine.migrate(begun.id, ORIGIN, mapping={"asked": "answered"}, dry_run=True)
        assert [(move.before, move.after) for move in dry.moves] == [("asked", "answered")]
        assert (dry.kept_messages, dry.new_waits, dry.is_dry) == (("answered",), (), True)
        assert (await world.now(begun)).state.process_version == 1, "a dry run changes nothing"
        await world.engine.migrate(begun.id, ORIGIN, mapping={"asked": "answered"}, reason="better")
        moved = await world.now(begun)
        assert (moved.state.process_version, world.standing(moved)) == (2, ["answered"])
        await world.engine.migrate_back(begun.id, ORIGIN)
        back = await world.now(begun)
        assert (back.state.process_version, world.standing(back)) == (1, ["asked"])
        await world.engine.migrate(begun.id, ORIGIN, mapping={"asked": "answered"})
        assert (await world.engine.publish("m", "k", ORIGIN)).outcome == "correlated"
        assert await world.data(await world.now(begun)) == {"t_two": 1}


@pytest.mark.req("O10")
async def test_a_parked_timer_keeps_its_time_through_a_migration(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(SLEEPY)
        begun = await world.start("p")
        await world.deploy(SLEEPIER)
        plan = await world.engine.migrate(begun.id, ORIGIN, mapping={"sleep": "doze"})
        assert plan.kept_timers == ("doze",)
        await world.sandbox.advance("P6D")
        ended = await world.now(begun)
        assert (ended.state.status, await world.data(ended)) == ("completed", {"t_two": 1})


def guarded(host: str, **how: Any) -> Model:
    """Two people beside each other, and a timer on one of them."""
    late = boundary("late", host, after("PT1H"))
    return model(
        "p",
        (START, fork("fork"), user("one"), user("two", **how), late, fork("join"), END),
        (
            flow("start", "fork"), flow("fork", "one"), flow("fork", "two"), flow("one", "join"), flow("two", "join"),
            flow("join", "end"), flow("late", "join"),
        ),
    )  # fmt: skip


@pytest.mark.req("O10")
@pytest.mark.parametrize("how", [{}, {"repeat": times(3)}], ids=["once", "repeated"])
async def test_a_boundary_event_that_moved_waits_on_its_new_host_alone(store_url: str, how: dict[str, Any]) -> None:
    async with opened(store_url) as world:
        await world.deploy(guarded("one", **how), profile="open")
        begun = await world.start("p")
        await world.sandbox.advance("PT50M")
        await world.deploy(guarded("two", **how), profile="open")
        plan = await world.engine.migrate(begun.id, ORIGIN)
        assert (plan.kept_timers, plan.ended_waits, plan.new_waits) == ((), ("late",), ("late",))
        moved = await world.now(begun)
        (watch,) = moved.state.watches.values()
        assert watch.node == world.node(moved, "two"), "around all iterations, where there are any"
        await world.sandbox.advance("PT50M")
        assert "one" in world.standing(await world.now(begun)), "it did not stand there long enough"
        await world.sandbox.advance("PT10M")
        assert world.standing(await world.now(begun)) == ["join", "one"]


@pytest.mark.req("O10")
async def test_a_migration_that_leaves_a_token_nowhere_is_refused_and_changes_nothing(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(SLEEPY)
        begun = await world.start("p")
        await world.deploy(SLEEPIER)
        for dry_run in (True, False):
            with pytest.raises(RejectedError, match="'sleep' has a token and is not mapped"):
                await world.engine.migrate(begun.id, ORIGIN, dry_run=dry_run)
        with pytest.raises(RejectedError, match="never migrated"):
            await world.engine.migrate_back(begun.id, ORIGIN)
        assert (await world.now(begun)).version == begun.version


async def test_tokens_are_moved_by_hand_in_one_commit(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", user("review"), service("a", "t.one"), user("approve")))
        begun = await world.start("p")
        node = world.node(begun, "review")
        await world.engine.modify(begun.id, ORIGIN, cancel=[node], start=["a"], reason="skipped")
        assert world.standing(await world.now(begun)) == ["approve"]
        assert world.handlers.runs["t.one"] == 1


class Slow(Handlers):
    """`t.two` takes until someone lets it go."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.released = asyncio.Event(), asyncio.Event()

    async def plain(self, call: Call):  # type: ignore[no-untyped-def]
        if call.verb == "t.two":
            self.begun.set()
            await self.released.wait()
        return await super().plain(call)


@pytest.mark.req("V14")
@pytest.mark.req("V21")
async def test_the_result_of_an_interrupted_job_is_recorded_and_not_applied(store_url: str) -> None:
    handlers = Slow()
    model = line(
        "p", service("a", "t.two"), more=(boundary("late", "a", after("PT1H")), service("b", "t.one")),
        flows=(flow("late", "b"), flow("b", "end")),
    )  # fmt: skip
    async with opened(store_url, handlers) as world:
        await world.deploy(model)
        begun = await world.engine.start("p", ORIGIN)
        await handlers.begun.wait()
        due = (await world.sandbox.runtime.store.due_timers(0, b"", 2**62, 1))[0]
        world.sandbox.clock.move_to(due.due)
        await world.sandbox.runtime.upkeep.fire(due)
        handlers.released.set()
        ended = await world.now(begun)
        assert (ended.state.status, await world.data(ended)) == ("completed", {"t_one": 1})
        assert "JobDiscarded" in await world.entries(ended)
        payload = await world.instances.payloads.open(ended.id, ended.state.head)
        assert [each.verb for each in payload.sub_verb_trail] == ["t.one"]


async def test_the_data_of_an_ended_instance_is_erased_and_its_history_stays(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", service("a", "t.one")))
        ended = await world.start("p", data={"secret": "x"})
        view = await world.sandbox.instances.erase(world.letters(ended), "asked for")
        assert (view.state, view.data) == ("completed", None)
        assert view.erased_at is not None
        events = [event.entry async for event in world.sandbox.instances.events(view.id)]
        assert events[0] == "InstanceStarted" and events[-1] == "PayloadErased"
