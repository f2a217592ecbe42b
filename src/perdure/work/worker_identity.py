"""The identity of a worker process, and whether another one on this machine is certainly gone."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import NamedTuple


class ProcessIdentity(NamedTuple):
    """`host` changes with every boot; `process` is a pid with its start, so that a reused pid is told apart."""

    host: str
    process: str


def this_process() -> ProcessIdentity:
    return ProcessIdentity(_host(), f"{os.getpid()}/{_started(os.getpid())}")


def is_gone(host: str, process: str, mine: ProcessIdentity) -> bool:
    """True only when the process is certainly dead: same machine, same boot, and no such process."""
    if host != mine.host or process == mine.process or not host:
        return False
    pid, _, started = process.partition("/")
    if not pid.isdigit() or not started:
        return False
    return _started(int(pid)) != started


def is_there(host: str, process: str, mine: ProcessIdentity) -> bool:
    """True only when the process certainly runs: same machine, same boot, and just that process."""
    pid, _, started = process.partition("/")
    return bool(host) and host == mine.host and pid.isdigit() and bool(started) and _started(int(pid)) == started


def _host() -> str:
    boot = _read("/proc/sys/kernel/random/boot_id")
    namespace = _link("/proc/self/ns/pid")
    return f"{socket.gethostname()}/{boot}/{namespace}" if boot and namespace else ""


def _started(pid: int) -> str:
    stat = _read(f"/proc/{pid}/stat")
    if not stat:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
