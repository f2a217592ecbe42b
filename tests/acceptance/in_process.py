"""A command run inside the test's process: its own folder, environment, streams, modules and event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import importlib
import io
import logging
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
INSTALLED = (str(SOURCE), *{str(Path(folder).resolve()) for folder in (sys.prefix, sys.base_prefix)})
"""Folders of modules that a command may share with the test: the platform, its libraries, the standard library."""


def can_run_here() -> bool:
    """Whether the thread is free for an event loop, and is the thread that may change the folder of the process."""
    return threading.current_thread() is threading.main_thread() and asyncio._get_running_loop() is None


def run_here(
    words: list[str], folder: Path, environment: Mapping[str, str], text: str
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end and return its exit code and everything it printed."""
    out, error = _stream(b""), _stream(b"")
    with _standing(folder, environment), _speaking(_stream(text.encode()), out, error), _fresh_modules(), _quiet_logs():
        code = contextvars.copy_context().run(_exit_code, words[1:])
    return subprocess.CompletedProcess(words, code, _said(out), _said(error))


def _exit_code(words: list[str]) -> int:
    from perdure.surfaces.cli import output, run  # noqa: PLC0415  most who import this run no command

    output.console.cache_clear()
    try:
        return run(words)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        output.console.cache_clear()


def _stream(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", errors="replace", write_through=True)


def _said(stream: io.TextIOWrapper) -> str:
    stream.flush()
    whole: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return whole.decode().replace("\r\n", "\n")


@contextlib.contextmanager
def _standing(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """The folder and the environment of the command."""
    before, here = dict(os.environ), Path.cwd()
    _set_environment(environment)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        _set_environment(before)


def _set_environment(wanted: Mapping[str, str]) -> None:
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    os.environ.update(wanted)


@contextlib.contextmanager
def _speaking(given: io.TextIOWrapper, out: io.TextIOWrapper, error: io.TextIOWrapper) -> Iterator[None]:
    """The three streams, also under the names that a redirection leaves alone."""
    before = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr", "__stdout__")}
    sys.stdin, sys.stdout, sys.stderr = given, out, error
    sys.__stdout__ = out  # type: ignore[misc]
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(sys, name, value)


@contextlib.contextmanager
def _fresh_modules() -> Iterator[None]:
    """Modules of a project are imported for this command alone; those that tests imported are out of sight."""
    path, hidden = list(sys.path), {name: module for name, module in sys.modules.items() if _is_of_a_project(module)}
    known = set(sys.modules) - set(hidden)
    for name in hidden:
        del sys.modules[name]
    sys.path[:] = [str(Path(sys.executable).parent), *(place for place in path if _is_installed(place))]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        for name in [name for name, module in sys.modules.items() if name not in known and _is_of_a_project(module)]:
            del sys.modules[name]
        sys.modules.update(hidden)


def _is_of_a_project(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    return isinstance(file, str) and not file.startswith((*INSTALLED, str(ROOT / "tests")))


def _is_installed(place: str) -> bool:
    return bool(place) and str(Path(place).resolve()).startswith(INSTALLED)


@contextlib.contextmanager
def _quiet_logs() -> Iterator[None]:
    """Logging as it is when nobody has set it up: warnings go to standard error."""
    root, ours = logging.getLogger(), logging.getLogger("perdure")
    before, root_level, our_level = root.handlers[:], root.level, ours.level
    root.handlers[:] = []
    root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.handlers[:] = before
        root.setLevel(root_level)
        ours.setLevel(our_level)
