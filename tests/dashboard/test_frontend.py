"""The dashboard's own tests and types hold, and what is served was built from the sources that are here."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.tree import ROOT

BUILD = ROOT / "dashboard" / "build.py"


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    found = runpy.run_path(str(BUILD))
    found["build"]()
    return found


@pytest.mark.req("P4")
@pytest.mark.parametrize("script", ["test", "check"])
def test_the_script_of_the_dashboard_passes(built: dict[str, Any], script: str) -> None:
    done = subprocess.run([sys.executable, BUILD, "--run", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.req("P4")
def test_what_is_built_has_no_inline_script_and_asks_nobody_else(built: dict[str, Any]) -> None:
    static: Path = built["STATIC"]
    page = (static / "index.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "http://" not in page and "https://" not in page
    assert list((static / "assets").glob("*.js"))


def test_a_build_of_the_same_sources_is_not_done_again(built: dict[str, Any]) -> None:
    assert built["build"]() is False


def test_the_lock_file_names_no_host() -> None:
    lock = json.loads((ROOT / "dashboard" / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, each in lock["packages"].items() if "resolved" in each] == []
