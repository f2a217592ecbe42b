"""The conformance suite of engines on Temporal: the whole contract, and a part of the scenarios.

All of them take a quarter of an hour; `python -m tests.conformance.engine_table` plays them for the page.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.testing.service_availability import ServiceUnavailable
from perdure.testing.temporal_server import virtual_server
from tests.conftest import unavailable
from tests.house.tree import ROOT

EVERY = 6


@pytest.mark.deep
@pytest.mark.timeout(900)
@pytest.mark.req("V13")
def test_the_contract_and_every_sixth_scenario_hold_on_temporal(tmp_path: Path) -> None:
    try:
        server = virtual_server()
    except ServiceUnavailable as error:
        unavailable(str(error))
    output = tmp_path / "verdicts.json"
    try:
        server.start()
        command = [
            sys.executable,
            "-m",
            "tests.conformance.engine_verdicts",
            "temporal",
            server.target,
            str(output),
            str(EVERY),
        ]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    finally:
        server.remove()
    assert [each for each in json.loads(output.read_text()) if each[1] != "held"] == []
