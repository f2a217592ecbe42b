"""Steps of a runbook that processes carry: begun when their turn comes, ended with them, begun anew when retried."""

from __future__ import annotations

import pytest

from perdure.app.audit.store_audit import verify_store
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.test_durable_calls import CARRIED

PROGRAM = """
LET first = EXEC t.one()
LET carried = EXEC t.carried() AFTER first
LET last = EXEC t.two() AFTER carried
"""


async def shown(world: World, id: str) -> dict[str, str]:
    await world.sandbox.run_until_idle()
    view = await world.sandbox.runbooks.show(id)
    return {step.name: step.state for step in view.steps}


@pytest.mark.req("V17", "V24")
async def test_a_step_behind_others_is_carried_and_the_runbook_goes_on_when_its_process_ends(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        view = await world.sandbox.runbooks.start(PROGRAM)
        assert await shown(world, view.id) == {"first": "completed", "carried": "parked", "last": "pending"}
        view = await world.sandbox.runbooks.show(view.id)
        carrier = view.step("carried").carrier
        assert carrier is not None and (carrier.process, carrier.state) == ("carried", "active")
        assert view.progress == "1 of 3 steps complete, waiting for document upload"
        assert await world.sandbox.publish("m", "k", {"extra": "x"}) == "correlated"
        assert set((await shown(world, view.id)).values()) == {"completed"}
        done = await world.sandbox.runbooks.show(view.id)
        assert (done.state, done.step("carried").result) == ("completed", {"t_one": 2, "extra": "x"})
        assert (await verify_store(world.sandbox, {})).findings == []


@pytest.mark.req("V23", "X18")
@pytest.mark.parametrize("how", ["runbook", "step"])
async def test_cancelling_reaches_the_process_that_carries_a_step(store_url: str, how: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        view = await world.sandbox.runbooks.start(PROGRAM, case="c-1")
        await world.sandbox.run_until_idle()
        if how == "step":
            await world.sandbox.runbooks.cancel(view.id, "no", step="carried")
        else:
            await world.sandbox.runbooks.cancel_case("c-1", "no")
        await world.sandbox.run_until_idle()
        (instance,) = await world.instances.newest(ORIGIN, business_key=view.id)
        assert instance.state.status == "cancelled"
        states = await shown(world, view.id)
        assert (states["carried"], states["last"]) == ("cancelled", "completed" if how == "step" else "cancelled")


@pytest.mark.req("V23")
async def test_cancelling_the_process_cancels_its_step_and_no_other(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        view = await world.sandbox.runbooks.start(PROGRAM)
        await world.sandbox.run_until_idle()
        carrier = (await world.sandbox.runbooks.show(view.id)).step("carried").carrier
        assert carrier is not None
        await world.sandbox.instances.cancel(carrier.instance)
        states = await shown(world, view.id)
        assert (states["carried"], states["last"]) == ("cancelled", "completed")


@pytest.mark.req("V17")
async def test_a_carried_step_that_failed_is_carried_by_another_instance_when_it_is_retried(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        view = await world.sandbox.runbooks.start(PROGRAM)
        await world.sandbox.run_until_idle()
        await world.sandbox.complete(f"{view.id}:2", error="they gave up")
        assert (await shown(world, view.id))["carried"] == "failed"
        await world.sandbox.runbooks.retry(view.id, "carried")
        assert (await shown(world, view.id))["carried"] == "parked"
        found = await world.instances.newest(ORIGIN, business_key=view.id)
        assert sorted(each.state.status for each in found) == ["active", "cancelled"]
        assert await world.sandbox.publish("m", "k", {"extra": "x"}) == "correlated"
        assert set((await shown(world, view.id)).values()) == {"completed"}
        assert (await verify_store(world.sandbox, {})).findings == []
