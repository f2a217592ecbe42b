"""What an agent asks or lacks is a fault of a job that Camunda has: it keeps none for a person."""

from __future__ import annotations

import pytest

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.state import Failure
from perdure.engines.camunda.carried_commands import carried_command

UNSURE = Failure("permanent_business", "agent.unsure", "it is not sure")


def record(outcome: c.JobDone | c.JobFault | c.JobAsks | c.JobHolds) -> c.RecordJob:
    return c.RecordJob(node=2, attempt=1, job_worker=3, outcome=outcome)


@pytest.mark.req("O13")
def test_what_would_wait_for_somebody_is_a_fault() -> None:
    asked = carried_command(record(c.JobAsks(b"q" * 32, "agent:judge", groups="compliance")))
    assert asked.outcome.failure.code == "agent.unasked" and "user task" in asked.outcome.failure.message
    unsure = carried_command(record(c.JobAsks(b"q" * 32, "agent:judge", unless=UNSURE)))
    assert unsure.outcome.failure == UNSURE
    spent = carried_command(record(c.JobHolds("agent.budget", "nothing is left")))
    assert (spent.outcome.failure.kind, spent.outcome.failure.code) == ("permanent_business", "agent.budget")


@pytest.mark.req("O13")
def test_what_goes_on_by_itself_stays_as_it_is() -> None:
    for outcome in (c.JobHolds("agent.open", "the breaker is open", 60.0), c.JobDone(b"h" * 32)):
        assert carried_command(record(outcome)) == record(outcome)
