"""A Postgres cluster of our own in a temporary folder, run by an unprivileged user where we are root."""

from __future__ import annotations

import contextlib
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Literal

from perdure.testing.postgres_binaries import Installation
from perdure.testing.service_availability import ServiceUnavailable

RestartMode = Literal["fast", "immediate"]

START_SECONDS = 60
STOP_SECONDS = 60
START_ATTEMPTS = 5
READY = "database system is ready to accept connections"
STOP_SIGNALS: dict[RestartMode, signal.Signals] = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}

SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
fsync = on
synchronous_commit = on
full_page_writes = on
max_connections = 200
shared_buffers = '64MB'
timezone = 'UTC'
log_timezone = 'UTC'
"""

ACCESS = "host all all 127.0.0.1/32 trust\n"

# Ends the server when whoever started it is gone, however it went: that closes the other end of the pipe.
WATCH = 'read _; kill -QUIT "$(head -n 1 "$0/data/postmaster.pid")" 2>/dev/null; rm -rf "$0"'


class PostgresServer:
    """One cluster on one loopback port, kept over restarts and kills until `remove()`.

    It lies in a folder of its own at `place`, else where the system keeps what is temporary.
    """

    def __init__(self, installation: Installation, place: Path | None = None) -> None:
        self._identity = _unprivileged_identity()
        self._folder = Path(tempfile.mkdtemp(prefix="perdure-postgres-", dir=place))
        self._data = self._folder / "data"
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        try:
            self._own(self._folder)
            self._programs = self._reachable(installation).programs
            self._initialise()
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._watch = self._start_watch()

    @property
    def url(self) -> str:
        return f"postgresql://perdure@127.0.0.1:{self._port}/postgres"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self.is_running() else None

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start and wait until connections are accepted; a port taken meanwhile is replaced the first time."""
        is_first = self._port == 0
        log = ""
        for _ in range(START_ATTEMPTS):
            if is_first:
                self._choose_port()
            log = self._launch()
            if self.is_running():
                return
        raise ServiceUnavailable(f"Postgres did not start: {log[-2000:]}")

    def stop(self, mode: RestartMode = "fast") -> None:
        if self._process is None or not self.is_running():
            return
        self._process.send_signal(STOP_SIGNALS[mode])
        self._process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """SIGKILL the postmaster and all its children, and wait until they are gone."""
        if self._process is None or not self.is_running():
            return
        # Stopped first, so that it can neither start children nor replace the ones being killed.
        self._process.send_signal(signal.SIGSTOP)
        for child in _children(self._process.pid):
            _kill_and_wait(child)
        self._process.kill()
        self._process.wait(STOP_SECONDS)

    def remove(self) -> None:
        self.stop("immediate")
        self._watch.kill()
        self._watch.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _initialise(self) -> None:
        options = ["-U", "perdure", "-E", "UTF8", "--no-locale", "--auth=trust", "--no-sync"]
        self._run([str(self._programs / "initdb"), "-D", str(self._data), *options])
        (self._data / "pg_hba.conf").write_text(ACCESS)

    def _choose_port(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(SETTINGS.replace("{port}", str(self._port)))

    def _launch(self) -> str:
        """Start the server once and return what it said until it was ready or gave up."""
        self._process = subprocess.Popen(
            [str(self._programs / "postgres"), "-D", str(self._data)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            **self._surroundings(),
        )
        assert self._process.stderr is not None
        log = _Log(self._process.stderr)
        if not log.settled.wait(START_SECONDS) or not log.is_ready:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
        return "".join(log.lines)

    def _run(self, command: Sequence[str]) -> None:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
            **self._surroundings(),
        )
        if done.returncode != 0:
            raise ServiceUnavailable(f"{Path(command[0]).name} ended with {done.returncode}: {done.stdout.strip()}")

    def _surroundings(self) -> dict[str, Any]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
        return {
            "cwd": self._folder,
            "env": {**kept, "LC_ALL": "C"},
            "start_new_session": True,
            **self._switches(),
        }

    def _switches(self) -> dict[str, Any]:
        if self._identity is None:
            return {}
        return {"user": self._identity.pw_uid, "group": self._identity.pw_gid, "extra_groups": []}

    def _own(self, path: Path) -> None:
        if self._identity is not None:
            for place in (path, *path.rglob("*")):
                os.chown(place, self._identity.pw_uid, self._identity.pw_gid, follow_symlinks=False)

    def _reachable(self, installation: Installation) -> Installation:
        """The installation where the server's user may enter it, else a copy beside the data."""
        try:
            self._run([str(installation.programs / "postgres"), "--version"])
            return installation
        except (PermissionError, ServiceUnavailable):
            if not installation.parts:
                raise
        copy = installation.copy_to(self._folder / "install")
        self._own(self._folder / "install")
        return copy

    def _start_watch(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["sh", "-c", WATCH, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self._surroundings(),
        )


class _Log:
    """The server's messages, read until it ends; `settled` is set when it is ready or has ended."""

    def __init__(self, stream: IO[str]) -> None:
        self.lines: list[str] = []
        self.settled = threading.Event()
        self.is_ready = False
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                # Only the way to readiness is kept: a long session's log would grow without bound.
                if not self.is_ready:
                    self.lines.append(line)
                if READY in line:
                    self.is_ready = True
                    self.settled.set()
        self.settled.set()


def _unprivileged_identity() -> pwd.struct_passwd | None:
    """Who runs the server: somebody else when we are root, because Postgres refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise ServiceUnavailable("Postgres refuses to run as root, and this machine has neither 'postgres' nor 'nobody'")


def _children(pid: int) -> list[int]:
    pairs = _parents_from_proc() if Path("/proc/self/stat").exists() else _parents_from_ps()
    return [child for child, parent in pairs if parent == pid]


def _parents_from_proc() -> list[tuple[int, int]]:
    pairs = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            # The name in parentheses may hold spaces; what follows it does not.
            fields = status.read_text().rpartition(")")[2].split()
            pairs.append((int(status.parent.name), int(fields[1])))
    return pairs


def _parents_from_ps() -> list[tuple[int, int]]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return [(int(child), int(parent)) for child, parent in map(str.split, listed.splitlines())]


def _kill_and_wait(pid: int) -> None:
    """Kill one process and wait for its end where the system can tell (elsewhere the next start tries again)."""
    try:
        watched = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    if watched is not None:
        select.select([watched], [], [], STOP_SECONDS)
        os.close(watched)
