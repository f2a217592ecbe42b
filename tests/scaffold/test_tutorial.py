"""The tutorial, followed to its end: the project it makes is green on a real server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.testing.temporal_server import TemporalServer
from tests.house.documents import to_script
from tests.house.tree import ROOT

pytestmark = pytest.mark.deep


def test_the_tutorial_ends_with_a_green_test_on_a_real_server(tmp_path: Path, server: TemporalServer) -> None:
    page = (ROOT / "docs" / "tutorial" / "scaffold.md").read_text("utf-8")
    script = tmp_path / "page.py"
    script.write_text(to_script(page), "utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    command = [sys.executable, "-c", "from tests.house.documents import main; main()", str(script)]
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "120", "PYTHONPATH": str(ROOT)}
    followed = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert followed.returncode == 0, followed.stdout + followed.stderr
    environment = {**os.environ, "TEMPORAL_ADDRESS": server.target}
    tests = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(tests, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert "3 passed" in done.stdout, done.stdout + done.stderr
