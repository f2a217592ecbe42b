"""What a command loads: what most commands do not need is not waited for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.acceptance.parcels import make_parcels

HEAVY = (
    "perdure.bpmn.lint", "perdure.bpmn.proof", "perdure.bpmn.layout", "perdure.bpmn.drawing", "perdure.testing",
    "perdure.app.linting", "perdure.app.proving", "psycopg", "cryptography",
)  # fmt: skip
TELLING = """
import json, sys
from perdure.surfaces.cli.application import run
try:
    code = run(sys.argv[1:])
except SystemExit as error:
    code = error.code
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded(folder: Path, *words: str) -> set[str]:
    """The modules a command has loaded when it ends well."""
    environment = {**Shell(folder).environment, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", TELLING, *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    assert code in (0, None), done.stdout
    return set(names)


def below(names: set[str], *packages: str) -> list[str]:
    return sorted(name for name in names if any(name == each or name.startswith(f"{each}.") for each in packages))


@pytest.mark.req("P6")
def test_help_loads_nothing_of_the_platform(tmp_path: Path) -> None:
    names = loaded(tmp_path, "--help")
    assert below(names, "perdure.app", "perdure.verbs", "perdure.store", "perdure.bpmn", "perdure.engines") == []


@pytest.mark.req("P6")
def test_a_call_loads_neither_rules_nor_proof_nor_pictures_of_models(tmp_path: Path) -> None:
    desk = make_parcels(tmp_path)
    (desk.folder / "mended").touch()
    call = ("call", "desk.send", "number=1", "--json")
    assert below(loaded(desk.folder, *call), "perdure.bpmn.lint")  # its model is judged, once
    assert below(loaded(desk.folder, *call), *HEAVY) == []
    assert below(loaded(desk.folder, "verbs", "list"), *HEAVY, "perdure.bpmn") == []


@pytest.mark.req("P6")
def test_a_list_of_instances_reads_no_model(tmp_path: Path) -> None:
    desk = make_parcels(tmp_path)
    desk.run("deploy", "first.bpmn")
    assert below(loaded(desk.folder, "instances", "list", "--json"), *HEAVY, "perdure.bpmn.xml") == []
