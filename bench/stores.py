"""Fresh stores for the runs: an SQLite file each, and one Postgres server with a database each."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg


class SqliteFiles:
    """Every run gets its own file in a folder that is removed at the end."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="perdure-bench-"))
        self._numbers = itertools.count()

    def create(self) -> str:
        """The url of a file that does not exist yet."""
        return f"sqlite:///{self.folder}/run-{next(self._numbers)}.db"

    def drop(self, url: str) -> None:
        """Give the disk space back."""
        for suffix in ("", "-wal", "-shm"):
            Path(url.removeprefix("sqlite:///") + suffix).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder with everything in it."""
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgresServer:
    """A private server on loopback with fsync and synchronous_commit on, run as an unprivileged user."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="perdure-bench-pg-"))
        self.port = _free_port()
        self._bin = _postgres_bin()
        self._numbers = itertools.count()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Create the cluster once, start the server, wait until it answers."""
        data = self.folder / "data"
        if not data.exists():
            if os.geteuid() == 0:
                shutil.chown(self.folder, "postgres")
            self._run("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
        options = ["-c", f"port={self.port}", "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]
        options += ["-c", f"unix_socket_directories={self.folder}", "-c", "fsync=on", "-c", "synchronous_commit=on"]
        options += ["-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*_as_postgres(), str(self._bin / "postgres"), "-D", str(data), *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        self._wait_until_ready()

    def create(self) -> str:
        """The url of a new, empty database."""
        name = f"run_{next(self._numbers)}"
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._url(name)

    def drop(self, url: str) -> None:
        """Give the disk space back."""
        name = url.rsplit("/", 1)[1]
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())

    def kill(self) -> None:
        """SIGKILL the postmaster: what it had not made durable is gone."""
        os.kill(self._postmaster(), signal.SIGKILL)
        if self._process is not None:
            self._process.wait(30)

    def close(self) -> None:
        """Stop the server and remove its folder."""
        if self._process is not None and self._process.poll() is None:
            os.kill(self._postmaster(), signal.SIGINT)
            self._process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _postmaster(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0])

    def _url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [*_as_postgres(), str(self._bin / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self._url("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > deadline or self._process is None:
                    raise
                if self._process.poll() is not None:
                    # Backends of a killed postmaster hold its shared memory for a moment.
                    time.sleep(0.2)
                    self.start()
                    return
                time.sleep(0.05)


def _as_postgres() -> list[str]:
    return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


def _postgres_bin() -> Path:
    found = shutil.which("postgres")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders:
        raise SystemExit("Expected to start Postgres, but no server is installed. Install Debian's 'postgresql'.")
    return folders[-1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
