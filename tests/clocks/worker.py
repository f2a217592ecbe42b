"""A worker process whose clock can be set from outside: commands come in as lines, answers go out as JSON lines.

| command | what it does |
|---|---|
| `ahead SECONDS` | sets the clock so far ahead of the machine's; back, where it is negative |
| `beat` | extends the lease once, as the heartbeat's thread does |
| `work` | does one round of every duty, and fires what it believes to be due |
| `begin` | begins a call whose handler waits for `finish` |
| `finish` | lets the handler return, and answers what became of the call |
| `status` | answers its lease, whether it does its duties, and how often its handler ran |
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from perdure import Perdure, sources
from perdure.verbs import load_text

VERBS = """
verbs:
- {name: clock.slow, execution: {kind: sync, effects: external}}
- {name: clock.timed, execution: {kind: durable, policy: {timeout: PT10M}}}
"""


class SetClock:
    """The machine's clock, set by so many nanoseconds."""

    def __init__(self) -> None:
        self.ahead = 0

    def time_ns(self) -> int:
        return time.time_ns() + self.ahead


class Handler:
    """Runs until it is told to end."""

    def __init__(self) -> None:
        self.runs = 0
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()

    async def __call__(self, call: Any) -> dict[str, int]:
        self.runs += 1
        self.begun.set()
        await self.may_end.wait()
        return {"run": self.runs}


class Session:
    """The commands of one process."""

    def __init__(self, perdure: Perdure, clock: SetClock, handler: Handler) -> None:
        self._perdure = perdure
        self._clock = clock
        self._handler = handler
        self._calling: asyncio.Task[Any] | None = None

    async def ahead(self, seconds: str) -> None:
        self._clock.ahead = int(seconds) * 1_000_000_000

    async def beat(self) -> None:
        self._perdure.runtime.lease.beat_once()
        await asyncio.sleep(0)

    async def work(self) -> None:
        runtime = self._perdure.runtime
        await runtime.look_after()
        await runtime.timers.load()
        await runtime.timers.fire_due(runtime.sources.now())

    async def begin(self) -> None:
        self._calling = asyncio.create_task(self._perdure.call("clock.slow", idempotency_key="slow"))
        await self._handler.begun.wait()

    async def finish(self) -> str:
        assert self._calling is not None
        self._handler.may_end.set()
        return str((await self._calling).state)

    async def status(self) -> dict[str, Any]:
        runtime = self._perdure.runtime
        return {
            "lease": runtime.lease.number,
            "duties": sum(not duty.done() and not duty.cancelling() for duty in runtime._duties),
            "runs": self._handler.runs,
            "metrics": (await runtime.scrape()).decode(),
        }


async def main(url: str) -> None:
    clock, handler = SetClock(), Handler()
    sources.time_ns = clock.time_ns  # type: ignore[attr-defined]

    async def slow(call: Any) -> dict[str, int]:
        return await handler(call)

    async with Perdure.open(url, definitions=load_text(VERBS), handlers={"clock.slow": slow}) as perdure:
        session = Session(perdure, clock, handler)
        print(json.dumps("ready"), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            name, *words = line.split()
            print(json.dumps(await getattr(session, name)(*words)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
