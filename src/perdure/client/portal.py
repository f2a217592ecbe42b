"""The portal: one thread with a loop, through which programs that block use what is written for asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_END = object()


class Portal:
    """A loop in a thread of its own, until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="perdure-client", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine; interrupting the program cancels the coroutine."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def is_open(self) -> bool:
        return not self._loop.is_closed()

    def close(self) -> None:
        """End the thread; iterators that nobody reads to their end are closed."""
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Blocking:
    """An object for asyncio behind a portal; its class names the methods that are let through."""

    def __init__(self, portal: Portal, behind: Any) -> None:
        self._portal, self._behind = portal, behind


def called(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Any, P], T]:
    """The same method for programs that block."""

    @wraps(method)
    def through(self: Blocking, /, *args: P.args, **options: P.kwargs) -> T:
        return self._portal.run(method(self._behind, *args, **options))

    return through


def iterated(method: Callable[Concatenate[Any, P], AsyncIterator[T]]) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """The same iterator for programs that block; leaving it early closes it."""

    @wraps(method)
    def through(self: Blocking, /, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        found: Any = method(self._behind, *args, **options)
        try:
            while (item := self._portal.run(_next(found))) is not _END:
                yield item
        finally:
            if self._portal.is_open:
                self._portal.run(_close(found))

    return through


async def _next(found: Any) -> Any:
    return await anext(found, _END)


async def _close(found: Any) -> None:
    with suppress(RuntimeError):  # it is interrupted while it waits, and ends by that
        await found.aclose()
