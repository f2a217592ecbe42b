"""Pictures: everything of a model is in them, in its own notation, and nothing a text says can break out of them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Compare
from perdure.bpmn.diagram_selection import diagram_of
from perdure.bpmn.layout import lay_out
from perdure.bpmn.model import (
    Bounds,
    Definitions,
    Diagram,
    Edge,
    Event,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    Scope,
    Shape,
    SubProcess,
    Task,
    nodes,
)  # fmt: skip
from perdure.bpmn.svg import Mark, Marks, draw
from tests.bpmn.layout.random_scopes import files
from tests.bpmn.svg.elements import EVENTS, FOLDER, pictures
from tests.house.tree import ROOT

SVG = "{http://www.w3.org/2000/svg}"
CHECKED = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])


def process(*made: Node, flows: tuple[Flow, ...] = ()) -> Model:
    body = Scope(nodes=made, flows=flows)
    return Model(definitions=Definitions(id="file", processes=(Process(id="process", body=body),)))


def chain() -> Model:
    made = (Event(id="s", position="start"), Task(id="a", name="First"), Event(id="e", position="end"))
    return process(*made, flows=(Flow(id="sa", source="s", target="a"), Flow(id="ae", source="a", target="e")))


def groups(picture: str) -> dict[str, ET.Element]:
    """The group of each element, by its id."""
    return {group.get("data-element", ""): group for group in ET.fromstring(picture).iter(f"{SVG}g")}


def kinds(group: ET.Element) -> list[str]:
    return [part.get("class", "") for part in group.iter()]


def said(node: ET.Element) -> str:
    return " ".join(text for part in node.iter(f"{SVG}text") for text in part.itertext())


@pytest.mark.req("P4")
@CHECKED
@given(files())
def test_everything_of_a_model_is_in_its_picture(definitions: Definitions) -> None:
    drawn = groups(draw(Model(definitions=definitions)))
    diagram = lay_out(definitions)
    assert {shape.element for shape in diagram.shapes} | {edge.element for edge in diagram.edges} <= set(drawn)
    for found in definitions.processes:
        for node in nodes(found.body):
            if node.name and not isinstance(node, SubProcess):
                assert node.name.split()[0][:3] in said(drawn[node.id])


TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("<>&\"'\x00\x1b\ufffe]]>"), max_size=60)


@pytest.mark.req("P4")
@CHECKED
@given(TEXTS, TEXTS)
def test_no_text_breaks_out_of_its_picture(name: str, title: str) -> None:
    model = process(
        Task(id="<a>&\"'", name=name),
        Event(id="b", name=name, position="end"),
        Gateway(id="c", kind="complex", name=name),
    )
    marks = Marks(elements={"b": Mark(findings=("<script>", name))})
    picture = draw(model, marks, title=title)
    assert {part.tag for part in ET.fromstring(picture).iter()} <= {
        f"{SVG}{tag}" for tag in ("svg", "g", "title", "style", "rect", "circle", "path", "polygon", "text", "tspan")
    }


@pytest.mark.req("P4")
@pytest.mark.parametrize("hostile", ["</text><script>alert(1)</script>", "]]></style><script/>", "&#x3c;script>"])
def test_a_name_that_is_markup_is_shown_as_text(hostile: str) -> None:
    picture = draw(process(Task(id="a", name=hostile)), title=hostile)
    assert "<script" not in picture
    assert said(ET.fromstring(picture)).replace(" ", "").startswith(hostile.replace(" ", ""))


@pytest.mark.req("P4")
def test_a_picture_loads_nothing_and_runs_nothing() -> None:
    for picture in pictures().values():
        assert not re.search(r"<script|href|url\(|@import|\son\w+=|javascript:|<foreignObject|<image", picture)
        assert set(re.findall(r"https?://[^\"'\s]+", picture)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.req("P4")
def test_the_same_model_gives_the_same_picture() -> None:
    assert draw(chain()) == draw(chain())


@pytest.mark.req("P4")
def test_the_diagram_of_the_file_is_kept() -> None:
    model = chain()
    shapes = tuple(Shape(element=id, bounds=Bounds(x, 500, 80, 80)) for id, x in (("s", 7), ("a", 207), ("e", 407)))
    edges = (Edge(element="sa", points=((87, 540), (207, 540))),)
    own = Model(definitions=model.definitions, diagram=Diagram(plane="process", shapes=shapes, edges=edges))
    box = groups(draw(own))["a"].find(f"{SVG}rect")
    assert box is not None
    assert (box.get("x"), box.get("y")) == ("207", "500")


@pytest.mark.req("P4")
def test_processes_with_a_drawing_each_are_drawn_below_each_other() -> None:
    drawing, made = two_drawn(), groups(draw(two_drawn()))
    boxes = [made[id].find(f"{SVG}rect") for id in ("a", "b")]
    assert [box is not None and (box.get("x"), box.get("y")) for box in boxes] == [("10", "20"), ("10", "160")]
    own = diagram_of(drawing, drawing.definitions.processes[1])
    assert own is not None
    assert (own.plane, own.shapes, own.inner) == ("two", (Shape(element="b", bounds=Bounds(10, 20, 100, 80)),), ())


def two_drawn() -> Model:
    processes = tuple(Process(id=id, body=Scope(nodes=(Task(id=task),))) for id, task in (("one", "a"), ("two", "b")))
    first, second = (
        Diagram(plane=id, shapes=(Shape(element=task, bounds=Bounds(10, 20, 100, 80)),))
        for id, task in (("one", "a"), ("two", "b"))
    )
    return Model(definitions=Definitions(id="file", processes=processes), diagram=replace(first, inner=(second,)))


@pytest.mark.req("P4")
def test_what_a_collapsed_subprocess_holds_is_not_drawn() -> None:
    inner = Scope(nodes=(Task(id="inside"),))
    model = process(SubProcess(id="sub", body=inner, name="Closed"))
    shapes = tuple(Shape(element=id, bounds=Bounds(0, 0, 100, 80), is_expanded=id != "sub") for id in ("sub", "inside"))
    closed = Model(definitions=model.definitions, diagram=Diagram(plane="process", shapes=shapes))
    beside = Diagram(plane="process", shapes=shapes[:1], inner=(Diagram(plane="sub", shapes=shapes[1:]),))
    assert "inside" in groups(draw(model))
    assert "inside" not in groups(draw(closed))
    assert "inside" not in groups(draw(Model(definitions=model.definitions, diagram=beside)))


@pytest.mark.req("P4")
def test_events_are_told_apart_by_their_rings() -> None:
    def rings(event: Event) -> list[str]:
        return [ring.get("class", "") for ring in groups(draw(process(event)))["x"].findall(f"{SVG}circle")]

    assert rings(Event(id="x", position="start")) == ["box"]
    assert rings(Event(id="x", position="start", is_interrupting=False)) == ["box dashed"]
    assert rings(Event(id="x", position="catch")) == ["box", "line"]
    assert rings(Event(id="x", position="throw")) == ["box", "line"]
    assert rings(Event(id="x", position="end")) == ["box thick"]


@pytest.mark.req("P4")
def test_every_kind_has_a_picture_of_its_own() -> None:
    made = pictures()
    for position, found in EVENTS.items():
        pairs = [made[f"{position}-{kind}.svg"] for kind in found]
        assert len(set(pairs)) == len(pairs)
    whole = list(made.values())
    assert len(set(whole)) == len(whole)


@pytest.mark.req("P4")
def test_default_and_conditional_flows_carry_their_signs() -> None:
    test = Compare("orch_ready", "=", True)
    flows = (
        Flow(id="if", source="a", target="b", condition=test),
        Flow(id="else", source="a", target="c"),
        Flow(id="then", source="b", target="c"),
    )
    drawn = groups(draw(process(Task(id="a", default="else"), Task(id="b"), Task(id="c"), flows=flows)))
    assert "hollow" in kinds(drawn["if"])
    assert "line" in kinds(drawn["else"])
    assert not {"hollow", "line"} & set(kinds(drawn["then"]))


@pytest.mark.req("P4")
def test_a_flow_of_a_gateway_carries_no_diamond() -> None:
    flow = Flow(id="if", source="g", target="b", condition=Compare("orch_ready", "=", True))
    drawn = groups(draw(process(Gateway(id="g", kind="exclusive"), Task(id="b"), flows=(flow,))))
    assert "hollow" not in kinds(drawn["if"])


@pytest.mark.req("P4")
def test_marks_are_shown_where_they_belong() -> None:
    marks = Marks(
        elements={
            "a": Mark(tokens=3, completed=12, has_incident=True, is_waiting=True, findings=("BPM001", "HOL002")),
            "s": Mark(state="completed"),
            "sa": Mark(findings=("SND003",)),
            "gone": Mark(tokens=1),
        }
    )
    picture = draw(chain(), marks)
    badges = said(ET.fromstring(picture))
    for text in ("3", "✓12", "!", "BPM001", "HOL002", "SND003"):
        assert text in badges
    drawn = groups(picture)
    assert "completed" in drawn["s"].get("class", "").split()
    assert "failed" in drawn["a"].get("class", "").split()
    assert "gone" not in drawn


@pytest.mark.req("P4")
def test_the_steps_of_a_path_are_numbered_in_the_order_they_were_taken() -> None:
    path = ("s", "sa", "a", "ae", "e", "a")
    picture = draw(chain(), Marks(path=path))
    assert {id for id, group in groups(picture).items() if "taken" in group.get("class", "").split()} == set(path)
    assert sorted(_badges(picture)) == ["1", "2, 4", "3"]
    assert not list(_badges(draw(chain(), Marks(path=path, is_numbered=False))))
    assert sorted(_badges(draw(chain(), Marks(path=("sa", "ae"))))) == ["1", "2"]


def _badges(picture: str) -> Iterator[str]:
    for text in ET.fromstring(picture).iter(f"{SVG}text"):
        if text.get("class") == "on":
            yield "".join(text.itertext())


@pytest.mark.req("P9")
def test_the_pictures_of_elements_in_the_documentation_are_those_drawn() -> None:
    made = pictures()
    assert {path.name for path in FOLDER.glob("*.svg")} == set(made), "run: python -m tests.bpmn.svg.elements"
    for name, picture in made.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == picture, "run: python -m tests.bpmn.svg.elements"


@pytest.mark.req("P9")
def test_every_picture_the_page_of_elements_names_is_there() -> None:
    page = (ROOT / "docs" / "reference" / "elements.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\(elements/([\w-]+\.svg)\)", page))
    assert named
    assert named <= set(pictures())
