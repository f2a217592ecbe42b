"""The command router: which engine decides what is asked of an instance.

| asked | goes to |
|---|---|
| a start | the engine that has kept this start before, else the one that the settings choose |
| anything else | the engine that the instance's journal names: its first record, or the record of its last move |
| of an instance whose engine has no such name here | refused as `wrong_state`, until it has ended |

| failure | what happens |
|---|---|
| another process moved the instance meanwhile | its machine refuses by the row version; the journal is read again, and the new engine is asked |
| the settings change between two attempts of a start | the row of the first attempt counts |
| an engine is away | its starts and commands are refused as `engine.unavailable`; those of others are not touched |
"""  # noqa: E501

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from perdure.bpmn.machine.commands import StartInstance
from perdure.bpmn.machine.instance_machine import is_elsewhere
from perdure.bpmn.machine.state import ENDED
from perdure.engine import EngineSettings
from perdure.engines.carrier import Carrier
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import InstanceCarriers
from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.decider import Settled
from perdure.kernel.kernel import Answer, Kernel, Preparation, Prepared
from perdure.sources import Id, id_text

MAX_LOOKS = 8
STOP_SECONDS = 5.0


class CommandRouter:
    """One per process. Without carriers it refuses what an engine outside decides, or a journal would part in two."""

    def __init__(
        self, kernel: Kernel, store: EngineStore, carriers: InstanceCarriers, outside: Mapping[str, Carrier],
        settings: EngineSettings,
    ) -> None:  # fmt: skip
        self._kernel = kernel
        self._store = store
        self._carriers = carriers
        self._outside = outside
        self._settings = settings
        self._tasks: set[asyncio.Task[None]] = set()

    # --- starting ------------------------------------------------------------------------------------------------

    async def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> Answer:
        outside = await self._starts_at(id, origin, prepared.command)
        if outside is not None:
            return await outside.commands.start(kind, id, origin, prepared)
        answer = await self._kernel.start(kind, id, origin, prepared)
        if answer.conflict is None:
            self._carriers.remember(id, "")
        return answer

    def begin(self, kind: str, id: Id, origin: Origin, prepared: Prepared, told: Settled) -> None:
        if self._outside:
            self._spawn(self.start(kind, id, origin, prepared), told)
        else:
            self._kernel.begin(kind, id, origin, prepared, told)

    async def _starts_at(self, id: Id, origin: Origin, command: Any) -> Carrier | None:
        """The engine of a start; None for our kernel, which also answers that an instance has begun before."""
        if not self._outside or not isinstance(command, StartInstance):
            return None
        if _may_come_again(command):
            if await self._store.load(id) is not None:
                return None
            for each in self._outside.values():
                if await each.has_open_start(id, origin.tenant):
                    return each
        return self._outside.get(self._settings.choose(command.process, origin.tenant))

    # --- asking --------------------------------------------------------------------------------------------------

    async def ask(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Answer:
        for _ in range(MAX_LOOKS):
            name = await self._carriers.of(id)
            outside = self._outside.get(name)
            if name and outside is None:
                if await self._carriers.look(id) != name:
                    continue  # another process has moved it
                await self._check_ended(id, origin, name)
            try:
                if outside is not None:
                    return await outside.commands.ask(kind, id, origin, prepare)
                return await self._kernel.ask(kind, id, origin, prepare)
            except RejectedError as error:
                if not is_elsewhere(error.rejection.fact) or await self._carriers.look(id) == name:
                    raise
        raise InvariantBroken("ask", "instance", id_text(id), f"it was moved {MAX_LOOKS} times meanwhile")

    async def _check_ended(self, id: Id, origin: Origin, name: str) -> None:
        """Refuse what is asked of an instance whose engine this process was opened without, unless it has ended."""
        if (await self._kernel.read(id, origin)).state.status in ENDED:
            return
        fact = f"the engine '{name}' carries it, and this process was opened with no engine of that name"
        hint = f"Name it as '{name}' under 'engines' in perdure.yaml, as it was when the instance began."
        raise RejectedError(Rejection("wrong_state", "ask", "instance", id_text(id), fact, hint))

    def put(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared, told: Settled) -> None:
        self._spawn(self.ask(kind, id, origin, prepare), told)

    # --- what is under way ---------------------------------------------------------------------------------------

    def _spawn(self, asked: Coroutine[Any, Any, Answer], told: Settled) -> None:
        task = asyncio.create_task(_tell_outcome(asked, told))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait until nothing that was put is under way."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def stop(self) -> None:
        """The same, a bounded time; dispatches that are left are sent again by whoever opens the store next."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
            for each in late:
                each.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def _may_come_again(command: StartInstance) -> bool:
    """Whether a start is named by what asked for it; any other has an id that nobody else can know."""
    return bool(command.idempotency_key or command.parent or command.message_id or command.start)


async def _tell_outcome(asked: Coroutine[Any, Any, Answer], told: Settled) -> None:
    """Call back with the answer, or with the error in its place."""
    try:
        answer: Answer | BaseException = await asked
    except (Exception, asyncio.CancelledError) as error:
        answer = error
    told(answer)
