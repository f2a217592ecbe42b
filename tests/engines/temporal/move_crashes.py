"""Moves that are stopped at every commit of ours, before and after it; the instance goes on on exactly one engine.

python -m tests.engines.temporal.move_crashes OUTPUT [STORE], which is a SQLite file of its own each time unless named
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from temporalio.client import Client

from perdure.errors import PerdureError
from perdure.journal import Origin
from perdure.sources import SystemSources
from perdure.testing import Sandbox
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import quiet_driver
from perdure.testing.scenarios.carried_time import CarriedTime
from perdure.testing.scenarios.temporal_time import ServerTime
from perdure.testing.temporal_server import TemporalServer, virtual_server
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from tests.engines.temporal.carried_process import MODELS, ORIGIN, VERBS, Carried, handlers

MOST_COMMITS = 6
"""More than a move has: the last ones change nothing, and say that all were seen."""


class Stage:
    """A process on the test server whose death is chosen."""

    def __init__(self, server: TemporalServer, folder: Path, store: str) -> None:
        self._server, self._folder = server, folder
        self._store = store or f"sqlite:///{folder}/p.db"
        self._clock = VirtualSources(int(SystemSources().random() * 2**53))
        self._others = asyncio.all_tasks()

    async def open(self) -> Carried:
        time = ServerTime(await Client.connect(self._server.target))
        self._clock.move_to(await time.now())
        url = self._store
        self.driver = FaultyDriver(quiet_driver(url))
        self.sandbox = await Sandbox.start(
            url, definitions=load_text(VERBS), handlers=handlers(self._folder), clock=self._clock, checks=(),
            driver=self.driver, engine=f"{self._server.url}?cache=0",
        )  # fmt: skip
        self.time = CarriedTime(self.sandbox, self._clock, time)
        return Carried(self.sandbox)

    async def die(self) -> None:
        self.driver.is_dead = True
        with suppress(Crash, PerdureError):
            await self.sandbox.runtime.engine.close()
        lost = [task for task in asyncio.all_tasks() if task not in {*self._others, asyncio.current_task()}]
        for task in lost:
            task.cancel()
        await asyncio.gather(*lost, return_exceptions=True)
        self.sandbox.runtime.router.close()
        await self.driver.drop()


async def stopped_at(server: TemporalServer, store: str, to: str, at: int, side: Side) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        stage = Stage(server, Path(folder), store)
        carried = await stage.open()
        engine = stage.sandbox.runtime.engine
        for each in MODELS:
            await engine.deploy(each, ORIGIN, profile="open")
        id = await carried.start("journey", given=1)
        await stage.time.idle()
        await stage.time.advance_to(stage._clock.now() + 2_000_000)
        if to == "temporal":  # it begins there, and is first taken away
            await carried.move(id, "embedded")
            await stage.time.idle()
        seen = len(stage.driver.commits_seen)
        stage.driver._crash_at, stage.driver._side = seen + at, side
        with suppress(PerdureError):
            async with asyncio.timeout(10):
                moving = asyncio.ensure_future(carried.move(id, to))
                await asyncio.wait({moving}, return_when=asyncio.FIRST_EXCEPTION)
                moving.exception()
        commits = len(stage.driver.commits_seen) - seen
        was_stopped = stage.driver.is_dead
        await stage.die()

        carried = await stage.open()
        await stage.time.idle()
        state = (await stage.sandbox.runtime.instances.read(id, Origin("default"))).state
        outcome = await carried.publish(f"m-{id}")
        await stage.time.idle()
        done = await carried.complete(id, ok=True)
        await stage.time.idle()
        shown = await carried.show(id)
        runs = (Path(folder) / "runs.log").read_text().splitlines()
        audit = await carried.audit()
        await stage.sandbox.runtime.stop()
        return {
            "to": to, "at": at, "side": side, "stopped": was_stopped, "commits": commits, "carrier": state.carrier,
            "message": outcome, "done": done, "data": shown["data"],
            "moves": sum(entries.count("CarrierChanged") for entries in shown["entries"]),
            "runs": [run.partition("/")[2] for run in runs], "audit": audit,
        }  # fmt: skip


async def main(store: str) -> str:
    server = virtual_server()
    found = []
    try:
        server.start()
        for to in ("temporal", "embedded"):
            for at in range(1, MOST_COMMITS + 1):
                for side in ("before", "after"):
                    found.append(await stopped_at(server, store, to, at, side))  # type: ignore[arg-type]
                if not found[-1]["stopped"]:
                    break
    finally:
        server.remove()
    return json.dumps(found)


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    Path(sys.argv[1]).write_text(asyncio.run(main("".join(sys.argv[2:]))))
    os._exit(0)
