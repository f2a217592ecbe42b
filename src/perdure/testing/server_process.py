"""A server as a child process: ended by its id with SIGKILL, and when the process that started it is gone."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from perdure.testing.service_availability import ServiceUnavailable

START_SECONDS = 180
# Whoever started the server has the other end of the pipe: a word or its end, and the server is killed.
WATCH = '"$@" </dev/null & read _; kill -KILL $! 2>/dev/null; wait'


class ServerProcess:
    """One server; `server.log` in its folder keeps what it said."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._name = name
        self._log = folder / "server.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", WATCH, "perdure-server", *command],
                stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder, env=environment, start_new_session=True,
            )  # fmt: skip

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Return when the server is ready; raises ServiceUnavailable with its last words when it is not in time."""
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if is_ready():
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        self.kill()
        said = self._log.read_text("utf-8", "replace")[-800:]
        raise ServiceUnavailable(f"{self._name} did not start within {START_SECONDS} s: {said}")

    def kill(self) -> None:
        """SIGKILL: nothing is flushed."""
        self._process.communicate(b"end\n")


def free_ports(count: int) -> list[int]:
    """As many loopback ports that nobody listens at."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
