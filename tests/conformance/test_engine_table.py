"""The page of engine conformance counts the scenarios there are, and Temporal holds what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.testing.service_availability import ServiceUnavailable, is_required
from perdure.testing.temporal_server import virtual_server
from tests.conformance.engine_table import PAGE, groups
from tests.house.tree import ROOT

ROW = re.compile(r"^\| ([a-z-]+) \|((?: \d+ / \d+ \|)+)$", re.MULTILINE)


def test_the_page_counts_every_group_of_scenarios() -> None:
    rows = dict(ROW.findall(PAGE.read_text(encoding="utf-8")))
    counted = {group: {int(cell.split("/")[1]) for cell in row.strip(" |").split("|")} for group, row in rows.items()}
    assert counted == {group: {count} for group, count in groups().items()}


@pytest.mark.deep
@pytest.mark.timeout(900)
@pytest.mark.req("V13")
def test_the_suite_holds_on_temporal(tmp_path: Path) -> None:
    try:
        server = virtual_server()
    except ServiceUnavailable as error:
        if is_required():
            pytest.fail(str(error))
        pytest.skip(f"SERVICE MISSING: {error}")
    output = tmp_path / "verdicts.json"
    try:
        server.start()
        command = [sys.executable, "-m", "tests.conformance.engine_verdicts", "temporal", server.target, str(output)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    finally:
        server.remove()
    assert [each for each in json.loads(output.read_text()) if each[1] != "held"] == []
