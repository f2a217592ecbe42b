"""What holds for every layout, whatever the model: everything is drawn, nothing overlaps, lines meet their ends."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import HealthCheck, given, settings

from perdure.bpmn.layout import lay_out
from perdure.bpmn.layout.boxes import overlaps
from perdure.bpmn.layout.spatial_index import segment_box
from perdure.bpmn.model import (
    Bounds,
    Definitions,
    Diagram,
    Edge,
    Event,
    Scope,
    SubProcess,
    nodes,
    scopes,
)  # fmt: skip
from tests.bpmn.layout.random_scopes import files

pytestmark = pytest.mark.req("O1")
CHECKED = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])


def boxes(diagram: Diagram) -> dict[str, Bounds]:
    return {shape.element: shape.bounds for shape in diagram.shapes}


def is_within(inner: Bounds, outer: Bounds) -> bool:
    return (
        inner.x >= outer.x
        and inner.y >= outer.y
        and inner.x + inner.width <= outer.x + outer.width + 0.01
        and inner.y + inner.height <= outer.y + outer.height + 0.01
    )


def attached(scope: Scope) -> set[str]:
    return {node.id for node in scope.nodes if isinstance(node, Event) and node.position == "boundary"}


@CHECKED
@given(files())
def test_everything_has_its_place_once(definitions: Definitions) -> None:
    diagram = lay_out(definitions)
    drawn = [shape.element for shape in diagram.shapes] + [edge.element for edge in diagram.edges]
    assert len(drawn) == len(set(drawn))
    wanted: set[str] = set()
    for process in definitions.processes:
        wanted |= {lane.id for lane in process.lanes}
        for scope in scopes(process.body):
            for part in (scope.nodes, scope.flows, scope.annotations, scope.associations):
                wanted |= {each.id for each in part}
    if definitions.collaboration:
        wanted |= {each.id for each in definitions.collaboration.participants}
        wanted |= {each.id for each in definitions.collaboration.message_flows}
    assert set(drawn) == wanted


@CHECKED
@given(files())
def test_no_two_shapes_of_a_scope_overlap(definitions: Definitions) -> None:
    places = boxes(lay_out(definitions))
    for process in definitions.processes:
        for scope in scopes(process.body):
            stuck = attached(scope)
            ids = [each.id for each in (*scope.nodes, *scope.annotations) if each.id not in stuck]
            for one, other in combinations(ids, 2):
                assert not overlaps(places[one], places[other]), (one, other)
            for one, other in combinations(stuck, 2):
                assert not overlaps(places[one], places[other]), (one, other)


@CHECKED
@given(files())
def test_processes_and_pools_do_not_overlap(definitions: Definitions) -> None:
    places = boxes(lay_out(definitions))
    owned = [[places[node.id] for node in nodes(process.body)] for process in definitions.processes]
    for one, other in combinations(owned, 2):
        assert not any(overlaps(a, b) for a in one for b in other)
    pools = [places[each.id] for each in definitions.collaboration.participants] if definitions.collaboration else []
    assert not any(overlaps(one, other) for one, other in combinations(pools, 2))


@CHECKED
@given(files())
def test_children_are_inside_their_parents(definitions: Definitions) -> None:
    places = boxes(lay_out(definitions))
    for process in definitions.processes:
        for node in nodes(process.body):
            if isinstance(node, SubProcess):
                for child in node.body.nodes:
                    assert is_within(places[child.id], places[node.id]), (child.id, node.id)
        if definitions.collaboration:
            for node in process.body.nodes:
                assert is_within(places[node.id], places[f"{process.id}_pool"]), node.id


@CHECKED
@given(files())
def test_members_stand_in_their_lane(definitions: Definitions) -> None:
    places = boxes(lay_out(definitions))
    for process in definitions.processes:
        stuck, helping = attached(process.body), {each.target for each in process.body.associations}
        for lane in process.lanes:
            for member in lane.members:
                if member not in stuck and member not in helping:
                    assert is_within(places[member], places[lane.id]), (member, lane.id)


@CHECKED
@given(files())
def test_a_boundary_event_sits_on_the_border_of_its_host(definitions: Definitions) -> None:
    places = boxes(lay_out(definitions))
    for process in definitions.processes:
        for node in nodes(process.body):
            if isinstance(node, Event) and node.position == "boundary":
                host, box = places[node.attached_to], places[node.id]
                assert box.y + box.height / 2 == pytest.approx(host.y + host.height)
                assert host.x <= box.x
                assert box.x + box.width <= host.x + host.width


def is_on_border(point: tuple[float, float], box: Bounds) -> bool:
    x, y = point
    is_near = box.x - 0.01 <= x <= box.x + box.width + 0.01 and box.y - 0.01 <= y <= box.y + box.height + 0.01
    sides = (x - box.x, x - box.x - box.width, y - box.y, y - box.y - box.height)
    return is_near and min(map(abs, sides)) < 0.01


@CHECKED
@given(files())
def test_every_line_begins_and_ends_on_the_border_of_its_ends(definitions: Definitions) -> None:
    diagram = lay_out(definitions)
    places, edges = boxes(diagram), {edge.element: edge for edge in diagram.edges}
    ties = [each for process in definitions.processes for scope in scopes(process.body) for each in scope.flows]
    joined = [(each.id, each.source, each.target) for each in ties]
    for process in definitions.processes:
        for scope in scopes(process.body):
            joined += [(each.id, each.source, each.target) for each in scope.associations]
    if definitions.collaboration:
        joined += [(each.id, each.source, each.target) for each in definitions.collaboration.message_flows]
    for id, source, target in joined:
        assert is_on_border(edges[id].points[0], places[source]), id
        assert is_on_border(edges[id].points[-1], places[target]), id


def is_level(edge: Edge) -> bool:
    return all(abs(a[0] - b[0]) < 0.01 or abs(a[1] - b[1]) < 0.01 for a, b in pairwise(edge.points))


@CHECKED
@given(files())
def test_flows_run_in_right_angles_and_through_no_shape(definitions: Definitions) -> None:
    diagram = lay_out(definitions)
    places, edges = boxes(diagram), {edge.element: edge for edge in diagram.edges}
    for process in definitions.processes:
        for scope in scopes(process.body):
            solid = {each.id: places[each.id] for each in (*scope.nodes, *scope.annotations)}
            for flow in scope.flows:
                assert is_level(edges[flow.id])
                for one, other in pairwise(edges[flow.id].points):
                    piece = segment_box(one, other, 0.1)
                    for id, box in solid.items():
                        inside = Bounds(box.x + 1, box.y + 1, box.width - 2, box.height - 2)
                        assert not overlaps(piece, inside), (flow.id, id)


@CHECKED
@given(files())
def test_the_same_file_is_always_laid_out_the_same(definitions: Definitions) -> None:
    assert lay_out(definitions) == lay_out(definitions)
