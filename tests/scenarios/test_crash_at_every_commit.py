"""Some scenarios with the process dying at every single commit, just before it and just after it."""

from __future__ import annotations

import pytest

from perdure.testing.fault_injection import Side
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.fault_variants import with_ids
from perdure.testing.scenarios.scenario_player import play
from tests.depth import killed_commits, some_kills
from tests.postmortem.world import survived
from tests.scenarios.cases import ELEMENTS, end_of, scenario_of

CHOSEN = (
    "call-activity/escalation-is-heard", "call-activity/interrupted-by-timer", "compensation-event/last-first",
    "event-gateway/message-wins", "event-subprocess/interrupting", "message-event/throw-and-end",
    "multi-instance-parallel/one-fails-and-is-retried", "signal-event/throw-and-end",
    "standard-loop/subprocess", "timer-event/boundary-every-month", "transaction/cancel-undoes-last-first",
    "user-task/reminded-twice-and-no-more",
)  # fmt: skip


@pytest.mark.req("V21")
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("name", CHOSEN)
@some_kills
async def test_a_crash_at_any_commit_changes_nothing(name: str, side: Side, every: int) -> None:
    scenario = with_ids(scenario_of(ELEMENTS / f"{name}.yaml"))
    async with EmbeddedWorld.open(scenario) as world:
        wanted = end_of((await play(scenario, world)).actual)
        assert world.driver is not None
        commits = len(world.driver.commits_seen)
    for number in killed_commits(every, name + side, commits):
        outcome, crashes, findings = await survived(scenario, number, side)
        assert crashes == 1
        assert outcome.passed, (number, outcome.failures)
        assert end_of(outcome.actual) == wanted
        assert not findings
