"""Ad-hoc subprocesses as people act on them: what counts as completed, and what may still begin."""

from __future__ import annotations

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.state import Node
from perdure.errors import Rejection
from tests.bpmn.machine.play import ID, ORIGIN, Player
from tests.bpmn.machine.test_compensation import begun, end_job, scope, service, status
from tests.bpmn.machine.test_found_at_random import MINUTE, watch


def open_with(*nodes: m.Node, until: int, cancels: bool = True) -> Player:
    """An ad-hoc subprocess of these, begun, that is over when so many activities have completed."""
    met = parse_condition(f"orch_completed_count >= {until}")
    body = m.Scope(nodes=nodes, flows=())
    return begun(scope((m.SubProcess(id="any", kind="ad_hoc", completion=met, cancels_remaining=cancels, body=body),)))


def nodes(player: Player) -> list[Node]:
    assert player.state is not None
    return list(player.state.nodes.values())


@pytest.mark.req("O8")
def test_no_token_is_put_where_nothing_begins_any_more() -> None:
    player = open_with(service("a"), service("b"), until=1, cancels=False)
    end_job(player, "a")
    asked = c.Modify(starts=("a",), worker=1)
    refused = player.machine.decide(ID, player.state, asked, ORIGIN, player.now, 0.5)
    assert isinstance(refused, Rejection)
    assert refused.fact == "nothing begins any more in 'any': its completion condition has held"
    end_job(player, "b")
    assert status(player) == "completed"


@pytest.mark.req("O6")
def test_events_inside_are_no_completed_activities() -> None:
    pause = m.Event(id="pause", position="catch", triggers=(MINUTE,))
    player = open_with(service("a"), pause, service("b"), until=2)
    end_job(player, "a")
    fire(player)
    assert "b" in [node.element for node in nodes(player)], "one activity has completed, not two"
    end_job(player, "b")
    assert status(player) == "completed"


@pytest.mark.req("O8")
def test_an_activity_ended_by_hand_before_it_could_begin_has_completed() -> None:
    each = service("each", repeat=m.MultiInstance(m.Value("orch_many", "flag")))
    player = open_with(each, service("b"), until=1)
    stuck = next(node for node in nodes(player) if node.incident is not None)
    player.ask(c.ResolveIncident(node=stuck.number, worker=1))
    assert status(player) == "completed"


def fire(player: Player) -> None:
    assert player.state is not None
    timer = player.state.watches[watch(player, "timer")]
    player.now = timer.due
    player.ask(c.FireTimer(number=timer.number, kind="watch", due=timer.due, worker=1))
