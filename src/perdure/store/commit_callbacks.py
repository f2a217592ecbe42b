"""How whoever waits for a unit learns what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from perdure.kernel.ports import Conflict, Told, Unit, Verdict

Waiting = tuple[Unit, Told]


def awaited(submit: Callable[[Unit, Told], None], unit: Unit) -> asyncio.Future[Conflict | None]:
    """Submit a unit, to be told by a future."""
    future: asyncio.Future[Conflict | None] = asyncio.get_running_loop().create_future()

    def told(verdict: Verdict) -> None:
        if future.done():
            return
        if isinstance(verdict, BaseException):
            future.set_exception(verdict)
        else:
            future.set_result(verdict)

    submit(unit, told)
    return future


def run_callbacks(loop: asyncio.AbstractEventLoop, waiting: Sequence[Waiting], verdicts: Sequence[Verdict]) -> None:
    """Tell everyone of a batch; one who cannot bear it is reported, and the others are told all the same."""
    for (_, told), verdict in zip(waiting, verdicts, strict=True):
        try:
            told(verdict)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = f"{told!r} failed when it was told of a commit"
            loop.call_exception_handler({"message": message, "exception": error})
