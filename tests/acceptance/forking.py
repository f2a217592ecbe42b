"""Commands forked from one prepared interpreter: each is a process of its own, and the libraries are loaded once."""

from __future__ import annotations

import atexit
import functools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

SCRIPT = Path(__file__).with_name("forked.py")
AT_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ")
"""How the variables begin that are read when an interpreter starts, and never again."""
MAX_INPUT = 1 << 15
"""A pipe takes so much before anybody reads."""
CHUNK = 1 << 16


def run_command(
    words: list[str], folder: Path, environment: Mapping[str, str], text: str, seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end: forked, or from its file where that would not be the same."""
    if is_alike(environment) and len(text) < MAX_INPUT:
        nursery = _nursery()
        if nursery.lock.acquire(blocking=False):
            try:
                return nursery.run(words, folder, environment, text, seconds)
            finally:
                nursery.lock.release()
    return subprocess.run(
        words, cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False, timeout=seconds
    )


def is_alike(environment: Mapping[str, str]) -> bool:
    """Whether an interpreter would start with this environment as it has started with ours."""
    return _read_at_the_start(environment) == _read_at_the_start(os.environ)


def _read_at_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(AT_THE_START)}


@functools.cache
def _nursery() -> Nursery:
    made = Nursery()
    atexit.register(made.close)
    return made


class Nursery:
    """The prepared interpreter, seen from outside; it runs one command at a time, for whoever holds the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._channel, theirs = socket.socketpair()
        # Pipes, as its children have them: how the streams of an interpreter behave is settled when it starts.
        self._process = subprocess.Popen(
            [sys.executable, SCRIPT, str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        theirs.close()
        self._told = self._channel.makefile("rb")

    def close(self) -> None:
        self._told.close()
        self._channel.close()
        self._process.communicate()

    def run(
        self, words: list[str], folder: Path, environment: Mapping[str, str], text: str, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        (given, writing), (reading, out), (listening, error) = os.pipe(), os.pipe(), os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        order = {"words": words, "folder": str(folder), "environment": dict(environment)}
        socket.send_fds(self._channel, [json.dumps(order).encode() + b"\n"], [given, out, error])
        for file in (given, out, error):
            os.close(file)
        child = self._number()
        try:
            said = _read_all([reading, listening], seconds)
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            raise subprocess.TimeoutExpired(words, seconds) from None
        finally:
            code = self._number()
        return subprocess.CompletedProcess(words, code, said[reading], said[listening])

    def _number(self) -> int:
        line = self._told.readline()
        assert line, f"the process that forks commands is gone: {self._process.communicate()}"
        return int(line)


def _read_all(files: list[int], seconds: float) -> dict[int, str]:
    """What is written into each of the pipes until their end; closes them."""
    said = dict.fromkeys(files, b"")
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for file in files:
            selector.register(file, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(deadline - time.monotonic())
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                part = os.read(key.fd, CHUNK)
                said[key.fd] += part
                if not part:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return {file: whole.decode().replace("\r\n", "\n") for file, whole in said.items()}
