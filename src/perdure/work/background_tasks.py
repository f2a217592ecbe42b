"""Background tasks of a process: counted, awaited and cancelled.

Jobs that never wait for anything are done one after the other in the task of one hand. A hand that has to wait belongs
to the job it waits for, and another one goes on with the rest.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from functools import partial
from types import coroutine
from typing import Any, Literal

from perdure.sources import id_text

MAX_JOBS = 2000
"""How many attempts run at once before a process takes over no more, half of them for one tenant; its own calls are
always run."""
MOST_IN_A_TURN = 100
"""How many jobs that do not wait are done before everybody else gets a turn."""

JobName = tuple[bytes, int, int, int]
"""Call, step, attempt and the lease it runs under: taken over by the same process, it is another job."""
Work = Callable[[], Coroutine[Any, Any, None]]
Left = Literal["left"]

_THROUGH = object()
_LEFT: Left = "left"

log = logging.getLogger("perdure")


class BackgroundTasks:
    """Of one process: its jobs by their names, each run once."""

    def __init__(self) -> None:
        # What somebody's context holds who happened to ask is no business of a job that follows from it.
        self._context = copy_context()
        self._jobs: dict[JobName, asyncio.Future[Any] | Left | None] = {}
        """What is to be waited for until it ends; None of one that has not begun, or is just beginning."""
        self._queue: deque[tuple[JobName, Work]] = deque()
        self._starting: set[asyncio.Task[None]] = set()
        """Hands that have not begun: there is one whenever something is queued."""

    def submit(self, name: JobName, work: Work) -> None:
        """Run something in a task of its own."""
        if name not in self._jobs:
            self._run(name, work)

    def enqueue(self, name: JobName, work: Work) -> None:
        """Run something that seldom waits; what it sees and sets of context variables is its own, as in a task."""
        if name not in self._jobs:
            self._jobs[name] = None
            self._queue.append((name, work))
            if not self._starting:
                self._start(helpers=1)

    def hand_over(self, name: JobName) -> None:
        """A job leaves something behind as it ends: it is under way until `dismiss` or `go_on` is said of it."""
        self._jobs[name] = _LEFT

    def go_on(self, name: JobName, rest: Work) -> None:
        """Let what is left of a job be done in a task of its own, unless it was cancelled meanwhile."""
        left = self._jobs.get(name)
        if isinstance(left, asyncio.Future) and left.cancelled():
            del self._jobs[name]
        elif left is not None:
            self._run(name, rest)
            _settle(left)

    def release(self, name: JobName) -> None:
        """The job is over."""
        left = self._jobs.pop(name, None)
        if left is not _LEFT:
            _settle(left)

    # --- what is under way ---------------------------------------------------------------------------------------

    def find(self, name: JobName) -> asyncio.Future[Any] | None:
        """What ends when the job does; None when there is none, or it has not begun."""
        found = self._jobs.get(name)
        return self._awaited(name) if found == _LEFT else found

    @property
    def room(self) -> int:
        return MAX_JOBS - len(self._jobs)

    @property
    def running(self) -> set[tuple[bytes, int]]:
        return {(id, step) for id, step, *_ in self._jobs}

    def tasks(self) -> list[asyncio.Future[Any]]:
        """What is to be waited for, and cancelled, until nothing is left."""
        under_way = [each for name in list(self._jobs) if (each := self.find(name)) is not None]
        return [*under_way, *self._starting]

    async def finish(self, seconds: float | None) -> None:
        """Let jobs, and what follows from them, end, at most so long; the rest is cancelled."""
        loop = asyncio.get_running_loop()
        until = None if seconds is None else loop.time() + seconds
        while jobs := self.tasks():
            left = None if until is None else max(0.0, until - loop.time())
            _, late = await asyncio.wait(jobs, timeout=left)
            if late:
                await self._cancel(late)
                return

    async def _cancel(self, late: set[asyncio.Future[Any]]) -> None:
        """A handler that ends all the same has its result recorded: that is waited for as well."""
        names = [name for name, each in self._jobs.items() if each in late]
        for each in late:
            each.cancel()
        while late:
            await asyncio.wait(late)
            late = {left for name in names if (left := self.find(name)) is not None}

    # --- inside --------------------------------------------------------------------------------------------------

    def _run(self, name: JobName, work: Work) -> None:
        task = asyncio.create_task(work(), context=self._context.copy())
        self._jobs[name] = task
        task.add_done_callback(partial(self._ended, name))

    def _awaited(self, name: JobName) -> asyncio.Future[None]:
        """What was left, as something to wait for: hardly ever does anyone."""
        left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._jobs[name] = left
        left.add_done_callback(partial(self._given_up, name))
        return left

    def _given_up(self, name: JobName, left: asyncio.Future[None]) -> None:
        if self._jobs.get(name) is left:
            del self._jobs[name]

    def _start(self, helpers: int) -> None:
        hand = asyncio.create_task(self._work(helpers))
        self._starting.add(hand)
        hand.add_done_callback(self._left)

    async def _work(self, helpers: int) -> None:
        """Do what is queued until something waits; what a job raises ends this hand, and the next one goes on."""
        hand = asyncio.current_task()
        assert hand is not None
        jobs, queue = self._jobs, self._queue
        self._starting.discard(hand)
        # None of these begins before this hand waits or is through. Each brings two: many that wait begin soon.
        for _ in range(min(helpers, len(queue) - 1 - len(self._starting))):
            self._start(helpers=2)
        for _ in range(MOST_IN_A_TURN):
            if not queue:
                return
            name, work = queue.popleft()
            steps, context = work(), self._context.copy()
            try:
                waited = context.run(next, steps.__await__(), _THROUGH)
            except BaseException:
                jobs[name] = hand  # which ends with it
                raise
            if waited is not _THROUGH:
                jobs[name] = hand
                await _resumed(steps, context, waited)
                self._leave(name, hand)
                return
            if jobs.get(name, _LEFT) is None:
                del jobs[name]
            if hand.cancelling():
                return  # the job's own doing: it must not meet the next one

    def _leave(self, name: JobName, hand: asyncio.Task[None]) -> None:
        if self._jobs.get(name) is hand:
            del self._jobs[name]

    def _left(self, hand: asyncio.Task[None]) -> None:
        self._starting.discard(hand)
        if hand.cancelled() or hand.exception() is not None:
            for name in [name for name, each in self._jobs.items() if each is hand]:
                self._ended(name, hand)
        if self._queue and not self._starting:
            self._forsake()

    def _ended(self, name: JobName, task: asyncio.Task[None]) -> None:
        self._jobs.pop(name, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning(
                "an attempt of call %s was not recorded and will be taken up again: %s", id_text(name[0]), error
            )

    def _forsake(self) -> None:
        """Those who would have begun what is queued were cancelled: so is it."""
        for name, _ in self._queue:
            self._jobs.pop(name, None)
        self._queue.clear()


def _settle(left: asyncio.Future[Any] | Left | None) -> None:
    if left is not None and left != _LEFT and not left.done():
        left.set_result(None)


@coroutine
def _resumed(steps: Coroutine[Any, Any, Any], context: Context, waited: Any) -> Generator[Any, Any, Any]:
    """The rest of a job that waits, within its context."""
    while True:
        try:
            given = yield waited
        except BaseException as error:
            step = partial(steps.throw, error)
        else:
            step = partial(steps.send, given)
        try:
            waited = context.run(step)
        except StopIteration as end:
            return end.value
