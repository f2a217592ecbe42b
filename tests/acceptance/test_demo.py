"""The demonstration keeps every promise it makes, and notices one that is broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.demo import story
from perdure.demo.stage import BrokenPromise, Stage


@pytest.mark.req("P1")
def test_the_demonstration_runs_by_itself() -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PERDURE_")}
    done = subprocess.run(
        [sys.executable, "-m", "perdure.demo"], env=kept, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("is dead", "the verb finished once", "All is as it was written", "AUD010 payload of call"):
        assert words in done.stdout


def test_a_promise_that_does_not_hold_ends_the_story(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with pytest.raises(BrokenPromise, match="exited 3, not 0"):
        stage.ask("call", "no.such-verb")
    with pytest.raises(BrokenPromise, match="not as promised: the moon is cheese"):
        stage.promise(False, "the moon is cheese")
    (tmp_path / "empty.db").write_bytes(b"nothing")
    with pytest.raises(BrokenPromise, match=r"not found in empty\.db"):
        story.flip(tmp_path / "empty.db", b'{"case":"C-7"')
    stage.close()
