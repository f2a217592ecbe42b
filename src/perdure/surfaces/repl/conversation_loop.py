"""The loop: a line is read, the conversation hears it, what it wishes is done, and so on until it ends."""

from __future__ import annotations

import asyncio
import contextlib
import signal

from rich.console import Console

from perdure.surfaces.repl.conversation_machine import hear, open_conversation
from perdure.surfaces.repl.conversation_messages import Say
from perdure.surfaces.repl.effect_runner import EffectRunner
from perdure.surfaces.repl.platform_adapter import PlatformAdapter
from perdure.surfaces.repl.renderer import show
from perdure.surfaces.repl.terminal import Lines, lines_for, patience, prompt_of
from perdure.surfaces.repl.turn import Knowledge, Turn
from perdure.surfaces.repl.word_completion import complete


async def converse(
    desk: PlatformAdapter, knowledge: Knowledge, console: Console, resume: str = "", lines: Lines | None = None
) -> None:
    """One conversation from its first word to its last."""
    performer = EffectRunner(desk, knowledge, lambda saying: show(console, saying))
    reader = lines or lines_for(lambda text: complete(performer.session, text, knowledge))
    await _done(performer, open_conversation(knowledge, resume), console)
    while not performer.session.has_ended:
        text = await reader.line(prompt_of(performer.session), patience(performer.session))
        await _done(performer, hear(performer.session, "quit" if text is None else text, knowledge), console)


async def _done(performer: EffectRunner, turn: Turn, console: Console) -> None:
    """An interrupt leaves a watched run alone and comes back to the prompt."""
    task = asyncio.ensure_future(performer.take(turn))
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            raise
        show(console, Say("It goes on without you; 'watch' follows it again.", "quiet"))
    finally:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.remove_signal_handler(signal.SIGINT)
