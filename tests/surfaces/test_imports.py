"""What a command loads: what most commands do not need is not waited for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.surfaces.cli.command_table import COMMANDS
from tests.acceptance.commands import Shell
from tests.acceptance.parcels import make_parcels

HEAVY = (
    "perdure.bpmn.lint", "perdure.bpmn.proof", "perdure.bpmn.layout", "perdure.bpmn.svg", "perdure.testing",
    "perdure.app.processes.lint", "perdure.app.processes.proof", "psycopg", "cryptography",
)  # fmt: skip
RUNNING = (
    "perdure.app.perdure",
    "perdure.app.runtime",
    "perdure.bpmn",
    "perdure.engines",
    "perdure.verbs.loader",
    "perdure.verbs.handler_registry",
    "perdure.work.verb_router",
    "perdure.runbooks.executor.call_executor",
    "perdure.packs",
    "httpx",
    "jsonschema_rs",
    "perdure.surfaces.http",
    "perdure.telemetry.logs",
)
"""The parts that run something, which a list of waiting calls does without."""
TELLING = """
import json, sys
from perdure.surfaces.cli import main
try:
    main()
except SystemExit as error:
    code = error.code
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded(folder: Path, *words: str, **variables: str) -> set[str]:
    """The modules a command has loaded when it ends well."""
    environment = {**Shell(folder).environment, "PYTHONPATH": str(folder), **variables}
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
    own = {"perdure", "perdure.lazy_exports", "perdure.surfaces", "perdure.surfaces.cli"}
    tables = {
        f"perdure.surfaces.cli.{each}" for each in ("command_table", "exit_codes", "global_option_table", "root_help")
    }
    assert set(below(names, "perdure")) == own | tables
    assert below(names, "typer", "rich", "asyncio", "msgspec", "yaml") == []


@pytest.mark.req("P6")
def test_completing_the_name_of_a_command_loads_no_command(tmp_path: Path) -> None:
    asked = {"_PERDURE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "perdure par"}
    names = loaded(tmp_path, **asked)
    modules = {f"perdure.surfaces.cli.{each.module}" for each in COMMANDS}
    assert names.isdisjoint(modules)
    assert "perdure.surfaces.cli.commands.runbooks" in loaded(
        tmp_path, **{**asked, "_TYPER_COMPLETE_ARGS": "perdure runbook "}
    )


@pytest.mark.req("P6")
def test_waiting_calls_are_listed_without_the_parts_that_run_them(tmp_path: Path) -> None:
    Shell(tmp_path).run("init", "mine")
    shell = Shell(tmp_path / "mine")
    assert below(loaded(shell.folder, "parked"), *HEAVY, *RUNNING, "rich", "perdure.client") == []
    shell.run("call", '(kyc.request-document :case "C-7" :document "passport")')
    assert below(loaded(shell.folder, "parked"), *HEAVY, *RUNNING, "perdure.client") == []


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
