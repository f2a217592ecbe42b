"""Writes the blocking client from the one for asyncio, word by word: `python -m tests.client.generate`."""

from __future__ import annotations

import io
import subprocess
import sys
import tokenize
from pathlib import Path

from tests.house.tree import ROOT

CLIENT = ROOT / "src" / "perdure" / "client"
SOURCE, TARGET = CLIENT / "asynchronous", CLIENT / "blocking"
DROPPED = frozenset({"async", "await"})
WORDS = {
    "asynchronous": "blocking", "asyncio": "time", "AsyncIterator": "Iterator", "AsyncClient": "Client",
    "__aenter__": "__enter__", "__aexit__": "__exit__", "aclose": "close", "aread": "read", "aiter_bytes": "iter_bytes",
}  # fmt: skip
OPENING = {
    "__init__.py": '"""The client for programs that block: written from the one for asyncio by '
    '`python -m tests.client.generate`."""\n',
}  # fmt: skip
MARK = "# Written from {} by `python -m tests.client.generate`.\n"


def generated() -> dict[str, str]:
    """Every file of the blocking client as it should read."""
    return {path.name: _file(path) for path in sorted(SOURCE.glob("*.py"))}


def _file(path: Path) -> str:
    if path.name in OPENING:
        return OPENING[path.name]
    mark = MARK.format(f"asynchronous/{path.name}")
    return _tidied(mark + _blocking(path.read_text(encoding="utf-8")))


def _blocking(text: str) -> str:
    """The same text without `async` and `await`, and with the blocking names of things."""
    lines = text.splitlines(keepends=True)
    found = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.NAME]
    for token in reversed(found):
        (row, start), (_, end) = token.start, token.end
        line = lines[row - 1]
        if token.string in DROPPED:
            lines[row - 1] = line[:start] + line[end:].removeprefix(" ")
        elif token.string in WORDS:
            lines[row - 1] = line[:start] + WORDS[token.string] + line[end:]
    return "".join(lines).replace('"""`AsyncClient`:', '"""`Client`:')


def _tidied(text: str) -> str:
    for words in (["check", "--fix", "--unsafe-fixes", "--quiet", "--select", "I,UP028"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(TARGET / "file.py"), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    wanted = generated()
    for path in TARGET.glob("*.py"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (TARGET / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
