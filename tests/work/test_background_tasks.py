"""The crew: jobs that never wait share a task, one that waits has its own, and each is counted until it is over."""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest

from perdure.work import background_tasks as crews
from perdure.work.background_tasks import BackgroundTasks, JobName

SEEN: ContextVar[str] = ContextVar("seen", default="nothing")


def name(number: int) -> JobName:
    return (b"c" * 16, number, 1, 1)


async def another_turn() -> None:
    """Suspends, and goes on when the loop comes round."""
    loop = asyncio.get_running_loop()
    turned: asyncio.Future[None] = loop.create_future()
    loop.call_soon(turned.set_result, None)
    await turned


async def test_jobs_that_do_not_wait_share_a_task_and_one_that_waits_holds_up_nobody() -> None:
    crew, done, gate, through = BackgroundTasks(), list[int](), asyncio.Event(), asyncio.Event()
    tasks: dict[int, asyncio.Task[Any] | None] = {}

    async def job(number: int) -> None:
        tasks[number] = asyncio.current_task()
        if number == 2:
            await gate.wait()
        done.append(number)
        if number == 4:
            through.set()

    for number in range(5):
        crew.enqueue(name(number), partial(job, number))
    assert len(crew.running) == 5 and crew.tasks()
    await through.wait()
    assert done == [0, 1, 3, 4] and crew.running == {(b"c" * 16, 2)}
    assert tasks[0] is tasks[1] is tasks[2] and tasks[3] is tasks[4] is not tasks[2]
    gate.set()
    await crew.finish(None)
    assert done == [0, 1, 3, 4, 2] and not crew.running


async def test_many_that_wait_begin_within_a_few_turns() -> None:
    crew, begun, gate, all_begun = BackgroundTasks(), list[int](), asyncio.Event(), asyncio.Event()
    loop, turns = asyncio.get_running_loop(), 0

    async def job(number: int) -> None:
        begun.append(number)
        if len(begun) == 500:
            all_begun.set()
        await gate.wait()

    def count() -> None:
        nonlocal turns
        turns += 1
        if not all_begun.is_set():
            loop.call_soon(count)

    for number in range(500):
        crew.enqueue(name(number), partial(job, number))
    loop.call_soon(count)
    await all_begun.wait()
    assert begun == list(range(500)) and turns <= 12
    gate.set()
    await crew.finish(None)


async def test_others_get_a_turn_between_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "MOST_IN_A_TURN", 3)
    crew, done = BackgroundTasks(), list[str]()

    async def job(number: int) -> None:
        done.append(str(number))

    for number in range(5):
        crew.enqueue(name(number), partial(job, number))
    asyncio.get_running_loop().call_soon(done.append, "other")
    await crew.finish(None)
    assert done == ["0", "1", "2", "other", "3", "4"]


@pytest.mark.parametrize("waits", [False, True])
async def test_a_job_sees_no_context_but_its_own(waits: bool) -> None:
    crew, seen = BackgroundTasks(), list[tuple[str, str]]()

    async def job(number: int) -> None:
        before = SEEN.get()
        SEEN.set(f"job {number}")
        if waits:
            await another_turn()
        seen.append((before, SEEN.get()))

    for number in range(3):
        SEEN.set(f"asker {number}")
        crew.enqueue(name(number), partial(job, number))
    SEEN.set("nothing")
    await crew.finish(None)
    assert sorted(seen) == [("nothing", f"job {number}") for number in range(3)]


async def test_a_job_is_under_way_until_what_it_left_is_settled() -> None:
    crew, begun = BackgroundTasks(), asyncio.Event()

    async def job() -> None:
        begun.set()
        crew.hand_over(name(1))

    crew.enqueue(name(1), job)
    crew.enqueue(name(1), job)
    await begun.wait()
    assert crew.running and len(crew.tasks()) == 1
    finishing = asyncio.create_task(crew.finish(None))
    ended, _ = await asyncio.wait({finishing}, timeout=0)
    assert not ended
    crew.release(name(1))
    await finishing
    assert not crew.running


async def test_what_is_left_of_a_job_is_waited_for_when_it_goes_on_in_a_task() -> None:
    crew, begun, gate, done = BackgroundTasks(), asyncio.Event(), asyncio.Event(), list[str]()

    async def job() -> None:
        begun.set()
        crew.hand_over(name(1))

    async def rest() -> None:
        await gate.wait()
        done.append("rest")

    crew.enqueue(name(1), job)
    await begun.wait()
    finishing = asyncio.create_task(crew.finish(None))
    await another_turn()
    crew.go_on(name(1), rest)
    await another_turn()
    assert crew.running and not finishing.done()
    gate.set()
    await finishing
    assert done == ["rest"] and not crew.running


async def test_what_was_left_and_cancelled_does_not_go_on() -> None:
    crew, begun = BackgroundTasks(), asyncio.Event()

    async def job() -> None:
        begun.set()
        crew.hand_over(name(1))

    async def never() -> None:
        raise AssertionError

    crew.enqueue(name(1), job)
    await begun.wait()
    await crew.finish(0)
    crew.go_on(name(1), never)
    crew.release(name(1))
    assert not crew.running and not crew.tasks()


async def test_what_was_left_and_is_just_being_cancelled_does_not_go_on_either(monkeypatch: pytest.MonkeyPatch) -> None:
    crew, begun, cancel, ran = BackgroundTasks(), asyncio.Event(), BackgroundTasks._cancel, list[int]()

    async def job() -> None:
        begun.set()
        crew.hand_over(name(1))

    async def rest() -> None:
        ran.append(1)

    async def told_at_that_moment(self: BackgroundTasks, late: set[asyncio.Future[Any]]) -> None:
        asyncio.get_running_loop().call_soon(crew.go_on, name(1), rest)
        await cancel(self, late)

    monkeypatch.setattr(BackgroundTasks, "_cancel", told_at_that_moment)
    crew.enqueue(name(1), job)
    await begun.wait()
    await crew.finish(0)
    assert not ran and not crew.running and not crew.tasks()


async def test_what_a_job_raises_is_told_and_the_others_are_done(caplog: pytest.LogCaptureFixture) -> None:
    crew, done = BackgroundTasks(), list[int]()

    async def job(number: int) -> None:
        if number % 2:
            raise RuntimeError(f"odd {number}")
        done.append(number)

    with caplog.at_level(logging.WARNING, "perdure"):
        for number in range(6):
            crew.enqueue(name(number), partial(job, number))
        await crew.finish(None)
    assert done == [0, 2, 4] and not crew.running
    assert [each in caplog.text for each in ("odd 1", "odd 3", "odd 5")] == [True] * 3


async def test_finishing_in_no_time_cancels_what_waits_what_is_queued_and_what_was_left() -> None:
    crew, began, ended, hanging = BackgroundTasks(), list[int](), list[str](), asyncio.Event()

    async def leaves() -> None:
        crew.hand_over(name(1))

    async def hangs() -> None:
        hanging.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("hangs")

    async def never() -> None:
        began.append(1)

    crew.enqueue(name(1), leaves)
    crew.enqueue(name(2), hangs)
    await hanging.wait()
    crew.enqueue(name(3), never)
    left = crew.find(name(1))
    assert left is not None
    for each in crew.tasks():
        each.cancel()
    await crew.finish(0)
    assert (ended, began, left.cancelled(), crew.running) == (["hangs"], [], True, set())


async def test_a_job_that_ends_though_it_is_cancelled_is_waited_for_with_what_it_left() -> None:
    crew, told, waiting = BackgroundTasks(), list[str](), asyncio.Event()

    def settled() -> None:
        told.append("settled")
        crew.release(name(1))

    async def stubborn() -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(0, settled)
        crew.hand_over(name(1))

    crew.enqueue(name(1), stubborn)
    await waiting.wait()
    await crew.finish(0)
    assert told == ["settled"] and not crew.running


async def test_a_job_that_cancels_its_own_task_does_not_reach_the_next() -> None:
    crew, done = BackgroundTasks(), list[int]()

    async def itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    async def next_one() -> None:
        await another_turn()
        done.append(2)

    crew.enqueue(name(1), itself)
    crew.enqueue(name(2), next_one)
    await crew.finish(None)
    assert done == [2] and not crew.running
