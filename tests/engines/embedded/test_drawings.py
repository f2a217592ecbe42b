"""A version is drawn as it was deployed: its drawing is kept with it, and is no part of its content."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from perdure.app.audit.store_audit import verify_store
from perdure.bpmn.layout import lay_out
from perdure.bpmn.model import Bounds, Collaboration, Diagram, Lane, Model, Participant
from perdure.bpmn.xml import read_model
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import line, service, user

PLAIN = line("p", service("a", "t.one"), user("decide"))


def moved(diagram: Diagram, by: float) -> Diagram:
    """The same picture further to the right: nobody would lay it out so."""
    shapes = [replace(each, bounds=replace(each.bounds, x=each.bounds.x + by)) for each in diagram.shapes]
    edges = [replace(each, points=tuple((x + by, y) for x, y in each.points)) for each in diagram.edges]
    return replace(diagram, shapes=tuple(shapes), edges=tuple(edges))


def drawn(model: Model, by: float) -> Model:
    return replace(model, diagram=moved(lay_out(model.definitions), by))


async def places(world: World, instance: Any) -> dict[str, Bounds]:
    model, _ = await world.sandbox.instances.drawing(world.letters(instance))
    return {shape.element: shape.bounds for shape in model.diagram.shapes} if model.diagram else {}


def places_of(model: Model) -> dict[str, Bounds]:
    assert model.diagram is not None
    return {shape.element: shape.bounds for shape in model.diagram.shapes}


async def test_an_instance_is_drawn_where_its_version_was_drawn(store_url: str) -> None:
    model = drawn(PLAIN, 1_000)
    async with opened(store_url) as world:
        await world.deploy(model)
        begun = await world.start("p")
        assert (await verify_store(world.sandbox, {}, is_dry=True)).findings == []
    async with opened(store_url) as world:
        assert await places(world, begun) == places_of(model)
        view = await world.sandbox.processes.get("p")
        assert places_of(read_model(view.xml.encode(), "p.bpmn")) == places_of(model)


async def test_another_drawing_of_the_same_content_is_the_same_version_drawn_anew(store_url: str) -> None:
    first, second = drawn(PLAIN, 1_000), drawn(PLAIN, 2_000)
    async with opened(store_url) as world:
        made = await world.deploy(first)
        begun = await world.start("p")
        for model in (second, PLAIN, second):  # once without any drawing: the last one stays
            again = await world.deploy(model)
            assert (again.version, again.hash, again.is_new) == (1, made.hash, False)
            assert await places(world, begun) == places_of(second)
        assert len(await world.definitions.versions("p", ORIGIN)) == 1
        assert (await verify_store(world.sandbox, {}, is_dry=True)).findings == []


def noted(text: str) -> Model:
    """Nothing drawn, and something said of a lane."""
    process = PLAIN.definitions.processes[0]
    definitions = replace(PLAIN.definitions, processes=(replace(process, lanes=(Lane(id="lane"),)),))
    return replace(PLAIN, definitions=definitions, diagram=Diagram(plane="", notes={"lane": text}))


async def notes(world: World) -> Any:
    view = await world.sandbox.processes.get("p")
    diagram = read_model(view.xml.encode(), "p.bpmn").diagram
    return diagram.notes if diagram else None


@pytest.mark.parametrize("is_retired", [False, True])
async def test_notes_without_a_drawing_replace_no_drawing(is_retired: bool, store_url: str) -> None:
    model = drawn(noted(""), 1_000)
    async with opened(store_url) as world:
        await world.deploy(model)
        begun = await world.start("p")
        if is_retired:
            await world.engine.retire("p", 1, ORIGIN)
        again = await world.deploy(noted("Who packs."))
        assert (again.version, again.is_new) == (1, is_retired)
        assert await places(world, begun) == places_of(model)


async def test_notes_without_a_drawing_are_kept_until_others_or_a_drawing_come(store_url: str) -> None:
    async with opened(store_url) as world:
        for text in ("Who packs.", "Who sends."):
            await world.deploy(noted(text))
            assert await notes(world) == {"lane": text}
        begun = await world.start("p")
        model = drawn(noted(""), 1_000)
        assert not (await world.deploy(model)).is_new
        assert await places(world, begun) == places_of(model)


async def test_a_version_brought_back_is_drawn_as_it_was_brought_back() -> None:
    async with opened() as world:
        await world.deploy(drawn(PLAIN, 1_000))
        begun = await world.start("p")
        await world.engine.retire("p", 1, ORIGIN)
        assert (await world.deploy(drawn(PLAIN, 2_000))).is_new
        assert await places(world, begun) == places_of(drawn(PLAIN, 2_000))


async def test_a_process_without_a_drawing_is_laid_out_when_it_is_shown() -> None:
    async with opened() as world:
        await world.deploy(PLAIN)
        begun = await world.start("p")
        assert await places(world, begun) == {}
        view = await world.sandbox.processes.get("p")
        assert places_of(read_model(view.xml.encode(), "p.bpmn")) == places_of(drawn(PLAIN, 0))


async def test_of_a_file_with_two_pools_each_process_keeps_its_own_part_of_the_drawing() -> None:
    other = line("q", service("b", "t.two"), user("look")).definitions.processes[0]
    renamed = replace(
        other, body=replace(
            other.body, nodes=tuple(replace(each, id=f"q-{each.id}") for each in other.body.nodes),
            flows=tuple(
                replace(each, id=f"q-{each.id}", source=f"q-{each.source}", target=f"q-{each.target}")
                for each in other.body.flows
            ),
        ),
    )  # fmt: skip
    participants = (Participant(id="one", process="p"), Participant(id="two", process="q"))
    pools = Collaboration(id="both", participants=participants)
    definitions = replace(PLAIN.definitions, processes=(PLAIN.definitions.processes[0], renamed), collaboration=pools)
    model = drawn(replace(PLAIN, definitions=definitions), 500)
    async with opened() as world:
        for process in ("p", "q"):
            await world.deploy(model, process=process)
        for process, own in (("p", "decide"), ("q", "q-look")):
            found = await places(world, await world.start(process))
            assert own in found and {"one", "two"}.isdisjoint(found)
            assert found == {id: bounds for id, bounds in places_of(model).items() if id in found}
            assert all(id.startswith("q-") == (process == "q") for id in found)
