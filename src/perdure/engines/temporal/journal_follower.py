"""The journal follower: decisions of a workflow join our journal in order, each once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.engines.decided_elsewhere import rebased, without_rows
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import InstanceCarriers
from perdure.engines.temporal.dispatch_rows import DispatchRows
from perdure.engines.temporal.wire import Made
from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.journal import Origin, SourcePosition
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.kernel.ports import Attachments
from perdure.sources import Id, id_text

MAX_REBASED = 64
FOREIGN = "another engine decides it"
Known = Callable[[Aggregate, Any], None]

log = logging.getLogger("perdure")


class JournalFollower:
    """One per process."""

    def __init__(
        self, kernel: Kernel, store: EngineStore, rows: DispatchRows, carriers: InstanceCarriers, engine: str
    ) -> None:
        self._carriers = carriers
        self._engine = engine
        self._kernel = kernel
        self._store = store
        self._rows = rows
        self._records = kernel.machine(INSTANCE).records
        self._turns: WeakValueDictionary[Id, asyncio.Lock] = WeakValueDictionary()
        self.on_known: list[Known] = []
        """Told of entries that another process appended first."""

    async def version(self, id: Id) -> int:
        """How far our journal has come; 0 without a record of the instance."""
        stored = await self._store.load(id)
        return stored.version if stored is not None else 0

    async def append(self, id: Id, made: Sequence[Made], *, takes_given_up: bool = False) -> int:
        """Append the decisions that are not there, and answer how far our journal has come.

        An instance whose step gave up on it is taken only with its cancellation.
        """
        async with self._turns.setdefault(id, asyncio.Lock()):
            version = await self.version(id)
            for each in made:
                if each.sequence > version + 1:
                    fact = f"its journal has come to {version}, and the next decision is {each.sequence}"
                    raise InvariantBroken("append to", "instance", id_text(id), fact)
                if each.sequence == version + 1:
                    if not version and not takes_given_up:
                        await self._refuse_given_up(id, each)
                    if version and await self._carriers.is_of_another(id, self._engine):
                        raise RejectedError(Rejection("wrong_state", "append to", "instance", id_text(id), FOREIGN))
                    await self._append(id, each)
                    version = each.sequence
            return version

    async def _refuse_given_up(self, id: Id, made: Made) -> None:
        """A start whose notice was settled before it was answered: its step has ended, and no job of it may run."""
        staged = await self._rows.read(made.origin.tenant, made.dispatch) if made.dispatch else None
        if staged is not None and await self._rows.is_given_up(staged):
            fact = "its step has ended meanwhile; it is cancelled"
            raise RejectedError(Rejection("wrong_state", "begin", "instance", id_text(id), fact))

    async def _append(self, id: Id, made: Made) -> None:
        entries = self._records.decode(made.record).entries
        tenant = made.origin.tenant
        staged = await self._rows.read(tenant, made.dispatch) if made.dispatch else None
        brought = None
        if staged is not None:
            brought = staged.brought if made.keeps else (staged.brought.arrival() or Attachments())
            brought.dispatched = (tenant, made.dispatch)
        answer = await self._put(id, made.origin, entries, made, brought)
        for _ in range(MAX_REBASED):
            if answer.conflict is None or brought is None:
                break
            if answer.conflict.what == "entity":
                # Another commit was faster than the decision, which cannot be taken back.
                log.warning(
                    "the record '%s' was changed while instance %s changed it", answer.conflict.key, id_text(id)
                )
                brought.entities = await rebased(self._store, tenant, brought.entities)
            else:
                brought = without_rows(brought)
            answer = await self._put(id, made.origin, entries, made, brought)
        if answer.conflict is not None:
            fact = f"decision {made.sequence} meets '{answer.conflict.key}' ({answer.conflict.what})"
            raise InvariantBroken("append to", "instance", id_text(id), fact)
        if answer.answer == "known" and answer.aggregate is not None:
            for told in self.on_known:
                told(answer.aggregate, entries)

    async def _put(
        self, id: Id, origin: Origin, entries: Sequence[Any], made: Made, brought: Attachments | None
    ) -> Any:
        source = SourcePosition(self._engine, 0, made.sequence)
        begins = made.sequence == 1
        return await self._kernel.append(INSTANCE, id, origin, entries, source, made.at, brought, begins=begins)
