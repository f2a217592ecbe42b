"""Views of instances: the same from memory as from the store."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from perdure.app.instances import views as instance_views
from perdure.app.instances.history_cache import empty_history
from perdure.app.instances.views import InstanceView, instance_view, look_of
from perdure.app.runtime import Runtime
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.machine.transition_cache import samples as shapes_of
from perdure.bpmn.machine.transition_templates import Shape
from tests.engines.embedded.engine_world import World, opened
from tests.engines.embedded.process_models import END, START, flow, fork, line, model, pause, service, user


def _forget(runtime: Runtime) -> None:
    """Hold as little in memory as a process that has just begun."""
    runtime.kernel.forget()
    runtime.definitions.plans._held.clear()
    runtime.instances.payloads._held.clear()
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
        aggregate = await world.instances.read(begun.id, perdure._origin)
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
        held = runtime.instances.payloads._held.copy()
        await perdure.instances.erase(ended.id, "asked for")
        runtime.instances.payloads._held.update(held)
        aggregate = await world.instances.read(ended.id, perdure._origin)
        assert perdure.instances._views.at_hand(aggregate) is None
        assert (await perdure.instances.get(ended.id)).data is None


BRANCHES = model(
    "forked",
    (START, fork("split"), service("a", "t.one"), service("b", "t.two"), user("review"), fork("join"), END),
    (
        flow("start", "split"), flow("split", "a"), flow("split", "b"), flow("split", "review"), flow("a", "join"),
        flow("b", "join"), flow("review", "join"), flow("join", "end"),
    ),
)  # fmt: skip
PROCESSES = {
    "line": line("line", service("a", "t.one"), user("review"), service("b", "t.two")),
    "forked": BRANCHES,
    "stuck": line("stuck", service("a", "t.contract"), user("review")),
    "paused": line("paused", user("review"), pause("later", "PT1H")),
}


@pytest.mark.parametrize("process", PROCESSES)
async def test_instances_that_stand_the_same_way_look_as_each_of_them_does_by_itself(process: str) -> None:
    async with opened() as world:
        perdure, runtime = world.sandbox, world.sandbox.runtime
        await world.deploy(PROCESSES[process])
        shown: list[InstanceView] = []
        for number in range(6):
            begun = await perdure.instances.start(process, {"n": number}, business_key=f"k{number}", until="rest")
            shown.append(begun)
            await _compare(world, begun)
            if begun.waits and begun.waits[0].kind == "task":
                key = f"{begun.id}:{next(each.number for each in begun.tokens if each.kind == 'task')}"
                shown.append(await perdure.tasks.complete(key, {"answer": -number}, until="rest"))
                await _compare(world, shown[-1])
        looks = {id(look) for each in runtime.pasts._followed.values() for look in (each.past.looks or {}).values()}
        assert 0 < len(looks) < len(shown) or process in ("stuck", "paused")
        for part in (shown[-1].completed, shown[-1].waits, shown[-1].tokens, shown[-1].incidents):
            part.clear()  # a view belongs to whoever asked for it
        await _compare(world, await perdure.instances.get(shown[-1].id))


async def _compare(world: World, view: InstanceView) -> None:
    """A view as it was given is the one that is made when nothing is known."""
    aggregate = await world.instances.read(view.id, world.sandbox._origin)
    definition = await world.instances.loaded(aggregate)
    past = empty_history()
    for told in await world.instances.history(aggregate.id, world.sandbox._origin):
        past.add(told.entries)
    look = look_of(aggregate.state.copy(), definition, past)
    assert view == instance_view(aggregate, look, await world.instances.data(aggregate), "embedded")


async def test_a_look_that_not_all_have_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Shape] = []

    def samples(shape: Shape) -> list[Instance]:
        tried.append(shape)
        states = shapes_of(shape)
        return [*states, replace(states[0], status="suspended")]

    monkeypatch.setattr(instance_views, "samples", samples)
    async with opened() as world:
        await world.deploy(PROCESSES["line"])
        for _ in range(6):
            await _compare(world, await world.sandbox.instances.start("line", {}, until="rest"))
        assert len(tried) == 1, "what cannot be remembered is tried once"
        pasts = [each.past for each in world.sandbox.runtime.pasts._followed.values()]
        assert [look for past in pasts for look in (past.looks or {}).values() if look is not None] == []
