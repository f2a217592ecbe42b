"""Scaffolded projects with bodies that tests fill in, and processes that run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.scaffold import scaffold
from perdure.testing.service_availability import ServiceUnavailable
from perdure.testing.temporal_server import TemporalServer, real_server
from tests.conftest import unavailable
from tests.house.tree import ROOT
from tests.scaffold.example_bodies import BODIES

EXAMPLES = ROOT / "examples" / "contract"
_STUB = re.compile(r"    raise NotImplementedError\((?:\n.*?\n    \)|[^\n]*\))", re.DOTALL)


class FilledProject:
    """A scaffolded project whose bodies are written: each notes its idempotency key in a file."""

    def __init__(self, name: str, folder: Path, model: str | None = None) -> None:
        self.folder = folder
        source = EXAMPLES / f"{name}.bpmn"
        if model is not None:
            source = folder.parent / f"{name}.bpmn"
            source.write_text(model, "utf-8")
        scaffold("temporal", source, folder, EXAMPLES / "policies.yaml")
        self.package = next((folder / "src").iterdir()).name
        self.calls_file = folder / "calls.txt"
        self.calls_file.touch()
        self.fill(BODIES[name])

    def fill(self, bodies: dict[str, str]) -> None:
        for function, text in bodies.items():
            self.write_body(function, text)
        gates = self.folder / "src" / self.package / "gates.py"
        if gates.exists():
            said = '    if answer.decision not in ("approved", "declined", "good", "bad"):\n'
            said += '        raise ValueError("no such decision")'
            gates.write_text(_STUB.sub(lambda _: said, gates.read_text("utf-8")), "utf-8")

    def write_body(self, function: str, text: str) -> None:
        file = self.folder / "src" / self.package / "activities" / f"{function}.py"
        lines = [f'with open({str(self.calls_file)!r}, "a") as calls:', '    calls.write(step.idempotency_key + "\\n")']
        body = "\n".join("    " + line for line in [*lines, *text.splitlines()])
        written = file.read_text("utf-8")
        replaced = _STUB.sub(lambda _: body, written)
        assert replaced != written, f"{file} has no stub"
        file.write_text(replaced, "utf-8")

    def calls(self) -> list[str]:
        """The idempotency key of every run of a body, in order."""
        return self.calls_file.read_text("utf-8").splitlines()


class Running:
    """A worker and a driver of one project on one server."""

    def __init__(self, project: FilledProject, server: TemporalServer) -> None:
        self._project = project
        self._address = server.target
        self._worker: subprocess.Popen[bytes] | None = None
        command = [sys.executable, "-m", "tests.scaffold.instance_driver"]
        self._driver = subprocess.Popen(
            [*command, str(project.folder), project.package, self._address], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip

    def start_worker(self) -> None:
        environment = {**os.environ, "TEMPORAL_ADDRESS": self._address}
        self._worker = subprocess.Popen(
            [sys.executable, "-m", f"{self._project.package}.worker"], cwd=self._project.folder / "src", env=environment
        )

    def kill_worker(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.wait()
            self._worker = None

    def send(self, do: str, **arguments: Any) -> None:
        assert self._driver.stdin is not None
        self._driver.stdin.write(json.dumps([do, arguments]) + "\n")
        self._driver.stdin.flush()

    def read(self) -> Any:
        assert self._driver.stdout is not None
        while line := self._driver.stdout.readline():
            if line.startswith("@"):
                return json.loads(line[1:])
        raise AssertionError("the driver ended without an answer")

    def ask(self, do: str, **arguments: Any) -> Any:
        self.send(do, **arguments)
        return self.read()

    def end(self) -> None:
        self.kill_worker()
        self._driver.kill()
        self._driver.wait()
        assert self._driver.stdin is not None and self._driver.stdout is not None
        self._driver.stdin.close()
        self._driver.stdout.close()


Runs = Callable[..., Running]


@pytest.fixture(scope="module")
def server() -> Iterator[TemporalServer]:
    """A real server for the tests of a module."""
    try:
        made = real_server()
    except ServiceUnavailable as error:
        unavailable(str(error))
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture
def runs(server: TemporalServer) -> Iterator[Runs]:
    """Runs a project on the server: a worker of its own, and a driver."""
    open_ones: list[Running] = []

    def run(project: FilledProject, *, worker: bool = True) -> Running:
        made = Running(project, server)
        open_ones.append(made)
        if worker:
            made.start_worker()
        return made

    yield run
    for each in open_ones:
        each.end()
