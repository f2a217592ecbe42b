"""What a reader expects of a layout: left to right, a straight main path, sizes as in modellers, bounded work."""

from __future__ import annotations

import pytest

from perdure.bpmn.layout import lay_out
from perdure.bpmn.layout.text_metrics import label_size, text_width, wrap
from perdure.bpmn.model import (
    Bounds,
    Definitions,
    Diagram,
    Edge,
    Event,
    Flow,
    Gateway,
    Node,
    Process,
    Scope,
    SubProcess,
    Task,
)  # fmt: skip

pytestmark = pytest.mark.req("O1")


def laid_out(*made: Node, flows: tuple[tuple[str, str], ...] = (), names: str = "") -> Diagram:
    drawn = tuple(Flow(id=f"{source}-{target}", source=source, target=target, name=names) for source, target in flows)
    body = Scope(nodes=made, flows=drawn)
    return lay_out(Definitions(id="file", processes=(Process(id="process", body=body),)))


def boxes(diagram: Diagram) -> dict[str, Bounds]:
    return {shape.element: shape.bounds for shape in diagram.shapes}


def edges(diagram: Diagram) -> dict[str, Edge]:
    return {edge.element: edge for edge in diagram.edges}


def middle(box: Bounds) -> float:
    return box.y + box.height / 2


def tasks(*ids: str) -> tuple[Task, ...]:
    return tuple(Task(id=id, name=id) for id in ids)


def test_sizes_are_those_of_modellers() -> None:
    made: tuple[Node, ...] = (Event(id="e", position="start"), Gateway(id="g", kind="parallel"), *tasks("t"))
    places = boxes(laid_out(*made, flows=(("e", "g"), ("g", "t"))))
    assert {id: (box.width, box.height) for id, box in places.items()} == {
        "e": (36, 36), "g": (50, 50), "t": (100, 80),
    }  # fmt: skip


def test_flows_lead_to_the_right_on_one_line() -> None:
    diagram = laid_out(*tasks("a", "b", "c"), flows=(("a", "b"), ("b", "c")))
    places = boxes(diagram)
    assert places["a"].x < places["b"].x < places["c"].x
    assert len({middle(box) for box in places.values()}) == 1
    assert all(len(edge.points) == 2 for edge in diagram.edges)


def test_the_longest_way_is_straight_and_the_others_leave_it() -> None:
    made: tuple[Node, ...] = (
        Gateway(id="g", kind="exclusive"),
        *tasks("a", "b", "c", "short"),
        Gateway(id="j", kind="exclusive"),
    )
    flows = (("g", "short"), ("short", "j"), ("g", "a"), ("a", "b"), ("b", "c"), ("c", "j"))
    places = boxes(laid_out(*made, flows=flows))
    assert len({middle(places[id]) for id in ("g", "a", "b", "c", "j")}) == 1
    assert middle(places["short"]) != middle(places["g"])


def test_a_loop_runs_back_around_what_it_repeats() -> None:
    diagram = laid_out(*tasks("a", "b", "c"), flows=(("a", "b"), ("b", "c"), ("c", "a")))
    places, back = boxes(diagram), edges(diagram)["c-a"]
    assert places["a"].x < places["b"].x < places["c"].x
    assert max(y for _, y in back.points) > places["b"].y + places["b"].height


def test_a_flow_to_itself_is_a_line_around_the_node() -> None:
    diagram = laid_out(*tasks("a"), flows=(("a", "a"),))
    assert len(edges(diagram)["a-a"].points) > 3


def test_two_flows_between_the_same_nodes_are_two_lines() -> None:
    flows = tuple(Flow(id=id, source="a", target="b") for id in ("one", "two"))
    body = Scope(nodes=tasks("a", "b"), flows=flows)
    found = edges(lay_out(Definitions(id="file", processes=(Process(id="process", body=body),))))
    assert found["one"].points != found["two"].points


def test_an_event_subprocess_stands_below_the_flow() -> None:
    aside = SubProcess(id="aside", kind="event", body=Scope(nodes=tasks("inside")))
    places = boxes(laid_out(aside, *tasks("a", "b"), flows=(("a", "b"),)))
    assert places["aside"].y > places["a"].y + places["a"].height


def test_names_of_branches_stand_apart_from_each_other_and_from_nodes() -> None:
    made: tuple[Node, ...] = (Gateway(id="g", kind="exclusive"), *tasks("a", "b", "c"))
    diagram = laid_out(*made, flows=(("g", "a"), ("g", "b"), ("g", "c")), names="a name of two lines or so")
    labels = [edge.label for edge in diagram.edges if edge.label is not None]
    assert len(labels) == 3
    taken = labels + list(boxes(diagram).values())
    for place, one in enumerate(taken):
        for other in taken[place + 1 :]:
            assert (
                one.x + one.width <= other.x or other.x + other.width <= one.x
                or one.y + one.height <= other.y or other.y + other.height <= one.y
            )  # fmt: skip


def test_a_file_without_processes_has_an_empty_diagram() -> None:
    assert lay_out(Definitions(id="file")) == Diagram(plane="file")


COUNT = 3_000


@pytest.mark.parametrize(
    "flows",
    [
        tuple((f"t{n}", f"t{n + 1}") for n in range(COUNT - 1)),
        tuple(("t0", f"t{n}") for n in range(1, COUNT)),
        tuple((f"t{n}", f"t{(n * 7919) % COUNT}") for n in range(COUNT)),
        tuple((f"t{n % 50}", f"t{COUNT - 1 - n % 1000}") for n in range(COUNT)),
    ],
    ids=["chain", "star", "tangle", "dense"],
)
def test_the_work_for_a_large_model_is_bounded(flows: tuple[tuple[str, str], ...]) -> None:
    made = tuple(Flow(id=f"f{number}", source=a, target=b) for number, (a, b) in enumerate(flows))
    body = Scope(nodes=tasks(*(f"t{number}" for number in range(COUNT))), flows=made)
    diagram = lay_out(Definitions(id="file", processes=(Process(id="process", body=body),)))
    assert (len(diagram.shapes), len(diagram.edges)) == (COUNT, len(flows))


def test_texts_break_between_words_and_within_long_ones() -> None:
    assert wrap("one two three", text_width("one two", 12) + 1, 12) == ["one two", "three"]
    assert "".join(wrap("x" * 40, 60, 12, 99)) == "x" * 40
    assert wrap("", 60, 12) == []


def test_what_does_not_fit_ends_with_an_ellipsis() -> None:
    lines = wrap("word " * 50, 60, 12, 3)
    assert len(lines) == 3
    assert lines[-1].endswith("…")
    assert all(text_width(line, 12) <= 60 for line in lines)
    assert label_size("word " * 500)[1] < 80
