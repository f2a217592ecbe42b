"""The Makefile explains itself, and what integration runs is what a developer runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from tests.house.tree import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_target_explains_itself() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):(?!=)", MAKEFILE, re.MULTILINE))
    explained = set(re.findall(r"^([a-z][a-z-]*):.*## \S", MAKEFILE, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert targets == explained == set(phony.group(1).split())


def test_the_commands_a_newcomer_needs_are_there() -> None:
    assert {"help", "demo", "test", "check", "bench", "simulate", "clean"} <= set(
        re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
    )


def test_make_alone_shows_the_help() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not on this machine")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(["make"], cwd=ROOT, env=plain, capture_output=True, text=True, check=True)
    assert "demo" in done.stdout
    assert "test" in done.stdout


def test_integration_runs_the_tests_with_all_services_required() -> None:
    script = ROOT / ".ci" / "run"
    text = script.read_text(encoding="utf-8")
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in text
    assert "export PERDURE_REQUIRE_SERVICES=1" in text
    assert text.rstrip().endswith("test")
