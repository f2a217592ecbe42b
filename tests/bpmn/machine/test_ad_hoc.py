"""Ad-hoc subprocesses as people act on them: what counts as completed, and what may still begin."""

from __future__ import annotations

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.conditions import parse_condition
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.state import Node
from perdure.errors import Rejection
from tests.bpmn.machine.play import ID, ORIGIN, Player
from tests.bpmn.machine.test_compensation import begun, end_job, scope, service, status


def open_with(*nodes: m.Node, until: int, cancels: bool = True) -> Player:
    """An ad-hoc subprocess of these, begun, that is over when so many activities have completed."""
    met = parse_condition(f"orch_completed_count >= {until}")
    body = m.Scope(nodes=nodes, flows=())
    return begun(scope((m.SubProcess(id="any", kind="ad_hoc", completion=met, cancels_remaining=cancels, body=body),)))


def nodes(player: Player) -> list[Node]:
    assert player.state is not None
    return list(player.state.nodes.values())


@pytest.mark.req("V13", "O8")
def test_no_token_is_put_where_nothing_begins_any_more() -> None:
    player = open_with(service("a"), service("b"), until=1, cancels=False)
    end_job(player, "a")
    asked = c.Modify(starts=("a",), worker=1)
    refused = player.machine.decide(ID, player.state, asked, ORIGIN, player.now, 0.5)
    assert isinstance(refused, Rejection)
    assert refused.fact == "nothing begins any more in 'any': its completion condition has held"
    end_job(player, "b")
    assert status(player) == "completed"
