"""What can be undone is counted and not listed: loops stay small, and every turn is still undone, last first."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.completed_activities import backwards, chosen, compact, first, listed
from perdure.bpmn.machine.state import Done
from tests.bpmn.machine.play import Player
from tests.bpmn.machine.test_compensation import THROW, begun, end_job, handler, scope, service

TURNS = 300
THINGS = st.sampled_from(
    [Done("a", "undo-a"), Done("b", "undo-b"), Done("c", verb="c.undo"), Done("s", inner=(Done("x"),))]
)
SEQUENCES = st.lists(
    st.one_of(
        THINGS.map(lambda one: [one]),
        st.tuples(THINGS, st.integers(1, 4)).map(lambda one: [replace(one[0], iteration=n + 1) for n in range(one[1])]),
        st.tuples(st.lists(THINGS, min_size=1, max_size=4), st.integers(1, 5)).map(lambda one: one[0] * one[1]),
    ),
    max_size=8,
).map(lambda parts: [each for part in parts for each in part])


@settings(deadline=None, max_examples=300)
@given(SEQUENCES)
def test_counting_loses_nothing_of_what_was_done_and_in_which_order(done: list[Done]) -> None:
    assert list(listed(compact(done))) == done


@settings(deadline=None, max_examples=300)
@given(SEQUENCES)
def test_what_is_counted_is_undone_one_by_one_last_first(done: list[Done]) -> None:
    queue, undone = backwards(compact(done)), []
    while queue:
        one, queue = first(queue)
        undone.append(one)
    assert undone == done[::-1]


@settings(deadline=None, max_examples=300)
@given(SEQUENCES)
def test_one_activity_is_taken_out_of_what_is_counted(done: list[Done]) -> None:
    kept = compact(done)
    assert list(listed(chosen(kept, "a", is_named=True))) == [each for each in done if each.element == "a"]
    assert list(listed(chosen(kept, "a", is_named=False))) == [each for each in done if each.element != "a"]


def _sizes(player: Player, elements: tuple[str, ...], turns: int) -> list[int]:
    sizes = []
    for _ in range(turns):
        for element in elements:
            end_job(player, element)
        assert player.state is not None
        sizes.append(len(player.machine.encode(player.state)))
    return sizes


def _undone(player: Player, elements: tuple[str, ...], turns: int) -> list[int]:
    """Undoes everything; the largest state and entry on the way."""
    sizes = []
    for _ in range(turns):
        for element in elements:
            end_job(player, element)
            if player.state is not None:
                sizes.append(len(player.machine.encode(player.state)))
    return sizes


@pytest.mark.req("O7")
def test_a_loop_that_can_be_undone_has_the_same_size_after_every_turn() -> None:
    loop = m.StandardLoop(maximum=TURNS)
    player = begun(scope((service("a", repeat=loop), THROW), undoes={"a": handler("undo-a")}))
    sizes = _sizes(player, ("a",), TURNS - 1)
    assert max(sizes[20:]) - sizes[20] < 40, "only numbers grow"
    end_job(player, "a")
    assert max(_undone(player, ("undo-a",), TURNS)) < sizes[20] + 100
    assert player.state is not None and player.state.status == "completed"


@pytest.mark.req("O7")
def test_a_cycle_of_several_tasks_that_can_be_undone_has_the_same_size_after_every_turn() -> None:
    again = m.Gateway(id="again", kind="exclusive", default="on")
    body = scope((service("a"), service("b"), again, THROW), undoes={"a": handler("undo-a"), "b": handler("undo-b")})
    flows = [replace(flow, id="on") if flow.source == "again" else flow for flow in body.flows]
    back = m.Flow(id="back", source="again", target="a", condition=parse_condition("orch_a == true"))
    player = begun(replace(body, flows=(*flows, back)))
    assert player.state is not None
    player.state.flags["orch_a"] = True
    sizes = _sizes(player, ("a", "b"), TURNS)
    assert max(sizes[20:]) - sizes[20] < 40
    player.state.flags["orch_a"] = False
    _sizes(player, ("a", "b"), 1)
    _undone(player, ("undo-b", "undo-a"), TURNS + 1)
    assert player.state is not None and player.state.status == "completed"


@pytest.mark.req("O7")
def test_the_iterations_of_a_verb_are_undone_with_their_numbers_last_first() -> None:
    task = m.Task(id="a", kind="service", type="a.verb", repeat=m.MultiInstance(m.Value("4"), is_sequential=True))
    player = begun(scope((task, THROW)), compensation={"a.verb": "a.undo"})
    for _ in range(8):
        end_job(player, "a")
    undo = {entry.number for entry in player.journal if isinstance(entry, e.JobMade) and entry.purpose == "undo"}
    turns = [entry.iteration for entry in player.journal if isinstance(entry, e.Entered) and entry.number in undo]
    assert turns == [4, 3, 2, 1]
