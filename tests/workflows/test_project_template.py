"""A new project with a workflow in Python: made in a fresh folder, its tests pass, its commands answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell


@pytest.mark.req("O1", "O14")
def test_a_new_project_with_a_workflow_passes_its_own_tests_and_runs(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    told = shell.json("init", "shop", "--template", "python-workflow")
    assert "tests/test_purchase.py" in told["files"]
    project = Shell(tmp_path / "shop")
    pytest_command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tested = subprocess.run(
        pytest_command, cwd=project.folder, env=project.environment, capture_output=True, text=True, check=False
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "4 passed" in tested.stdout
    project.run_process("call", "purchase", "amount=5000")
    assert "buy this?" in project.run("tasks", "list", "--mine", "--as", "ada").out.lower()
    assert shell.run("init", "shop", "--template", "python-workflow", code=2).error


@pytest.mark.parametrize("example", ["pr-review", "trial-onboarding", "campaign"])
def test_the_model_of_every_example_lints_clean(example: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[2] / "examples" / example / "workflows"
    (source,) = [file for file in root.glob("*.py") if file.name not in ("agents.py", "__init__.py")]
    shell = Shell(tmp_path)
    shell.run_process("workflows", "convert", str(source), "--to", "bpmn", "-o", "model.bpmn")
    shell.run("lint", "model.bpmn")
