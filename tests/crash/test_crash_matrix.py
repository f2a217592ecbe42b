"""The process stops before and after every commit of every scenario: nothing is lost, nothing happens twice."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from perdure.store.ports import Driver
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from tests.crash.audit import assert_audit_passes
from tests.crash.scenarios import SCENARIOS, Handlers, Scenario, Story, catalogue
from tests.depth import killed_commits, some_kills

ATTEMPTS = {"AttemptStarted", "StepReady", "AttemptDiscarded", "CompletionIgnored", "ProgressPosted"}
MAX_COMMITS = 30


class Trial:
    """One scenario with one crash, repeated by its client until everything is acknowledged."""

    def __init__(self, url: str, scenario: Scenario, crash_at: int, side: Side, clock: VirtualSources) -> None:
        self.url, self.scenario, self.clock = url, scenario, clock
        self.crash_at, self.side = crash_at, side
        self.story = Story(f"{scenario.name}-{crash_at}-{side}", Handlers())
        self.crashes = 0
        self.crashed_in = ""

    async def run(self) -> tuple[Any, list[str]]:
        sandbox, faulty = await self._open(self.crash_at)
        for act in self.scenario.steps:
            while True:
                try:
                    await act(self.story, sandbox)
                    break
                except Crash:
                    self.crashes += 1
                    self.crashed_in = faulty.commits_seen[-1]
                    await faulty.abandon()
                    sandbox, faulty = await self._open(0)
        view = await sandbox.status(self.story.id)
        entries = [event.entry async for event in sandbox.events(self.story.id)]
        await sandbox.runtime.stop()
        return view, entries

    async def _open(self, crash_at: int) -> tuple[Sandbox, FaultyDriver]:
        inner: Driver = quiet_driver(self.url)
        faulty = FaultyDriver(inner, crash_at, self.side)
        sandbox = await Sandbox.start(
            self.url, definitions=catalogue(), handlers=self.story.handlers.bound(), clock=self.clock, driver=faulty
        )
        await sandbox.runtime.look_after()
        return sandbox, faulty


@pytest.mark.req("X6")
@pytest.mark.req("X7")
@pytest.mark.req("V17")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
@some_kills
async def test_a_crash_at_any_commit_loses_nothing_and_repeats_nothing(
    scenario: Scenario, store_url: str, every: int
) -> None:
    clock = VirtualSources(seed=1)
    for side in ("before", "after"):
        for crash_at in killed_commits(every, scenario.name + side, MAX_COMMITS):
            trial = Trial(store_url, scenario, crash_at, side, clock)  # type: ignore[arg-type]
            view, entries = await trial.run()
            assert view.state == scenario.ends, (crash_at, side, trial.crashed_in, view)
            lasting = Counter(entry for entry in entries if entry not in ATTEMPTS)
            assert lasting == Counter(scenario.entries), (crash_at, side, trial.crashed_in, entries)
            _assert_runs(trial)
            if trial.crashes == 0:
                break  # every commit of the scenario has been crashed
        else:
            pytest.fail("the scenario never ran through without reaching the crash")
        assert every > 1 or crash_at > 1
    await assert_audit_passes(store_url)


def _assert_runs(trial: Trial) -> None:
    """Exactly as often as `effects` promises, always under one key."""
    story, verb = trial.story, trial.scenario.verb
    runs = story.handlers.runs
    expected = {"t.none": 1, "t.store": 1, "t.external": 1, "t.flaky": 3, "t.refused": 1, "t.contract": 2, "t.spawn": 1}
    if verb in expected:
        # A handler that ran before its result was committed runs again; every other crash costs no run.
        lost = trial.side == "before" and trial.crashed_in in _RECORDS_A_RUN.get(verb, ("RecordAttempt",))
        assert runs[verb] == expected[verb] + lost, (trial.crash_at, trial.side, trial.crashed_in, dict(runs))
        assert len(story.handlers.keys[verb]) == 1, story.handlers.keys
    if verb == "t.escalating":
        assert 1 <= runs["t.rescue"] <= 2
        assert len(story.handlers.keys["t.rescue"]) == 1


_RECORDS_A_RUN = {"t.none": ("StartCall",), "t.store": ("StartCall",)}


@pytest.mark.req("V16")
async def test_a_cautious_verb_interrupted_while_running_stops_for_a_person(store_url: str) -> None:
    handlers = Handlers()
    clock = VirtualSources(seed=2)
    faulty = FaultyDriver(quiet_driver(store_url), crash_at=2, side="before")
    sandbox = await Sandbox.start(
        store_url, definitions=catalogue(), handlers=handlers.bound(), clock=clock, driver=faulty
    )
    with pytest.raises(Crash):
        await sandbox.call("t.cautious", idempotency_key="k")
    await faulty.abandon()
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers.bound(), clock=clock) as again:
        await again.run_until_idle()
        view = await again.call("t.cautious", idempotency_key="k")
        assert view.waiting_for is not None
        assert (view.state, view.waiting_for.kind, view.waiting_for.code) == ("parked", "incident", "job.interrupted")
        assert handlers.runs["t.cautious"] == 1
        done = await again.retry(view.id)
        assert done.state == "completed"
        assert handlers.runs["t.cautious"] == 2
