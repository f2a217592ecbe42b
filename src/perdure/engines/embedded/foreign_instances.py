"""Foreign instances: what an engine outside decides is not decided here as well, or its journal would part in two."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from perdure.bpmn.machine.state import ENDED
from perdure.engines.instance_carrier import InstanceCarriers
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.decider import Settled
from perdure.kernel.kernel import Answer, Kernel, Preparation, Prepared
from perdure.sources import Id, id_text


class ForeignInstances:
    """The way of commands in a store that was once opened with an engine outside."""

    def __init__(self, kernel: Kernel, carriers: InstanceCarriers) -> None:
        self._kernel = kernel
        self._carriers = carriers
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> asyncio.Future[Answer]:
        return self._kernel.start(kind, id, origin, prepared)

    def begin(self, kind: str, id: Id, origin: Origin, prepared: Prepared, told: Settled) -> None:
        self._kernel.begin(kind, id, origin, prepared, told)

    async def ask(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Answer:
        # What is remembered may have been moved here by another process.
        carrier = await self._carriers.of(id) and await self._carriers.look(id)
        if carrier and (await self._kernel.read(id, origin)).state.status not in ENDED:
            fact = f"the engine '{carrier}' carries it, and this process was opened with another"
            hint = "Open the store with the engine that it was started with."
            raise RejectedError(Rejection("wrong_state", "ask", "instance", id_text(id), fact, hint))
        return await self._kernel.ask(kind, id, origin, prepare)

    def put(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared, told: Settled) -> None:
        task = asyncio.create_task(tell_outcome(self.ask(kind, id, origin, prepare), told))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def tell_outcome(asked: Coroutine[Any, Any, Answer], told: Settled) -> None:
    """Call back with the answer, or with the error in its place."""
    try:
        answer: Answer | BaseException = await asked
    except (Exception, asyncio.CancelledError) as error:
        answer = error
    told(answer)
