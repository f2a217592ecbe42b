"""Erasure of what an id names, and of everything that it began: what is erased is gone wherever it was handed on.

| erased | goes with it |
|---|---|
| a call or a runbook | instances that carried its steps, calls of its escalations, deliveries of its requests |
| an instance | the instances that it called |
| a lifecycle | the calls of its tasks, and the deliveries of their requests |
| a document | its blobs |

The data of the named one go first. What it began and runs on is cancelled. Interrupted or refused, the erasure goes on
where it stopped when it is asked for again, and the audit names what is left. What was just being begun is erased with
the notice by which it learns that nobody waits for it any more.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from perdure.app.documents.request_delivery import delivery_id
from perdure.app.documents.requests import SOLICIT, request_ids
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.lifecycles.instances import KIND as LIFECYCLE
from perdure.lifecycles.machine.entries import TaskRequested
from perdure.lifecycles.recovery import call_id
from perdure.payload import digest_text
from perdure.runbooks.machine.commands import Cancel
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import Id, id_text, parse_id

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

BECAUSE = "what began it was erased"
SMALL_CHAIN = 200
"""Records that are replayed at once; more are replayed beside the loop."""


class Erasure:
    """Erases on behalf of one principal."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin
        self._kernel = runtime.kernel

    async def erase(self, id: Id, reason: str) -> None:
        """Erase what has ended, and whatever it began; a rejection when it runs."""
        aggregate = await self._kernel.read(id, self._origin)
        if aggregate.kind == INSTANCE:
            await self._runtime.engine.erase(id_text(id), self._origin, reason)
        else:
            await self._runtime.upkeep.erase(id, self._origin, reason)
        for child in await self._begun_by(aggregate):
            await self._erase_begun(child, reason)

    async def complete(self, id: Id) -> bool:
        """Erase what an erased one began while it was being erased; false while something of it is still ending."""
        try:
            await self.erase(id, BECAUSE)
        except RejectedError:
            return False
        return True

    async def _erase_begun(self, id: Id, reason: str) -> None:
        try:
            aggregate = await self._kernel.read(id, self._origin)
        except RejectedError as error:
            if error.rejection.code == "not_found":
                return  # it never began
            raise
        if not aggregate.state.ended_at:
            await self._cancel(aggregate)
        await self.erase(id, reason)

    async def _cancel(self, aggregate: Aggregate) -> None:
        if aggregate.kind == INSTANCE:
            await self._runtime.engine.cancel(id_text(aggregate.id), self._origin, reason=BECAUSE)
        else:
            await self._kernel.ask(RunbookMachine.kind, aggregate.id, self._origin, Prepared(Cancel(BECAUSE)))

    async def _begun_by(self, aggregate: Aggregate) -> list[Id]:
        if aggregate.kind == LIFECYCLE:
            return await self._asked_by(aggregate)
        if aggregate.kind not in (INSTANCE, RunbookMachine.kind):
            return []
        found = await self._replayed(aggregate)
        return found + (await self._delivered_for(aggregate) if aggregate.kind == RunbookMachine.kind else [])

    async def _replayed(self, aggregate: Aggregate) -> list[Id]:
        """Those that its journal tells it began."""
        # What composes exports is large, and most commands need none of it.
        from perdure.app.compliance_export.child_instances import children_of  # noqa: PLC0415
        from perdure.app.compliance_export.document import Chain, RecordKept  # noqa: PLC0415
        from perdure.app.compliance_export.journal_replay import ChainReplay  # noqa: PLC0415

        records = [
            RecordKept(sequence=each.sequence, body=base64.b64encode(each.body).decode(), hash=digest_text(each.hash))
            async for each in self._runtime.store.history(aggregate)
        ]
        chain = Chain(
            id=id_text(aggregate.id), tenant=aggregate.tenant, kind=aggregate.kind, records=records, payloads=[],
            seals=[],
        )  # fmt: skip
        return await self._runtime.computations.run(
            aggregate.tenant,
            lambda: [parse_id(each.id) for each in children_of(ChainReplay(chain))],
            is_small=len(records) <= SMALL_CHAIN,
        )

    async def _asked_by(self, aggregate: Aggregate) -> list[Id]:
        """The calls of a lifecycle's tasks, and the deliveries of what they asked for."""
        codec, found = self._runtime.machines[LIFECYCLE].records, list[Id]()
        async for row in self._runtime.store.history(aggregate):
            for entry in codec.decode(row.body).entries:
                if isinstance(entry, TaskRequested):
                    found.append(call_id(entry.correlation_id, entry.at, aggregate.tenant))
                    found.append(delivery_id(aggregate.tenant, entry.at, entry.correlation_id))
        return found

    async def _delivered_for(self, aggregate: Aggregate) -> list[Id]:
        """The deliveries of what the steps of a call asked for: one for each time it was asked."""
        found = list[Id]()
        for number, step in enumerate(aggregate.state.steps, 1):
            if step.verb != SOLICIT:
                continue
            for name in request_ids(aggregate.id, number):
                id = delivery_id(aggregate.tenant, aggregate.state.started_at, name)
                if not await self._is_there(id):
                    break
                found.append(id)
        return found

    async def _is_there(self, id: Id) -> bool:
        try:
            await self._kernel.read(id, self._origin)
        except RejectedError:
            return False
        return True


async def complete_erasure(runtime: Runtime, id: Id, origin: Origin) -> bool:
    """On behalf of the platform, for whoever finds that something began too late to be erased."""
    return await Erasure(runtime, origin).complete(id)
