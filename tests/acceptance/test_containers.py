"""The files for containers: a linter has nothing to say, and what they run does what they need, on a real Postgres."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.acceptance.commands import Shell

ROOT = Path(__file__).parents[2]
FILES = ROOT / "docs" / "operate" / "container"
LOOPBACK = {"0.0.0.0": "127.0.0.1"}
"""A test opens nothing to others."""


def composed() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FILES / "compose.yaml").read_text(encoding="utf-8"))
    return found


def test_a_linter_has_nothing_to_say_of_the_image() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, FILES / "Dockerfile"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_image_has_the_release_of_this_project_and_no_rights() -> None:
    text = (FILES / "Dockerfile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras, release) = re.findall(r"perdure\[([a-z,]+)\]==([0-9.]+)", text)[0]
    assert release == project["version"] and set(extras.split(",")) <= set(project["optional-dependencies"])
    assert text.index("USER 10001") < text.index("ENTRYPOINT")


def test_nothing_but_the_server_is_reached_and_only_from_the_machine_itself() -> None:
    ports = {name: each.get("ports", []) for name, each in composed()["services"].items()}
    assert ports == {"postgres": [], "server": ["127.0.0.1:8321:8321"], "worker": []}


@contextmanager
def running(shell: Shell, *words: str) -> Iterator[dict[str, Any]]:
    process = shell.start(*words, "--json")
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.mark.deep
def test_what_the_containers_run_serves_and_works_behind_keys(
    project: Shell, postgres_url: str, tmp_path: Path
) -> None:
    shutil.copy(FILES / "perdure.yaml", project.folder / "perdure.yaml")
    (project.folder / "secrets").mkdir()
    project.environment["PERDURE_STORE"] = postgres_url
    services = composed()["services"]
    server = [LOOPBACK.get(word, word) for word in services["server"]["command"]]
    with ExitStack() as both:
        made = project.run("keys", "create", "first", "--principal", "ana", "--kind", "person", "--role", "admin")
        url = both.enter_context(running(project, *server, "--port", "0"))["url"]
        both.enter_context(running(project, *services["worker"]["command"]))
        assert httpx.get(f"{url}/health").status_code == 200
        assert httpx.get(f"{url}/api/calls").status_code == 401
        headers = {"Authorization": f"Bearer {made.out.strip()}"}
        asked = {"args": {"name": "Ana Lund"}}
        called = httpx.post(f"{url}/api/verbs/kyc.check-name/calls", json=asked, headers=headers, timeout=30)
        assert called.json()["result"] == {"name": "Ana Lund", "listed": False}
    assert {each.name for each in (project.folder / "secrets").iterdir()} >= {"server"}
