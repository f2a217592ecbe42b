"""Starting child processes and reading their samples."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from bench.load import Load, Sample
from bench.stores import FreshStores

PROJECT = Path(__file__).resolve().parent.parent


class ChildFailed(Exception):
    """A child ended without a sample, or not in time; the text says what it last wrote."""


def start(load: Load) -> subprocess.Popen[str]:
    """A fresh interpreter for one load; it is told when it was started."""
    load = msgspec.structs.replace(load, started_at=time.monotonic())
    command = [sys.executable, "-m", "bench.child", msgspec.json.encode(load).decode()]
    # A file and not a pipe: a chatty child must not block, and its last words are kept.
    errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment())
    child.stderr = errors
    return child


def environment() -> dict[str, str]:
    """The children work in a folder of their own, where keys and files may fall, and find this package all the same."""
    paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def read_sample(child: subprocess.Popen[str], seconds: float) -> Sample:
    """The first line of stdout that is a JSON object; the child may go on working after it."""
    assert child.stdout is not None
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            line = child.stdout.readline()
            if not line:
                raise ChildFailed(f"the child ended with {child.wait(30)}: {_last_words(child)}")
            if line.startswith("{"):
                sample: dict[str, Any] = msgspec.json.decode(line)
                return sample
    child.kill()
    raise ChildFailed(f"no sample within {seconds:.0f} seconds: {_last_words(child)}")


def run(load: Load, seconds: float) -> Sample:
    """One load from start to end."""
    child = start(load)
    try:
        sample = read_sample(child, seconds)
        child.wait(60)
        return sample
    finally:
        close(child)


def run_and_kill(load: Load, stores: FreshStores, seconds: float, grace_seconds: float = 0.3) -> Sample:
    """One load that goes on after its sample until the database is killed under it."""
    child = start(msgspec.structs.replace(load, until_killed=True))
    try:
        sample = read_sample(child, seconds)
        time.sleep(grace_seconds)
        stores.kill(child)
        return sample
    finally:
        close(child)


def close(child: subprocess.Popen[str]) -> None:
    if child.poll() is None:
        child.kill()
        child.wait(30)
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _last_words(child: subprocess.Popen[str]) -> str:
    if child.stderr is None:
        return ""
    child.stderr.seek(0)
    return child.stderr.read()[-2000:]
