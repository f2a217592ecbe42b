"""Plays the conformance suite on a real Camunda broker of its own.

python -m tests.conformance.camunda_verdicts VERDICTS.json [EVERY [FIRST] | CASE ...]
python -m tests.conformance.engine_table "Camunda 8.6=VERDICTS.json"
"""

from __future__ import annotations

import subprocess
import sys

from perdure.testing.camunda_broker import CamundaBroker
from perdure.testing.server_process import free_ports
from tests.house.tree import ROOT


def play(output: str, *part: str) -> None:
    """Write the verdicts of every so many scenarios, from the first or a later one on, or of those that are named."""
    tail = f"127.0.0.1:{free_ports(1)[0]}"
    broker = CamundaBroker(f"http://{tail}")
    try:
        broker.start()
        place = f"127.0.0.1:{broker.port},{tail}"
        command = [sys.executable, "-m", "tests.conformance.engine_verdicts", "camunda", place, output, *part]
        subprocess.run(command, cwd=ROOT, check=True)
    finally:
        broker.remove()


if __name__ == "__main__":
    play(*sys.argv[1:])
