"""The store retry: a write that must not be forgotten is repeated until the store answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from perdure.errors import StoreFullError, StoreUnavailableError
from perdure.sources import SECOND, Micros, Sources

T = TypeVar("T")
PAUSE: Micros = SECOND


async def retry_until_stored(ask: Callable[[], Awaitable[T]], sources: Sources) -> T:
    """Ask until there is an answer; only what asking again cannot mend is raised. Ends when it is cancelled."""
    while True:
        try:
            return await ask()
        except (StoreUnavailableError, StoreFullError):
            await sources.sleep_until(sources.now() + PAUSE)
