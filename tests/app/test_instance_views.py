"""Views of instances: the same from memory as from the store."""

from __future__ import annotations

from perdure.app.runtime import Runtime
from tests.engine.models import line, service, user
from tests.engine.world import opened


def _forget(runtime: Runtime) -> None:
    """Hold as little in memory as a process that has just begun."""
    runtime.kernel.forget()
    runtime.engine.definitions.plans._held.clear()
    runtime.engine.payloads._held.clear()
    runtime.pasts._followed.clear()


async def test_what_a_start_and_an_answer_show_is_what_is_stored() -> None:
    async with opened() as world:
        perdure, runtime = world.sandbox, world.sandbox.runtime
        await world.deploy(line("p", service("a", "t.one"), user("review"), service("b", "t.one")))
        begun = await perdure.instances.start("p", {"given": 1}, business_key="k", until="rest")
        assert (begun.state, begun.data["given"], [each.element for each in begun.tokens]) == ("active", 1, ["review"])
        _forget(runtime)
        assert await perdure.instances.get(begun.id) == begun
        ended = await perdure.tasks.complete(f"{begun.id}:{begun.tokens[0].number}", {"agreed": True}, until="end")
        _forget(runtime)
        assert await perdure.instances.get(begun.id) == ended


async def test_a_view_from_memory_is_the_view_from_the_store_or_none() -> None:
    async with opened() as world:
        perdure, runtime = world.sandbox, world.sandbox.runtime
        await world.deploy(line("p", service("a", "t.one"), user("review")))
        begun = await perdure.instances.start("p", {"given": 1}, until="rest")
        aggregate = await world.engine.read(begun.id, perdure._origin)
        views = perdure.instances._views
        assert views.at_hand(aggregate) == begun == await views.instance(aggregate)
        _forget(runtime)
        assert views.at_hand(aggregate) is None
        assert await views.instance(aggregate) == begun


async def test_data_that_another_process_erased_is_not_shown_from_memory() -> None:
    async with opened() as world:
        perdure, runtime = world.sandbox, world.sandbox.runtime
        await world.deploy(line("p", service("a", "t.one")))
        ended = await perdure.instances.start("p", {"given": 1}, until="end")
        held = runtime.engine.payloads._held.copy()
        await perdure.instances.erase(ended.id, "asked for")
        runtime.engine.payloads._held.update(held)
        aggregate = await world.engine.read(ended.id, perdure._origin)
        assert perdure.instances._views.at_hand(aggregate) is None
        assert (await perdure.instances.get(ended.id)).data is None
