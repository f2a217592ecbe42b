"""The portal of the blocking client: no thread waits for ever, however a program closes, forks, leaves or ends."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from perdure.client.blocking_portal import Blocking, Portal, called, iterated
from perdure.errors import StoreUnavailableError


class Office:
    """Something for asyncio: a call that never ends by itself, and an iterator that goes on."""

    def __init__(self) -> None:
        self.is_waiting, self.is_left = threading.Event(), threading.Event()

    async def wait(self) -> None:
        self.is_waiting.set()
        await asyncio.Event().wait()

    async def add(self, number: int) -> int:
        return number + 1

    async def count(self) -> AsyncIterator[int]:
        try:
            for number in range(1_000_000):
                yield number
        finally:
            self.is_left.set()

    async def close(self) -> None:
        return None


class BlockingOffice(Blocking):
    wait = called(Office.wait)
    add = called(Office.add)
    count = iterated(Office.count)

    def close(self) -> None:
        self._portal.close(self._behind.close)


@pytest.fixture
def office() -> Iterator[BlockingOffice]:
    made = BlockingOffice(Portal(), Office())
    yield made
    made.close()


def test_closing_ends_the_calls_of_other_threads(office: BlockingOffice) -> None:
    told: list[BaseException] = []

    def call() -> None:
        try:
            office.wait()
        except BaseException as error:
            told.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert office._behind.is_waiting.wait(30)
    office.close()
    thread.join(30)
    assert not thread.is_alive()
    assert [type(error) for error in told] == [StoreUnavailableError]


def test_closing_twice_is_closing_once_and_what_is_asked_later_is_refused(office: BlockingOffice) -> None:
    assert office.add(1) == 2
    office.close()
    office.close()
    with pytest.raises(StoreUnavailableError, match="has been closed"):
        office.add(1)


def test_an_iterator_that_is_left_early_is_closed_and_nobody_waits(office: BlockingOffice) -> None:
    numbers = office.count()
    assert next(numbers) == 0
    del numbers
    gc.collect()
    assert office._behind.is_left.wait(30)
    assert office.add(1) == 2


def test_an_iterator_collected_in_the_portals_own_thread_does_not_stop_it(office: BlockingOffice) -> None:
    cycle: list[object] = []
    numbers = office.count()
    next(numbers)
    cycle.append((numbers, cycle))
    del numbers, cycle

    async def collect() -> None:
        gc.collect()

    office._portal.run(collect())
    assert office._behind.is_left.wait(30)
    assert office.add(1) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this machine has no fork")
def test_a_child_of_a_fork_is_refused_at_once(office: BlockingOffice) -> None:
    child = os.fork()
    if child == 0:
        try:
            office.add(1)
        except StoreUnavailableError:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert office.add(1) == 2


def test_a_program_that_closes_nothing_ends() -> None:
    program = (
        "from tests.client.test_blocking_portal import *\n"
        "office = BlockingOffice(Portal(), Office())\nnumbers = office.count()\nprint(next(numbers))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "0\n"
