"""A fork server: one warm interpreter that runs each program it is asked for in a child of its own.

A child has everything imported that a process of its own would spend a second on, and nothing else of its elders: its
folder, environment and output are its own. A request is a line of JSON, its answer the child's exit code.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WARM = ("perdure", "perdure.testing", "perdure.testing.sandbox", "perdure.client", "perdure.surfaces.cli.application")


class Request(NamedTuple):
    """A program as `module:function`, its arguments, where it runs, and the file that takes each of its outputs.

    Without variables of its own it has those of the server.
    """

    program: str
    arguments: list[str]
    folder: str
    variables: dict[str, str] | None
    output: str
    errors: str


class Ended(NamedTuple):
    exit_code: int
    output: str


class ForkServer:
    """Asks a fork server over a pair of streams and waits for each answer."""

    def __init__(self, requests: IO[str], answers: IO[str]) -> None:
        self._requests, self._answers = requests, answers

    def run(
        self, program: str, arguments: list[str], folder: Path, variables: Mapping[str, str] | None = None
    ) -> Ended:
        """Run a program to its end, and return its exit code and all it printed, errors last."""
        with tempfile.TemporaryDirectory(prefix="perdure-fork-") as place:
            output, errors = Path(place, "output"), Path(place, "errors")
            named = None if variables is None else dict(variables)
            request = Request(program, arguments, str(folder), named, str(output), str(errors))
            self._requests.write(json.dumps(request) + "\n")
            self._requests.flush()
            answer = self._answers.readline()
            assert answer, "the fork server is gone"
            said = [path.read_text(encoding="utf-8", errors="replace") for path in (output, errors)]
            return Ended(json.loads(answer), "".join(said))


@contextlib.contextmanager
def fork_server(variables: Mapping[str, str]) -> Iterator[ForkServer]:
    """A fork server as a process of its own, gone with all its children at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fork_server"], cwd=ROOT, env=dict(variables), text=True, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        yield ForkServer(process.stdin, process.stdout)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def fork_again() -> ForkServer:
    """Leave a clean copy of this process behind as a fork server, and go on as its child that asks it.

    The copy ends with the exit code of this process.
    """
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        theirs.close()
        stream = ours.makefile("rw", encoding="utf-8")
        return ForkServer(stream, stream)
    ours.close()
    stream = theirs.makefile("rw", encoding="utf-8")
    serve(stream, stream)
    os._exit(_exit_code(child))


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Answer requests until there are no more; a child that was forked for one never returns."""
    for line in requests:
        request = Request(*json.loads(line))
        child = os.fork()
        if child == 0:
            _become(request)
        answers.write(f"{_exit_code(child)}\n")
        answers.flush()


def _exit_code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _become(request: Request) -> None:
    for number, path in enumerate((os.devnull, request.output, request.errors)):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, number)
        os.close(file)
    if request.variables is not None:
        os.environ.clear()
        os.environ.update(request.variables)
    os.chdir(request.folder)
    sys.path.insert(0, request.folder)
    sys.argv = [request.program, *request.arguments]
    status = 1
    try:
        _program(request.program)()
        status = 0
    except SystemExit as exit:
        status = _status(exit)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)


def _program(name: str) -> Callable[[], Any]:
    module, _, function = name.partition(":")
    program: Callable[[], Any] = getattr(importlib.import_module(module), function)
    return program


def _status(exit: SystemExit) -> int:
    if exit.code is None or isinstance(exit.code, int):
        return exit.code or 0
    print(exit.code, file=sys.stderr)
    return 1


def _warm() -> None:
    for name in WARM:
        importlib.import_module(name)
    commands = importlib.import_module("perdure.surfaces.cli")
    for module in pkgutil.iter_modules(commands.__path__, "perdure.surfaces.cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _warm()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers, os.fdopen(os.dup(0), encoding="utf-8") as requests:
        serve(requests, answers)
