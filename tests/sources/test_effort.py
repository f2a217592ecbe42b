"""A clock of what a thread has worked."""

from __future__ import annotations

import pytest

from perdure.sources import PATIENCE, effort_clock


def test_a_clock_of_effort_counts_work_and_hardly_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    passed, worked = [0], [0]
    monkeypatch.setattr("perdure.sources.time.monotonic_ns", lambda: passed[0])
    monkeypatch.setattr("perdure.sources.time.thread_time_ns", lambda: worked[0])
    spent = effort_clock()
    passed[0], worked[0] = 2_000_000_000, 1_000_000_000
    assert spent() == 1_000_000
    passed[0] = PATIENCE * 10_000_000_000
    assert spent() == 10_000_000
