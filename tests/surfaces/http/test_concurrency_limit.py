"""A few at once, in order; nobody holds the others up, and no turn is lost."""

from __future__ import annotations

import asyncio

import pytest

from perdure.surfaces.http.concurrency_limit import Admission
from tests.surfaces.http.in_process_server import served


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def work(stile: Admission, inside: list[int], done: asyncio.Event, number: int) -> None:
    """Goes in, says so, and stays until all may leave."""
    async with stile.turn():
        inside.append(number)
        await done.wait()


async def test_so_many_are_let_in_at_once_and_the_others_in_their_order() -> None:
    stile, inside, done = Admission(2, moment_seconds=60), [], asyncio.Event()

    tasks = [asyncio.create_task(work(stile, inside, done, number)) for number in range(5)]
    await settle()
    assert inside == [0, 1]
    done.set()
    await asyncio.gather(*tasks)
    assert inside == [0, 1, 2, 3, 4]


async def test_work_that_takes_longer_than_a_moment_lets_the_next_one_in() -> None:
    stile, second = Admission(1, moment_seconds=0.001), asyncio.Event()

    async def slow() -> None:
        async with stile.turn():
            await second.wait()

    async def quick() -> None:
        async with stile.turn():
            second.set()

    await asyncio.wait_for(asyncio.gather(slow(), quick()), 30)


async def test_a_turn_is_given_back_when_the_work_breaks_or_nobody_waits_for_it_any_more() -> None:
    stile, held = Admission(1, moment_seconds=60), asyncio.Event()

    async def hold() -> None:
        async with stile.turn():
            await held.wait()

    async def queue() -> None:
        async with stile.turn():
            raise AssertionError("it was cancelled before its turn")

    holder = asyncio.create_task(hold())
    queued = asyncio.create_task(queue())
    await settle()
    queued.cancel()
    held.set()
    await asyncio.gather(holder, queued, return_exceptions=True)
    with pytest.raises(ZeroDivisionError):
        async with stile.turn():
            raise ZeroDivisionError
    async with asyncio.timeout(30), stile.turn():
        pass


async def test_while_somebody_looks_fewer_are_let_in_and_those_inside_go_on() -> None:
    stile, inside, done = Admission(4, watched=1, moment_seconds=60), [], asyncio.Event()

    first = [asyncio.create_task(work(stile, inside, done, number)) for number in range(2)]
    await settle()
    stile.looked()
    more = [asyncio.create_task(work(stile, inside, done, number)) for number in range(2, 4)]
    await settle()
    assert inside == [0, 1]
    done.set()
    await asyncio.gather(*first, *more)
    assert inside == [0, 1, 2, 3]


@pytest.mark.req("P2", "P3")
async def test_who_may_read_narrows_it_and_a_stranger_does_not() -> None:
    async with served() as found, found.client() as stranger, found.client(await found.key("viewer")) as reader:
        stile = found.state.turnstile
        assert (await stranger.get("/api/verbs")).status_code == 401
        assert stile._watched_until == 0
        assert (await reader.get("/api/verbs")).status_code == 200
        assert stile._watched_until > 0
