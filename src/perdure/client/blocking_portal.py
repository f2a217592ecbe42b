"""The blocking portal: one thread with an event loop, through which blocking programs call asynchronous code.

| a program | what happens |
|---|---|
| closes it while another thread waits in a call | that call ends with StoreUnavailableError |
| closes it twice, or ends without closing it | it is closed once |
| uses it after a fork, or after closing it | StoreUnavailableError, at once |
| leaves an iterator early, in whichever thread | the iterator is closed on the loop, and nobody waits for that |
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from perdure.errors import StoreUnavailableError

P = ParamSpec("P")
T = TypeVar("T")
_END = object()


class Portal:
    """A loop in a thread of its own, until it is closed or the program ends."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="perdure-client", daemon=True)
        self._process = os.getpid()
        self._is_closing = self._has_closed = False
        self._closing = threading.Lock()
        self._closings: set[asyncio.Task[None]] = set()
        self._end = weakref.finalize(self, _end, self._loop, self._thread, self._process)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine; interrupting the program cancels the coroutine."""
        if (fact := self._fault()) is not None:
            work.close()
            raise _unusable(fact)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            if self._is_closing:
                raise _unusable("it was closed meanwhile") from None
            raise
        except BaseException:
            future.cancel()
            raise

    def _fault(self) -> str | None:
        if os.getpid() != self._process:
            return "it was made before this process was forked"
        if self._is_closing:
            return "it has been closed"
        if threading.current_thread() is self._thread:
            return "its own thread would wait for itself"
        return None

    def release(self, found: Any) -> None:
        """Close an iterator that nobody reads any further, without waiting for it."""
        if os.getpid() == self._process and not self._is_closing:
            with suppress(RuntimeError):  # the loop has just been closed, and the iterator with it
                self._loop.call_soon_threadsafe(self._close_soon, found)

    def _close_soon(self, found: Any) -> None:
        task = self._loop.create_task(_close(found))
        self._closings.add(task)
        task.add_done_callback(self._closings.discard)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do one last thing on the loop, end what still runs there, and end the thread; once."""
        with self._closing:
            if self._has_closed or os.getpid() != self._process:
                return
            self._has_closed = True
        try:
            self.run(last())
        finally:
            self._is_closing = True
            self._end()


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, process: int) -> None:
    """Cancel what runs on a loop, close its iterators, and end its thread."""
    if os.getpid() != process or loop.is_closed():
        return
    asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def _cancel_all() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


def _unusable(fact: str) -> StoreUnavailableError:
    return StoreUnavailableError(
        "use", "client", "perdure.Client", fact, "Make a new client, and one for each process."
    )


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
            self._portal.release(found)

    return through


async def _next(found: Any) -> Any:
    return await anext(found, _END)


async def _close(found: Any) -> None:
    with suppress(RuntimeError):  # it is interrupted while it waits, and ends by that
        await found.aclose()
