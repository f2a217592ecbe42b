"""Two processes on one store and one virtual clock, neither of which knows the other to be gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

from perdure.app.perdure import Perdure
from perdure.app.runtime import Runtime
from perdure.journal import Origin
from perdure.sources import SECOND
from perdure.testing.sandbox import quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import Catalogue, HandlerRegistry
from perdure.work.worker_identity import ProcessIdentity

LEASE_AND_MORE = 60 * SECOND


class Pair(NamedTuple):
    """Both processes and their clock."""

    first: Perdure
    second: Perdure
    clock: VirtualSources

    async def lapse(self) -> None:
        """Let the first one's lease run out and the second one take over what it held."""
        self.clock.move_to(self.clock.now() + LEASE_AND_MORE)
        assert self.second.runtime.lease.beat_once()
        await self.second.runtime.look_after()
        await self.second.runtime.conductor.finish_jobs(None)

    async def entries(self, id: str) -> list[str]:
        return [event.entry async for event in self.second.events(id)]


@asynccontextmanager
async def pair(
    url: str, catalogue: Catalogue, handlers: Mapping[str, Callable[..., Any]], seed: int = 0
) -> AsyncIterator[Pair]:
    clock = VirtualSources(seed)
    async with AsyncExitStack() as stack:
        both = []
        for host in ("one", "two"):
            registry = HandlerRegistry.collect([], catalogue, handlers)
            identity = ProcessIdentity(host, "900000000/0")
            runtime = Runtime(quiet_driver(url), catalogue, registry, clock, identity=identity, is_driven=True)
            await runtime.start()
            stack.push_async_callback(runtime.stop)
            both.append(Perdure(runtime, Origin("default", "client")))
        yield Pair(both[0], both[1], clock)
