"""Dispatch rows: what is about to be asked of Camunda is kept until our journal has the decision that goes with it.

A row is named by the instance and the number of the dispatch, so that one is in flight at a time, whichever process
sends it: a second one of the same number meets the row of the first.
"""

from __future__ import annotations

import msgspec

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.commands import Command
from perdure.engines.camunda.key_rows import KeyRows
from perdure.engines.camunda.wire import Request
from perdure.engines.embedded.ports import EngineStore
from perdure.journal import Origin, SourcePosition
from perdure.kernel.kernel import Kernel
from perdure.kernel.ports import PENDING, Attachments, InboxRow, Unit
from perdure.sources import Id, Sources, id_text

DISPATCH = "camunda_dispatch"
"""The kind of the inbox rows."""
PAGE = 64


class Staged(msgspec.Struct, frozen=True):
    """A dispatch row's body: the same requests are sent however often it is sent."""

    instance: bytes
    number: int
    origin: Origin
    command: Command
    brought: Attachments
    requests: tuple[Request, ...] = ()
    worker: int = 0
    """The lease of the process that sends it: while that is alive, nobody else does."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Staged).decode


class DispatchRows:
    """Written before a dispatch is sent, settled with its decision; what a decision brings is in its row until then."""

    def __init__(self, store: EngineStore, kernel: Kernel, keys: KeyRows, sources: Sources) -> None:
        self._keys = keys
        self._store = store
        self._kernel = kernel
        self._sources = sources
        self._last: dict[Id, int] = {}

    def name(self, id: Id, number: int) -> str:
        return self._keys.name(f"dispatch/{id_text(id)}/{number}")

    def move_name(self, id: Id, run: str) -> str:
        """The name of what begins an instance that was moved here."""
        return self.name(id, 0) + f"/{run}"

    def source(self, number: int) -> SourcePosition:
        """The place of a decision that a dispatch led to; facts from the log of a partition have that one's."""
        return SourcePosition(self._keys.engine, 0, number)

    async def next_number(self, id: Id, tenant: str) -> int:
        """The number of the next dispatch of an instance: one more than the last that its journal or a row tells of."""
        if id not in self._last:
            self._last[id] = await self._looked_up(id, tenant)
        return self._last[id] + 1

    def forget(self, id: Id) -> None:
        self._last.pop(id, None)

    def done(self, id: Id, number: int) -> None:
        """A dispatch is over: the next one has the next number."""
        self._last[id] = max(number, self._last.get(id, 0))

    async def _looked_up(self, id: Id, tenant: str) -> int:
        stored = await self._store.load(id)
        version, records = stored.version if stored is not None else 0, self._kernel.machine(INSTANCE).records
        highest = 0
        while version > 0 and not highest:
            after = max(0, version - PAGE)
            for row in await self._store.records(id, after, version - after):
                source = records.decode(row.body).source
                if source is not None and source.partition == 0:
                    highest = max(highest, source.position)
            version = after
        while (known := await self._store.message(tenant, self.name(id, highest + 1))) is not None:
            if known.status == PENDING:
                break
            highest += 1  # it led to nothing, and its number is used
        return highest

    def row(self, name: str, staged: Staged) -> InboxRow:
        now, letters = self._sources.now(), id_text(Id(staged.instance))
        return InboxRow(staged.origin.tenant, name, DISPATCH, letters, now, PENDING, "", None, _encode(staged))

    async def write(self, staged: Staged, head: str = "") -> bool:
        """Keep a dispatch; False when another of its number was kept before."""
        tenant, now, id = staged.origin.tenant, self._sources.now(), Id(staged.instance)
        attached = [Attachments(inbox=self.row(self.name(id, staged.number), staged))]
        if head:
            attached.append(Attachments(inbox=self._keys.row(f"head/{head}", id_text(id), now)))
        return await self._store.commit(Unit(tenant, None, attachments=attached, at=now)) is None

    async def read(self, tenant: str, name: str) -> Staged | None:
        """A dispatch that is still open."""
        message = await self._store.message(tenant, name)
        if message is None or message.status != PENDING or message.body is None:
            return None
        return _decode(message.body)

    async def next_open(self, tenant: str, id: Id) -> Staged | None:
        """The open dispatch of an instance, whichever process keeps it, and however many others it has sent since."""
        while True:
            number = await self.next_number(id, tenant)
            message = await self._store.message(tenant, self.name(id, number))
            if message is None:
                return None
            if message.status == PENDING:
                return await self.read(tenant, self.name(id, number))
            self.done(id, number)

    async def is_open(self, tenant: str, name: str) -> bool:
        message = await self._store.message(tenant, name)
        return message is not None and message.status == PENDING

    async def drop(self, tenant: str, id: Id, number: int) -> None:
        """Settle a dispatch that led to nothing."""
        await self.settle(tenant, self.name(id, number))
        self.done(id, number)

    async def settle(self, tenant: str, name: str) -> None:
        settles = Attachments(dispatched=(tenant, name))
        await self._store.commit(Unit(tenant, None, attachments=[settles], at=self._sources.now()))
