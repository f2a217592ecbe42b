"""A real pseudo-terminal with a program in it: keys go in, and what a person would see comes out."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from perdure.sources import SystemSources

SECONDS = 60.0
COLUMNS, LINES = 80, 24
PROMPT = re.compile(r"(?:^|[\r\n])[\w-]+> ?$")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[=>()][0-9A-B]?")
CURSOR_ASKED, CURSOR_TOLD = b"\x1b[6n", b"\x1b[%d;1R" % LINES

# The terminal becomes the one that sends interrupts, as a login shell's is.
TAKING_CONTROL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """A program that believes it talks to a person."""

    def __init__(self, command: list[str], folder: Path, term: str = "xterm-256color", **environment: str) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PERDURE_", "COLUMNS"))}
        self._process = subprocess.Popen(
            [sys.executable, "-c", TAKING_CONTROL, *command], stdin=slave, stdout=slave, stderr=slave, cwd=folder,
            start_new_session=True,
            env={
                **kept, "TERM": term, "XDG_STATE_HOME": str(folder / "state"), "PERDURE_PRINCIPAL": "ana", **environment
            },
        )  # fmt: skip
        os.close(slave)
        self._clock = SystemSources()
        self.everything = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(SECONDS)
        os.close(self._master)

    def opened(self) -> str:
        """What is shown until the first prompt."""
        return self._read(lambda shown: PROMPT.search(shown) is not None, "the prompt")

    def tell(self, *lines: str) -> str:
        """Type lines, each when the prompt is there; what the last one led to, without escapes."""
        shown = ""
        for line in lines:
            os.write(self._master, line.encode() + b"\r")
            shown = self._until_prompt()
        return shown

    def keys(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def until(self, text: str) -> str:
        """What is shown until a text appears."""
        return self._read(lambda shown: text in shown, f"'{text}'")

    def press(self, keys: bytes) -> str:
        """Press keys that lead to another prompt."""
        os.write(self._master, keys)
        return self._until_prompt()

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def left(self, line: str = "quit") -> int:
        """Type the last line; the code the program ends with."""
        os.write(self._master, line.encode() + b"\r")
        self._read(lambda shown: False, "the end", is_last=True)
        return self._process.wait(SECONDS)

    def _until_prompt(self) -> str:
        """The prompt that follows the line just typed, not the one it was typed at."""
        return self._read(lambda shown: PROMPT.search(shown.partition("\n")[2]) is not None, "the prompt")

    def _read(self, is_enough: Callable[[str], bool], what: str, is_last: bool = False) -> str:
        raw = b""
        deadline = self._clock.now() + int(SECONDS * 1_000_000)
        while not is_enough(plain(raw)):
            left = (deadline - self._clock.now()) / 1_000_000
            ready, _, _ = select.select([self._master], [], [], max(left, 0))
            if not ready:
                raise AssertionError(f"{what} never came; shown so far:\n{self.everything}{plain(raw)}")
            try:
                data = os.read(self._master, 65536)
            except OSError:
                data = b""
            if not data:
                if is_last:
                    break
                raise AssertionError(f"it ended before {what} came:\n{self.everything}{plain(raw)}")
            if CURSOR_ASKED in data:
                os.write(self._master, CURSOR_TOLD)
            raw += data
        self.everything += plain(raw)
        return plain(raw)


def plain(raw: bytes) -> str:
    """Without colours and movements of the cursor, as lines."""
    text = ESCAPES.sub("", raw.decode(errors="replace"))
    return text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "")
