"""Recorded histories are replayed with today's code: instances that are open go on after an upgrade."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

pytestmark = pytest.mark.deep

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


def replayed(file: Path) -> str:
    """What differs from the history. A process of its own, because the SDK may abort when Python ends."""
    command = [sys.executable, "-m", "tests.engines.temporal.recorded_history", "replay", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    answers = [line[1:] for line in done.stdout.splitlines() if line.startswith("@")]
    assert answers, done.stderr
    return answers[0]


@pytest.mark.req("V13")
@pytest.mark.parametrize("file", HISTORIES, ids=lambda file: file.stem)
def test_a_recorded_history_is_replayed(file: Path) -> None:
    assert replayed(file) == ""


def test_there_is_a_history_of_each_shape() -> None:
    """A retry, a message, a timer, a task, compensation and a run that continues another."""
    shapes = {"service-and-retry", "message-and-flag", "timer", "user-task", "compensation", "parallel", "continued"}
    assert shapes <= {file.stem for file in HISTORIES}
    continued = next(file for file in HISTORIES if file.stem == "continued").read_text("utf-8")
    assert '"continuedExecutionRunId":' in continued


def test_a_history_that_another_workflow_made_is_noticed(tmp_path: Path) -> None:
    history = json.loads(HISTORIES[0].read_text("utf-8"))
    for event in history["events"]:
        scheduled = event.get("activityTaskScheduledEventAttributes")
        if scheduled is not None:
            scheduled["activityType"]["name"] = "perdure.other"
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(history), "utf-8")
    assert "ondeterminis" in replayed(changed)
