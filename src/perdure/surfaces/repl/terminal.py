"""The terminal: lines with completion and history where it can, plain lines over a pipe or a dumb terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.shortcuts import CompleteStyle

from perdure.surfaces.repl.conversation_state import AskRun, Session

IDLE_SECONDS = 600.0
"""How long a question for an authorisation stays open."""
MAX_LINE = 100_000


class Lines(Protocol):
    """Where lines come from; None at the end."""

    async def line(self, prompt: str, timeout_seconds: float | None = None) -> str | None: ...


Completions = Callable[[str], list[tuple[str, int]]]


def lines_for(completions: Completions) -> Lines:
    """The best the terminal can do."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not is_terminal or os.environ.get("TERM", "dumb") in ("", "dumb"):
        return PlainLines(shows_prompt=is_terminal)
    return PromptLines(completions, history_file())


def prompt_of(session: Session) -> str:
    return f"{session.pack or 'perdure'}> "


def patience(session: Session) -> float | None:
    return IDLE_SECONDS if isinstance(session.asked, AskRun) and session.asked.phrase else None


def history_file() -> Path | None:
    """Beside the state of other programs; nowhere when that cannot be written."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    folder = Path(home) / "perdure"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = folder / "repl-history"
        file.touch(mode=0o600)
    except OSError:
        return None
    return file


class PlainLines:
    """One line after another, as a pipe gives them."""

    def __init__(self, shows_prompt: bool) -> None:
        self._shows_prompt = shows_prompt

    async def line(self, prompt: str, timeout_seconds: float | None = None) -> str | None:
        if self._shows_prompt:
            sys.stdout.write(prompt)
            sys.stdout.flush()
        try:
            async with asyncio.timeout(timeout_seconds):
                text = await asyncio.to_thread(sys.stdin.readline, MAX_LINE)
        except TimeoutError:
            return "cancel"
        return text.rstrip("\r\n") if text else None


class PromptLines:
    """Lines that are edited, completed and remembered."""

    def __init__(self, completions: Completions, history: Path | None) -> None:
        kept: Any = FileHistory(str(history)) if history is not None else InMemoryHistory()
        self._session: PromptSession[str] = PromptSession(
            history=kept,
            completer=Offered(completions),
            complete_while_typing=False,
            enable_suspend=True,
            complete_style=CompleteStyle.READLINE_LIKE,
            reserve_space_for_menu=0,
        )

    async def line(self, prompt: str, timeout_seconds: float | None = None) -> str | None:
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._session.prompt_async(prompt)
        except TimeoutError:
            return "cancel"
        except EOFError:
            return None
        except KeyboardInterrupt:
            return "cancel"


class Offered(Completer):
    """What may come next, as the prompt asks for it."""

    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        for text, length in self._completions(document.text_before_cursor):
            yield Completion(text, start_position=-length)
