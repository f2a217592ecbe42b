"""A process that never waits is found out, named, and what it did until then is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.testing.scenarios import resting
from tests.scenarios.drawn import played

JOBS = 'start s\nservice a a.one loop="orch_x = true"\nend e\ns > a > e\n'
CALLS = 'start s\ncall c q loop="orch_x = true"\nend e\ns > c > e\nprocess q\nstart s2\nend e2\ns2 > e2\n'
FOR_EVER = "profile: open\nprocess: p\nflags: {orch_x: true}\ndo:\n- start: {}\n- cancel: {}\nexpect: {state: active}\n"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting, "MAX_VISITS", 30)
    monkeypatch.setattr(resting, "MAX_INSTANCES", 20)


@pytest.mark.parametrize(
    ("sketch", "said"),
    [(JOBS, "'a' was visited more than 30 times"), (CALLS, "instances of 'q' called at 'c' began more than 20 times")],
    ids=["jobs", "calls"],
)
async def test_what_never_comes_to_rest_fails_with_the_name_of_the_element(
    tmp_path: Path, store_url: str, sketch: str, said: str
) -> None:
    outcome = await played(tmp_path, sketch, FOR_EVER, store=store_url, is_same=False)
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
