"""What a scenario says was visited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.drawn import played


@pytest.mark.parametrize("way", ["many=orch_n", "many=orch_n inorder", 'loop="orch_n > 0" before'])
async def test_an_activity_repeated_not_once_was_visited_all_the_same(tmp_path: Path, store_url: str, way: str) -> None:
    sketch = f"start s\nservice a a.one {way}\nend e\ns > a > e\n"
    outcome = await played(tmp_path, sketch, "profile: open\nflags: {orch_n: 0}\ndo: [start: {}]\n", store=store_url)
    assert outcome.actual.visited == ["s", "a", "e"]
    assert outcome.actual.ran == []


async def test_iterations_are_visits_and_what_stands_around_them_is_not(tmp_path: Path) -> None:
    sketch = "start s\nuser a many=2\nend e\ns > a > e\n"
    outcome = await played(tmp_path, sketch, "profile: open\ndo: [start: {}, task: a, task: a]\n")
    assert outcome.actual.visited == ["s", "a", "a", "e"]
