"""Attempts are numbered once and for all: trying again by hand grants the policy's attempts anew, not their numbers."""

from __future__ import annotations

import pytest

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.deployed_process import Binding
from perdure.bpmn.machine.state import Failure
from perdure.verb_contract import RetryPolicy
from tests.bpmn.machine.play import Player
from tests.bpmn.machine.test_compensation import begun, end_job, scope, service, status
from tests.bpmn.machine.test_found_at_random import standing

DOWN = c.JobFault(Failure("transient_external", "down", "try later"))
POLICY = RetryPolicy(max_attempts=2, backoff="exponential", base_delay_seconds=10.0, jitter=0.0)


def again(player: Player) -> None:
    node = standing(player, "a", "job")
    assert node.job is not None
    player.now = node.job.retry_at
    player.ask(c.FireTimer(number=node.number, kind="retry", due=node.job.retry_at, worker=1))


def exhausted() -> Player:
    player = begun(scope((service("a"),)), bindings={"a.verb": Binding(verb="a.verb", retry=POLICY)})
    end_job(player, "a", DOWN)
    again(player)
    end_job(player, "a", DOWN)
    assert standing(player, "a").incident is not None
    return player


def attempts(player: Player) -> list[int]:
    return [entry.attempt for entry in player.journal if isinstance(entry, e.JobStarted)]


@pytest.mark.req("O12")
def test_a_job_retried_by_hand_goes_on_counting_and_gets_all_its_attempts_again() -> None:
    player = exhausted()
    player.ask(c.RetryIncident(node=standing(player, "a").number, worker=1))
    player.reopen()
    end_job(player, "a", DOWN)
    assert standing(player, "a").incident is None, "the policy grants two attempts anew"
    again(player)
    end_job(player, "a", DOWN)
    incident = standing(player, "a").incident
    told = "'a.verb' failed in 2 attempts: try later. Mend the cause and retry, or resolve it by hand."
    assert incident is not None and incident.text == told
    assert attempts(player) == [1, 2, 3, 4]


@pytest.mark.req("O12")
def test_the_delays_begin_anew_when_a_job_is_retried_by_hand() -> None:
    player = exhausted()
    player.ask(c.RetryIncident(node=standing(player, "a").number, worker=1))
    end_job(player, "a", DOWN)
    failed = [entry for entry in player.journal if isinstance(entry, e.JobFailed) and entry.retry_at]
    assert [entry.retry_at - entry.at for entry in failed] == [10_000_000, 10_000_000]


def test_what_an_attempt_before_the_retry_by_hand_reports_late_is_told_from_the_new_one() -> None:
    player = exhausted()
    number = standing(player, "a").number
    player.ask(c.RetryIncident(node=number, worker=1))
    late = c.RecordJob(node=number, attempt=1, job_worker=1, outcome=c.JobDone(b"l" * 32), worker=1)
    assert player.ask(late) == "discarded"
    end_job(player, "a")
    assert status(player) == "completed"
