"""Calls into an event loop from other threads."""

import asyncio
from collections.abc import Callable
from typing import Any


def call_in_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *args: Any) -> None:
    """Call a function soon in the loop's thread; a loop that ended with its program has nobody left to tell."""
    try:
        loop.call_soon_threadsafe(function, *args)
    except RuntimeError:
        if not loop.is_closed():
            raise
