"""Dispatch rows: a command that brings something is kept in our inbox until the commit that appends its decision."""

from __future__ import annotations

import msgspec

from perdure.bpmn.machine.commands import Command
from perdure.engine.bridge_rows import beginning
from perdure.engines.embedded.ports import EngineStore
from perdure.journal import Origin
from perdure.kernel.ports import PENDING, Attachments, Conflict, InboxRow, Unit
from perdure.sources import Id, Sources, id_text

DISPATCH = "dispatch"
"""The kind of the inbox rows."""


class Staged(msgspec.Struct, frozen=True):
    """A dispatch row's body."""

    instance: bytes
    expected: int
    origin: Origin
    command: Command
    brought: Attachments
    definition: bytes = b""
    """The hash of the definition that the command leads to; empty where it leads to none."""
    worker: int = 0
    """The lease of the process that sends it; others leave it alone as long as that lives."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Staged).decode


class DispatchRows:
    """Written before a dispatch is sent, settled with its decision; the rows of each engine have names of their own."""

    def __init__(self, store: EngineStore, sources: Sources, engine: str) -> None:
        self._store = store
        self._sources = sources
        self.begins = beginning("temporal", engine)

    def name(self, id: Id) -> str:
        return f"{self.begins}/{id_text(id)}/{id_text(self._sources.new_id())}"

    def start_name(self, id: Id) -> str:
        """The dispatch of an instance's start: the same whoever starts it."""
        return f"{self.begins}/{id_text(id)}/start"

    def move_name(self, id: Id, run: str) -> str:
        """The dispatch that begins the workflow of an instance that was moved."""
        return f"{self.begins}/{id_text(id)}/move-{run}"

    async def write(self, name: str, staged: Staged) -> Conflict | None:
        """Keep a dispatch with all it brings."""
        row = self.row(name, staged)
        return await self._store.commit(
            Unit(staged.origin.tenant, None, attachments=[Attachments(inbox=row)], at=row.received_at)
        )

    def row(self, name: str, staged: Staged) -> InboxRow:
        """The row of a dispatch that is committed with something else."""
        tenant, now = staged.origin.tenant, self._sources.now()
        return InboxRow(tenant, name, DISPATCH, id_text(Id(staged.instance)), now, PENDING, "", None, _encode(staged))

    async def read(self, tenant: str, name: str) -> Staged | None:
        """A dispatch that is still open."""
        message = await self._store.message(tenant, name)
        if message is None or message.status != PENDING or message.body is None:
            return None
        return _decode(message.body)

    async def is_driven(self, staged: Staged) -> bool:
        """Whether a notice that is still open sends the dispatch again, by the policy of its step."""
        if staged.brought.settles is None:
            return False
        notice = await self._store.message(*staged.brought.settles)
        return notice is not None and notice.status == PENDING

    async def is_given_up(self, staged: Staged) -> bool:
        """Whether the notice that asked for a start was settled before the start was answered."""
        return staged.brought.settles is not None and not await self.is_driven(staged)

    async def is_open(self, tenant: str, name: str) -> bool:
        message = await self._store.message(tenant, name)
        return message is not None and message.status == PENDING

    async def drop(self, tenant: str, name: str) -> None:
        """Settle a dispatch that led to nothing."""
        unit = Unit(tenant, None, attachments=[Attachments(dispatched=(tenant, name))], at=self._sources.now())
        await self._store.commit(unit)
