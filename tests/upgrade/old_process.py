"""A process of an older release: does one thing to a store for each line it reads, and says what became of it.

It is run with the modules of that release, and so uses nothing but what all of them have.
"""

from __future__ import annotations

import asyncio
import json
import sys
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec

from perdure.kernel.ports import Attachments, InboxRow, RecordRow, Unit
from perdure.sources import Id, SystemSources
from perdure.store.driver_selection import open_driver
from perdure.store.migrations import newest
from perdure.store.ports import Driver
from perdure.store.store import Store

MINUTE = 60_000_000
IDENTITIES = ("perdure.work.worker_identity", "perdure.work.process_identity")
"""Where releases keep which process this is."""


def unit(label: str) -> Unit:
    """The first unit of a call."""
    body = label.encode()
    hash = sha256(body).digest()
    return Unit(
        "tenant", Id(hash[:16]), "runbook", 0, 1, "executing", 0, b"state", hash, [RecordRow(1, body, hash)],
        attachments=[], at=1,
    )  # fmt: skip


def message(label: str) -> Unit:
    row = InboxRow("tenant", label, "completion", "key", 1, 1, "applied", None, None)
    return Unit("tenant", None, attachments=[Attachments(inbox=row)], at=1)


def identity() -> tuple[str, str]:
    """Host and process as this release names them."""
    name = next(each for each in IDENTITIES if find_spec(each) is not None)
    host, process = import_module(name).this_process()
    return host, process


class Worker:
    """What a worker of that release writes."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._store = Store(driver, SystemSources())

    async def call(self, label: str) -> None:
        conflict = await self._driver.commit(unit(label))
        assert conflict is None, conflict

    async def receive(self, label: str) -> None:
        conflict = await self._driver.commit(message(label))
        assert conflict is None, conflict

    async def lease(self, label: str) -> None:
        host, process = identity()
        self._driver.fence = await self._store.add_worker(host, process, SystemSources().now() + MINUTE)

    async def beat(self, label: str) -> None:
        extend, close = self._driver.beat()
        try:
            assert extend(self._driver.fence, SystemSources().now() + MINUTE), "the lease was taken away"
        finally:
            close()

    async def define(self, label: str) -> None:
        """One of the small writes that need no lease."""
        await self._store.add_definition(sha256(label.encode()).digest(), 1, label, 1, b"body")


async def main(url: str) -> None:
    driver = open_driver(url)
    await driver.open()
    worker = Worker(driver)
    print(json.dumps(newest("sqlite")), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        name, label = line.split()
        try:
            await getattr(worker, name)(label)
            told = "done"
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
        print(json.dumps(told), flush=True)
    await driver.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
