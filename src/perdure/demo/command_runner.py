"""Where the demonstration happens: runs real commands, shows what they print, holds them to what was promised."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from perdure.sources import SECOND, SystemSources

COMMAND = (sys.executable, "-m", "perdure.surfaces.cli")
WIDTH = 96
SECONDS = 60
REQUESTER = "ana"
LONGEST = 40
MARKS = {
    r"(?m)^ *✓": "bold green",
    r"(?m)^ *…": "bold yellow",
    r"(?m)^ *·": "dim",
    r"(?m)^.*\?( \[.*\])?$": "cyan",
    r"(?m)^  (Discovery|Case|Documents)$": "bold",
}


class BrokenPromise(Exception):
    """A step did not go as it should."""


class Stage:
    """One folder, one console, a calendar, and the processes that were started."""

    def __init__(self, folder: Path, is_recorded: bool = False) -> None:
        self.folder = folder
        self.day = 1
        self._console = Console(width=WIDTH, record=is_recorded, highlight=False)
        self._processes: list[subprocess.Popen[str]] = []
        self._steps = self._promises = self._commands = 0
        self._sources = SystemSources()
        self._began = self._sources.now()
        self.picture = ""

    def open(self, title: str, text: str) -> None:
        """The title page."""
        self._console.print(Panel(Text(text), title=Text(title, style="bold"), title_align="left", border_style="blue"))

    def end(self, text: str) -> None:
        """The last page: what it came to."""
        seconds = (self._sources.now() - self._began) // SECOND
        counts = f"{self._steps} chapters, {self.day} days, {self._commands} commands, {self._promises} promises kept"
        told = Text.assemble((text, "bold green"), (f"\n{counts}, in {seconds} seconds", "dim"))
        self._console.print()
        self._console.print(Panel(told, border_style="green"))

    def step(self, title: str) -> None:
        """Begin the next part of the story."""
        self._steps += 1
        self._console.print()
        heading = Text.assemble((f"{self._steps}  {title}", "bold"), (f"  ·  day {self.day}", "dim"))
        self._console.print(Rule(heading, align="left", style="blue"))

    def say(self, text: str, style: str = "dim") -> None:
        self._console.print(Text(text, style=style))

    def promise(self, holds: bool, text: str) -> None:
        """What must be so; the story ends where it is not."""
        if not holds:
            raise BrokenPromise(f"not as promised: {text}")
        self._promises += 1
        self._console.print(Text.assemble(("✓ ", "bold green"), text))

    def pass_days(self, count: int, text: str) -> None:
        """The clock of every command from here on is ahead by that much more."""
        self.day += count
        self._console.print(Text.assemble(("⏩ ", "yellow"), (f"{count} days pass", "bold yellow"), f": {text}"))

    def run(
        self, *words: str, exit_code: int = 0, by: str = REQUESTER, groups: str = "", is_quiet: bool = False
    ) -> str:
        """Run a command as somebody, show the line and, unless it is to be quiet, what it prints."""
        done = self._done(words, self.environment(by, groups))
        self.show_line(*words, by=by)
        if not is_quiet:
            self.show(done.stdout + done.stderr)
        self._expect(words, done, exit_code)
        return done.stdout

    def ask(self, *words: str, by: str = REQUESTER) -> Any:
        """Run a command for its JSON, showing nothing."""
        done = self._done((*words, "--json"), self.environment(by))
        self._expect(words, done, 0)
        return json.loads(done.stdout)

    def show(self, text: str) -> None:
        """What a command printed."""
        self._console.print(Padding(Text.from_ansi(text.rstrip()), (0, 0, 0, 2)))

    def show_told(self, text: str) -> None:
        """What was said in a conversation, its marks in colour."""
        told = Text(text.rstrip())
        for pattern, style in MARKS.items():
            told.highlight_regex(pattern, style)
        self._console.print(Padding(told, (0, 0, 0, 2)))

    def show_typed(self, prompt: str, line: str) -> None:
        """A line as somebody typed it in a conversation."""
        self._console.print(Text.assemble(("  ", ""), (f"{prompt}> ", "bold cyan"), (line, "bold")))

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command that goes on."""
        self._commands += 1
        process = subprocess.Popen(
            [*COMMAND, *words], cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self._processes.append(process)
        self.show_line(*words, "&")
        return process

    def close(self) -> None:
        """Leave no process behind."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def begin_picture(self) -> None:
        """What is shown from here on belongs to the picture."""
        if self._console.record:
            self._console.export_text(clear=True)

    def end_picture(self) -> None:
        """What was shown since it began becomes the picture, with no font fetched from anywhere."""
        if self._console.record:
            drawn = self._console.export_svg(title="make demo")
            self.picture = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)

    def environment(self, by: str = REQUESTER, groups: str = "") -> dict[str, str]:
        """What a command of somebody on this day runs with."""
        colour = (
            {"FORCE_COLOR": "1", "TTY_INTERACTIVE": "0"} if self._console.is_terminal or self._console.record else {}
        )
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PERDURE_")}
        # Where compiled files are not kept beside their sources, every command would compile everything again.
        if kept.pop("PYTHONDONTWRITEBYTECODE", ""):
            kept["PYTHONPYCACHEPREFIX"] = str(self.folder / ".compiled")
        asked = {"PERDURE_PRINCIPAL": by, "PERDURE_GROUPS": groups}
        ahead = {"PERDURE_CLOCK_AHEAD": f"P{self.day - 1}D"} if self.day > 1 else {}
        return {**kept, **colour, "COLUMNS": str(WIDTH - 4), **asked, **ahead}

    def _done(self, words: tuple[str, ...], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        self._commands += 1
        return subprocess.run(
            [*COMMAND, *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
            timeout=SECONDS,
        )  # fmt: skip

    def show_line(self, *words: str, by: str = REQUESTER) -> None:
        """A command as somebody typed it."""
        line = " ".join(word if word == "&" else _short(shlex.quote(word)) for word in words)
        who = "" if by == REQUESTER else f"{by} "
        self._console.print(Text.assemble((f"{who}$ ", "bold blue"), ("perdure ", "bold"), line), soft_wrap=True)

    def _expect(self, words: tuple[str, ...], done: subprocess.CompletedProcess[str], exit_code: int) -> None:
        if done.returncode != exit_code:
            told = (done.stdout + done.stderr).strip()
            raise BrokenPromise(f"perdure {shlex.join(words)} exited {done.returncode}, not {exit_code}:\n{told}")


def _short(word: str) -> str:
    """So that a line of the story stays a line."""
    return word if len(word) <= LONGEST else f"{word[: LONGEST - 2]}…{word[-1]}"
