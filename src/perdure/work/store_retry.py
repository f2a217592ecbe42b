"""The store retry: a write that must not be forgotten is repeated until the store answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from perdure.errors import StoreFullError, StoreUnavailableError
from perdure.sources import SECOND, Micros, Sources

T = TypeVar("T")
PAUSE: Micros = SECOND
TOLD_AFTER: Micros = 2 * SECOND
"""How long a full disk refuses a write before those who wait for it are told."""


async def retry_until_stored(
    ask: Callable[[], Awaitable[T]], sources: Sources, full: Callable[[StoreFullError], None] | None = None
) -> T:
    """Ask until there is an answer; only what asking again cannot mend is raised. Ends when it is cancelled.

    `full` is told, again and again, once a full disk has refused it for a while: whoever waits need not wait as long.
    """
    since: Micros | None = None
    while True:
        try:
            return await ask()
        except StoreFullError as error:
            since = sources.monotonic() if since is None else since
            if full is not None and sources.monotonic() - since >= TOLD_AFTER:
                full(error)
        except StoreUnavailableError:
            since = None
        await sources.sleep(PAUSE)
