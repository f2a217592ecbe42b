"""A conversation on a pseudo-terminal: what somebody types, and what is answered until the next prompt."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import termios
from typing import Self

from perdure.demo.command_runner import COMMAND, SECONDS, BrokenPromise, Stage

PROMPT = re.compile(r"(?:^|\n)([\w-]+)> $")


class Talk:
    """`perdure repl` as a person at a plain terminal meets it."""

    def __init__(self, stage: Stage, *words: str) -> None:
        self._stage, self._words = stage, ("repl", *words)
        self._prompt = ""
        own, its = pty.openpty()
        settings = termios.tcgetattr(its)
        settings[3] &= ~termios.ECHO  # what is typed is shown by the story itself
        termios.tcsetattr(its, termios.TCSANOW, settings)
        environment = {**stage.environment(), "TERM": "dumb"}
        self._process = subprocess.Popen(
            [*COMMAND, *self._words], cwd=stage.folder, env=environment, stdin=its, stdout=its, stderr=its
        )
        os.close(its)
        self._own = own

    def __enter__(self) -> Self:
        self._stage.show_line(*self._words)
        self._answer()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._own)

    def say(self, line: str, *, last: int | None = None) -> str:
        """Type a line and show what is answered, or only its last lines; returns all of it."""
        self._stage.show_typed(self._prompt, line)
        os.write(self._own, f"{line}\n".encode())
        answer = self._answer()
        shown = answer.splitlines() if last is None else answer.splitlines()[-last:]
        self._stage.show_told("\n".join(shown))
        return answer

    def _answer(self) -> str:
        heard = b""
        while True:
            ready, _, _ = select.select([self._own], [], [], SECONDS)
            if not ready:
                raise BrokenPromise(f"the conversation fell silent after:\n{heard.decode(errors='replace')}")
            try:
                heard += os.read(self._own, 65536)
            except OSError as error:  # the other end is closed
                raise BrokenPromise(f"the conversation ended after:\n{heard.decode(errors='replace')}") from error
            text = heard.decode(errors="replace").replace("\r\n", "\n")
            if (prompt := PROMPT.search(text)) is not None:
                self._prompt = prompt[1]
                return text[: prompt.start()].strip("\n")
