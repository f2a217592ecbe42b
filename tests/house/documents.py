"""Reads the documentation's code blocks and turns a page into one script that can be run.

Blocks run in order, in one namespace and one empty folder. A block whose fence says `file=PATH` is written there;
one that begins with `# not run` is skipped. Of a `console` block the lines `$ perdure …` and `$ cd …` are run; lines
below a command are its expected output, where `...` stands for anything; `# exits 3` expects that exit code.
"""

from __future__ import annotations

import functools
import os
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.fork_server import ForkServer, fork_again

FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```[ ]*$", re.MULTILINE | re.DOTALL)
EXITS = re.compile(r"\s#\s*exits\s+(\d+)\s*$")


class Block(NamedTuple):
    """One fenced block: its language, the file it is meant for, its text and first line on the page."""

    language: str
    file: str
    body: str
    line: int


class Command(NamedTuple):
    """One command of a console block, with the output that is promised, if any."""

    words: list[str]
    exit_code: int
    expected: str


def blocks(text: str) -> list[Block]:
    """The page's blocks that are to be run or written."""
    found = (_block(match, text) for match in FENCE.finditer(text))
    return [block for block in found if not block.body.startswith("# not run")]


def _block(match: re.Match[str], text: str) -> Block:
    language, _, rest = match["info"].strip().partition(" ")
    options = dict(word.partition("=")[::2] for word in shlex.split(rest))
    indent = len(match["indent"])
    body = "".join(line[indent:] or "\n" for line in match["body"].splitlines(keepends=True))
    return Block(language, options.get("file", ""), body, text.count("\n", 0, match.start("body")) + 1)


def commands(body: str) -> Iterator[Command]:
    """The commands of a console block."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        exits = EXITS.search(line)
        words = shlex.split(line, comments=True)
        yield Command(words, int(exits[1]) if exits else 0, expected.strip())


def to_script(text: str) -> str:
    """The page as one Python script whose line numbers are those of the page."""
    lines: list[str] = []
    for block in blocks(text):
        lines += [""] * (block.line - 1 - len(lines))
        if block.file:
            lines.append(f"_write({block.file!r}, {block.body!r})")
        elif block.language == "python":
            lines += block.body.splitlines()
        elif block.language == "console":
            lines += [f"_run({tuple(command)!r})" for command in commands(block.body)]
    return "\n".join(lines)


def matches(expected: str, output: str) -> bool:
    """Whether the output is what the page promises, `...` standing for anything."""
    parts = [re.escape(part) for part in _tidy(expected).split("...")]
    return re.fullmatch(r".*?".join(parts), _tidy(output), re.DOTALL) is not None


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def has_code(text: str) -> bool:
    """Whether there is anything on the page to run."""
    return any((block.language == "python" and not block.file) or any(commands(block.body)) for block in blocks(text))


def run(server: ForkServer, command: tuple[list[str], int, str]) -> None:
    """Run one documented command and hold the page to what it says."""
    words, exit_code, expected = command
    if words[:1] == ["cd"]:
        os.chdir(words[1])
        return
    if words[:1] != ["perdure"]:
        return
    done = server.run("perdure.surfaces.cli:main", words[1:], Path.cwd(), os.environ)
    assert done.exit_code == exit_code, f"{shlex.join(words)} exited {done.exit_code}:\n{done.output}"
    assert not expected or matches(expected, done.output), (
        f"{shlex.join(words)} printed\n{done.output}\ninstead of\n{expected}"
    )


def write(name: str, body: str) -> None:
    """Write one documented file into the page's folder."""
    path = Path(name)
    assert not path.is_absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body, encoding="utf-8")


def main() -> None:
    """Run the page whose script is named, its commands in processes of their own."""
    server = fork_again()
    runpy.run_path(sys.argv[1], {"_write": write, "_run": functools.partial(run, server)}, "__main__")
