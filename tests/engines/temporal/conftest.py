"""A real Temporal server for the session, and processes of ours that use it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from perdure.testing.service_availability import ServiceUnavailable
from perdure.testing.temporal_server import TemporalServer, real_server
from tests.conftest import unavailable
from tests.house.tree import ROOT


class OurProcess:
    """A child that carries instances; what it answers is what counts."""

    program = "tests.engines.temporal.carried_process"

    def __init__(self, store: str, engine: str, folder: Path) -> None:
        command = [sys.executable, "-X", "faulthandler", "-m", self.program, store, engine, str(folder)]
        self._log = folder / f"{uuid4().hex}.log"
        with self._log.open("w") as log:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT
            )
        self.first = self._read()

    def _read(self) -> Any:
        assert self._child.stdout is not None
        if text := self._child.stdout.readline():
            return json.loads(text)
        raise AssertionError(
            f"the process ended without an answer ({self._child.wait()}):\n{self._log.read_text()[-8_000:]}"
        )

    def send(self, do: str, **args: Any) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps([do, args]) + "\n")
        self._child.stdin.flush()

    def ask(self, do: str, **args: Any) -> Any:
        self.send(do, **args)
        return self._read()

    def pause(self) -> None:
        """SIGSTOP: it does nothing more and does not know it."""
        self._child.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        self._child.kill()
        self._close()

    def _close(self) -> None:
        self._child.wait()
        assert self._child.stdin is not None and self._child.stdout is not None
        with suppress(BrokenPipeError):
            self._child.stdin.close()
        self._child.stdout.close()

    def end(self) -> None:
        if self._child.poll() is None:
            assert self._child.stdin is not None
            self._child.stdin.close()
            try:
                self._child.wait(30)
            except subprocess.TimeoutExpired:
                self._child.kill()
            self._close()


Opened = Callable[..., OurProcess]


@pytest.fixture
def server() -> Iterator[TemporalServer]:
    """A real server with a file of its own: a test may kill it."""
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
def opened(server: TemporalServer, tmp_path: Path) -> Iterator[Opened]:
    """Opens processes of ours on one store."""
    children: list[OurProcess] = []

    def open_process(engine: str = "", store: str = "") -> OurProcess:
        children.append(OurProcess(store or f"sqlite:///{tmp_path / 'p.db'}", engine or server.url, tmp_path))
        return children[-1]

    yield open_process
    for each in children:
        each.end()
