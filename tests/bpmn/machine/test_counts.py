"""How often an activity repeats: a number, or an incident that says what is there instead."""

from __future__ import annotations

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.loops import CARDINALITY
from tests.bpmn.machine.test_compensation import begun, end_job, scope, service
from tests.bpmn.machine.test_found_at_random import standing

MANY = m.MultiInstance(m.Value("orch_n", "flag"))


@pytest.mark.req("O6")
@pytest.mark.parametrize(
    ("flags", "fact"),
    [
        ({"orch_n": "3"}, "the flag 'orch_n' is \"3\", which is not an integer from 0 on"),
        ({"orch_n": True}, "the flag 'orch_n' is true, which is not an integer from 0 on"),
        ({"orch_n": -1}, "the flag 'orch_n' is -1, which is not an integer from 0 on"),
        ({"orch_n": 1001}, "1,001 iterations are more than 1,000"),
        ({}, "the flag 'orch_n' is not set"),
    ],
)
def test_a_flag_that_is_no_number_of_iterations_is_an_incident(flags: dict[str, str | bool | int], fact: str) -> None:
    player = begun(scope((service("f"), m.Task(id="a", kind="user", repeat=MANY))))
    end_job(player, "f", c.JobDone(b"1" * 32, flags))
    stuck = standing(player, "a")
    assert stuck.incident is not None and stuck.incident.code == CARDINALITY
    assert fact in stuck.incident.text
    player.ask(c.RetryIncident(node=stuck.number, flags={"orch_n": 2}, worker=1))
    assert player.state is not None
    assert sum(node.kind == "task" for node in player.state.nodes.values()) == 2
