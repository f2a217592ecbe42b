"""The seam for engines: an import of an engine from above it is reported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

CONTRACT = "App, surfaces and testing know the engine contract and no engine BROKEN"


@pytest.mark.req("V13")
@pytest.mark.parametrize("module", ["app/gates.py", "surfaces/cli/application.py", "testing/sandbox.py"])
def test_who_imports_an_engine_from_above_the_seam_is_reported(module: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "perdure", tmp_path / "perdure", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    changed = tmp_path / "perdure" / module
    text = changed.read_text(encoding="utf-8") + "\nimport perdure.engines.embedded.engine\n"
    changed.write_text(text, encoding="utf-8")
    linter = Path(sys.executable).with_name("lint-imports")
    told = {**os.environ, "PYTHONPATH": str(tmp_path)}
    arguments = [linter, "--no-logo", "--no-cache", "--contract", "seam"]
    done = subprocess.run(arguments, cwd=tmp_path, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert CONTRACT in done.stdout, done.stdout + done.stderr
