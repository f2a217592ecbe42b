"""Drives a conversation with words and keeps what it says, as a person would read it."""

from __future__ import annotations

import asyncio
import io

from rich.console import Console

from perdure.surfaces.repl.conversation_machine import hear, open_conversation
from perdure.surfaces.repl.conversation_state import Session
from perdure.surfaces.repl.effect_runner import EffectRunner
from perdure.surfaces.repl.renderer import show
from perdure.surfaces.repl.turn import Knowledge
from tests.surfaces.repl.memory_platform import MemoryDesk
from tests.surfaces.repl.project import knowledge


class Talk:
    """One conversation; `tell` gives what was said in answer."""

    def __init__(
        self, desk: MemoryDesk | None = None, resume: str = "", width: int = 80, known: Knowledge | None = None
    ) -> None:
        self.desk = desk or MemoryDesk()
        self.knowledge = known or knowledge()
        self._out = io.StringIO()
        self._console = Console(file=self._out, width=width, force_terminal=False, color_system=None)
        self._performer = EffectRunner(self.desk, self.knowledge, lambda saying: show(self._console, saying))
        self.greeting = self._take(open_conversation(self.knowledge, resume))

    @property
    def session(self) -> Session:
        return self._performer.session

    def tell(self, *lines: str) -> str:
        """Says the lines one after another; gives the answer to the last."""
        said = ""
        for line in lines:
            said = self._take(hear(self.session, line, self.knowledge))
        return said

    def sentences(self) -> list[str]:
        return [entry.sentence for entry in self.session.draft.entries]

    def _take(self, turn: object) -> str:
        self._out.seek(0)
        self._out.truncate()
        asyncio.run(self._performer.take(turn))  # type: ignore[arg-type]
        return self._out.getvalue()
