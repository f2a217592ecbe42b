"""The package as people get it: built, installed into empty environments of every Python there is, and used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = ROOT / "build" / "uv" / "bin" / "uv"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
TYPED = """
from perdure import CallView, Perdure


async def asked(perdure: Perdure) -> CallView:
    return await perdure.call("kyc.request-document", {"case": "C-7"})


async def wrong(perdure: Perdure) -> int:
    return await perdure.call("kyc.request-document", {"case": "C-7"})
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(UV, "build", "--wheel", "--quiet", "--out-dir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


def run(*command: str | Path, folder: Path = ROOT) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PERDURE", "PYTHON", "VIRTUAL"))}
    done = subprocess.run(
        [str(each) for each in command], cwd=folder, env=clean, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def interpreter(version: str) -> Path | None:
    """A Python of a version: the one that runs this, one on the path, or one that pyenv keeps."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sys.executable)
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    found = shutil.which(f"python{version}")
    for each in [*kept, *([Path(found)] if found else [])]:
        if subprocess.run([each, "--version"], capture_output=True, check=False).returncode == 0:
            return each
    return None


def environment(folder: Path, python: Path, *packages: str | Path) -> Path:
    """An environment with packages in it, and nothing else."""
    run(UV, "venv", "--quiet", "--python", python, folder)
    run(UV, "pip", "install", "--quiet", "--python", folder / "bin" / "python", *packages)
    return folder / "bin"


def readme_block(language: str) -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^```{language}[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.deep
@pytest.mark.parametrize("version", VERSIONS)
def test_the_first_page_runs_in_an_empty_environment(version: str, wheel: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        assert version != "3.11", "the oldest Python is tried everywhere"
        pytest.skip(f"this machine has no Python {version}")
    bin = environment(tmp_path / "env", python, wheel)
    first = tmp_path / "first"
    first.mkdir()
    (first / "clients.py").write_text(readme_block("python"), encoding="utf-8")
    run(bin / "python", "clients.py", folder=first)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert declared in run(bin / "perdure", "--version", folder=first)
    assert "kyc.request-document" in run(
        bin / "perdure", "verbs", "list", "--store", "sqlite:///clients.db", "--definitions", "clients.py", folder=first
    )


@pytest.mark.deep
def test_a_checker_of_types_sees_the_types_of_the_package(wheel: Path, tmp_path: Path) -> None:
    bin = environment(tmp_path / "env", Path(sys.executable), wheel)
    (tmp_path / "asked.py").write_text(TYPED, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", bin / "python", "asked.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    found = [line for line in checked.stdout.splitlines() if "error:" in line]
    assert len(found) == 1 and found[0].startswith("asked.py:10:") and 'expected "int"' in found[0], checked.stdout


@pytest.mark.deep
def test_the_package_says_what_it_is_on_a_page_of_its_own(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        (name,) = [each for each in packed.namelist() if each.endswith(".dist-info/METADATA")]
        told = Parser().parsestr(packed.read(name).decode())
        assert "perdure/py.typed" in packed.namelist()
        assert "perdure/surfaces/http/static/index.html" in packed.namelist()
    assert "Typing :: Typed" in told.get_all("Classifier", [])
    page = str(told.get_payload())
    assert "pip install perdure" in page
    relative = [each for each in re.findall(r"\]\(([^)]*)\)", page) if not each.startswith(("http:", "https:"))]
    assert relative == [], "no file stands beside the page of a package"


def test_extras_that_the_documentation_names_exist() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set[str]()
    for folder, ending in ((ROOT / "docs", "*.md"), (ROOT / "src", "*.py"), (ROOT, "README.md")):
        for path in folder.rglob(ending) if folder != ROOT else [folder / ending]:
            for each in re.findall(r"perdure\[([a-z0-9,]+)\]", path.read_text(encoding="utf-8")):
                named.update(each.split(","))
    assert named and named <= set(declared["optional-dependencies"])
