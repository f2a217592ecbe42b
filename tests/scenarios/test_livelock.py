"""A process that never waits is found out, named, and what it did until then is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.processes import proof
from perdure.testing import sandbox
from perdure.testing.scenarios import livelock
from perdure.testing.scenarios import scenario_runner as runner
from perdure.testing.scenarios.scenario import Outcome, Scenario
from tests.scenarios.drawn import played

JOBS = 'start s\nservice a a.one loop="orch_x = true"\nend e\ns > a > e\n'
CALLS = 'start s\ncall c q loop="orch_x = true"\nend e\ns > c > e\nprocess q\nstart s2\nend e2\ns2 > e2\n'
FOR_EVER = "profile: open\nprocess: p\nflags: {orch_x: true}\ndo:\n- start: {}\n- cancel: {}\nexpect: {state: active}\n"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(livelock, "MAX_VISITS", 30)
    monkeypatch.setattr(livelock, "MAX_INSTANCES", 20)


@pytest.mark.parametrize(
    ("sketch", "said"),
    [(JOBS, "'a' was visited more than 30 times"), (CALLS, "instances of 'q' called at 'c' began more than 20 times")],
    ids=["jobs", "calls"],
)
async def test_what_never_comes_to_rest_fails_with_the_name_of_the_element(
    tmp_path: Path, store_url: str, sketch: str, said: str
) -> None:
    outcome = await played(tmp_path, sketch, FOR_EVER, store=store_url)
    assert not outcome.passed
    [failure] = outcome.failures
    assert failure.startswith("Step 1 (line 6), start: Expected to come to rest at instant '2026-01-01T00:00:00")
    assert said in failure
    assert outcome.actual.visited.count("a" if sketch is JOBS else "c") > 20


async def test_what_happens_at_other_instants_is_counted_anew(tmp_path: Path) -> None:
    sketch = 'start s\nservice a a.one loop="orch_x = true" most=40\nend e\ns > a > e\n'
    late = "profile: open\nflags: {orch_x: true}\nverbs: {a.one: {takes: PT1S}}\ndo: [start: {}, advance: PT40S]\n"
    outcome = await played(tmp_path, sketch, f"{late}expect: {{state: completed}}\n")
    assert outcome.passed, outcome


async def test_too_many_timers_fail_the_step_and_what_happened_until_then_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "MAX_ROUNDS", 50)
    sketch = "start s\nuser u\nboundary b on u non timer cycle R/PT1S\nend e\nend f\ns > u > e\nb > f\n"
    years = "profile: open\ndo: [start, advance: P10Y, task: u]\nexpect: {state: active}\n"
    outcome = await played(tmp_path, sketch, years)
    [failure] = outcome.failures
    assert failure.startswith("Step 2 (line 3), advance: ")
    assert (outcome.actual.state, outcome.actual.parked) == ("active", ["u"])


async def test_what_breaks_one_file_is_its_failure_and_the_others_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "b.yaml", tmp_path / "a.yaml"
    await played(tmp_path, "start s\nend e\ns > e\n", "do: [start]\n")
    for file in (whole, broken):
        file.write_text("model: p.bpmn\ndo: [start]\nexpect: {state: completed}\n", encoding="utf-8")
    run = runner.run_scenario

    async def breaks(scenario: Scenario, store: str = "") -> Outcome:
        if scenario.file == str(broken):
            raise KeyError("left out")
        return await run(scenario, store)

    monkeypatch.setattr(runner, "run_scenario", breaks)
    first, second = await runner.run_files([broken, whole])
    assert (first.passed, second.passed) == (False, True)
    assert "KeyError" in first.failures[0]


async def test_no_scenario_in_the_open_profile_waits_for_a_proof_that_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(proof, "prove_for_deployment", lambda model, process, *_: asked.append(process) or [])
    for profile in ("open", "hollow"):
        await played(tmp_path, "start s\nend e\ns > e\n", f"profile: {profile}\ndo: [start]\nexpect: {{}}\n")
    assert asked == ["p"]
