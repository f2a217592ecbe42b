"""The import contracts: each is kept, and each reports an import that breaks it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house.tree import PACKAGE, ROOT

CONTRACT = "importlinter:contract:"
ALLOWED = {"msgspec"}
"""The packages beside the standard library that a machine may import."""


class Forbidden(NamedTuple):
    """An import that one contract forbids and no other."""

    file: str
    line: str


BREAKING = {
    "floors": Forbidden("payload/canonical_json.py", "import perdure.verbs.yaml_nodes"),
    "machines": Forbidden("runbooks/machine/decide.py", "import sqlite3"),
    "machine_packages": Forbidden("runbooks/machine/outcome_propagation.py", "import orjson"),
    "seam": Forbidden("app/tasks/tasks.py", "import perdure.engines.embedded.engine"),
}
"""By the id of the contract; a new contract comes with the import that breaks it."""

REPORTING = """
import contextlib, io, json, pathlib, sys
from importlinter.cli import lint_imports
def reported():
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        lint_imports(cache_dir=".cache")
    return told.getvalue()
answers = {"": reported()}
for name, (file, line) in json.loads(sys.argv[1]).items():
    path = pathlib.Path("perdure", file)
    text = path.read_text("utf-8")
    path.write_text(f"{text}\\n{line}\\n", "utf-8")
    answers[name] = reported()
    path.write_text(text, "utf-8")
json.dump(answers, sys.stderr)
"""


def contracts() -> dict[str, str]:
    """The names of all contracts, by their ids."""
    config = ConfigParser()
    config.read(ROOT / ".importlinter", encoding="utf-8")
    return {
        each.removeprefix(CONTRACT): config[each]["name"] for each in config.sections() if each.startswith(CONTRACT)
    }


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The contracts that are reported as broken, by the contract whose forbidden import was added to a copy."""
    folder = tmp_path_factory.mktemp("tree")
    shutil.copytree(PACKAGE, folder / "perdure", ignore=_all_but_modules)
    shutil.copy(ROOT / ".importlinter", folder)
    command = [sys.executable, "-c", REPORTING, json.dumps(BREAKING)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    reports = json.loads(done.stderr)
    names = contracts()
    for name, report in reports.items():
        assert all(re.search(rf"{re.escape(each)} (KEPT|BROKEN)", report) for each in names.values()), (name, report)
    return {key: {id for id, name in names.items() if f"{name} BROKEN" in report} for key, report in reports.items()}


def _all_but_modules(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".py") and not (Path(folder) / name / "__init__.py").exists()]


def test_every_contract_comes_with_an_import_that_breaks_it() -> None:
    assert set(contracts()) == set(BREAKING)


def test_all_contracts_are_kept(broken: dict[str, set[str]]) -> None:
    assert broken[""] == set()


@pytest.mark.parametrize("contract", BREAKING)
def test_a_forbidden_import_breaks_its_contract_and_no_other(contract: str, broken: dict[str, set[str]]) -> None:
    assert broken[contract] == {contract}


def test_machines_may_import_none_of_the_packages_that_the_project_needs() -> None:
    config = ConfigParser()
    config.read(ROOT / ".importlinter", encoding="utf-8")
    forbidden = set(config[f"{CONTRACT}machine_packages"]["forbidden_modules"].split())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    needed = {_normal(each) for each in [*project["dependencies"], *(each for extra in extras for each in extra)]}
    installed: dict[str, set[str]] = {}
    for module, distributions in packages_distributions().items():
        for each in distributions:
            installed.setdefault(_normal(each), set()).add(module)
    missing = {name for name in needed - ALLOWED if not installed.get(name, {name}) & forbidden}
    assert missing == set()


def _normal(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return re.sub(r"[-_.]+", "-", found[0]).lower()
