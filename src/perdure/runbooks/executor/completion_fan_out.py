"""Fan-out: one completion ends every wait there is under a shared name and key, each once, also when interrupted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.kernel.ports import PENDING, Attachments, Found, InboxRow, Unit
from perdure.payload import canonical, digest
from perdure.runbooks.machine.runbook_machine import SHARED
from perdure.runbooks.machine.state import WAITING
from perdure.runbooks.ports import RunbookStore
from perdure.sources import Sources, id_text
from perdure.verbs import Catalogue, Verb
from perdure.verbs.definition import same_verb_name

FANOUT = "fanout"
PAGE = 200


class Spread(msgspec.Struct, frozen=True):
    """What is kept of a completion until everyone was reached: whose waits are meant, and up to which one."""

    key: str
    body: bytes
    names: tuple[str, ...]
    upto: int


_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(Spread)

Reach = Callable[[bytes, Found, Origin, str], Awaitable[None]]
"""Ends one wait with a completion as it was kept, under a message id of its own."""


class FanOut:
    """A completion is a pending row until everyone was reached; whoever finds it pending goes on with it."""

    def __init__(self, store: RunbookStore, catalogue: Catalogue, sources: Sources, reach: Reach) -> None:
        self._store = store
        self._catalogue = catalogue
        self._sources = sources
        self._reach = reach

    def verbs(self, name: str) -> list[Verb]:
        """Those whose waits are shared, of one name where one is given."""
        shared = [each for each in self._catalogue.every_version() if each.execution.is_shared]
        return [each for each in shared if not name or same_verb_name(each.name) == same_verb_name(name)]

    async def upto(self, names: list[str], key: str, tenant: str) -> int:
        """The wait that opened last; 0 when nobody waits."""
        return max([await self._store.newest_wait(tenant, SHARED, name, key) for name in names], default=0)

    async def has_any(self, names: list[str], key: str, tenant: str, upto: int) -> bool:
        """Whether one still waits of those that began no later than that."""
        for name in names:
            oldest = await self._store.find_waits(tenant, SHARED, name, key, 0, 1)
            if oldest and oldest[0].number <= upto:
                return True
        return False

    async def send(
        self, key: str, body: bytes, names: list[str], upto: int, origin: Origin, message_id: str
    ) -> int | None:
        """Reach everyone who waits now; how many did, None when the message came before."""
        spread = Spread(key, body, tuple(names), upto)
        row = InboxRow(
            origin.tenant, message_id, FANOUT, key, self._sources.now(), PENDING, FANOUT, None, _encode(spread)
        )  # fmt: skip
        if await self._store.commit(Unit(origin.tenant, None, attachments=[Attachments(inbox=row)])) is not None:
            return None
        return await self._go_on(spread, origin, message_id)

    async def go_on(self, tenant: str, message_id: str, kind: str, aggregate: bytes) -> bool:
        """What an interrupted process left."""
        message = await self._store.message(tenant, message_id)
        if message is None or message.body is None:
            return False
        await self._go_on(_decoder.decode(message.body), Origin(tenant, "perdure"), message_id)
        return True

    async def _go_on(self, spread: Spread, origin: Origin, message_id: str) -> int:
        reached = 0
        for name in spread.names:
            after = 0
            while page := await self._store.find_waits(origin.tenant, SHARED, name, spread.key, after, PAGE):
                after = page[-1].number
                for each in page:
                    if each.number <= spread.upto:
                        found = Found(each.aggregate, each.step, each.token, name, WAITING)
                        reached += await self._reached(spread.body, found, origin, message_id)
        await self._store.commit(
            Unit(origin.tenant, None, attachments=[Attachments(settles=(origin.tenant, message_id))])
        )
        return reached

    async def _reached(self, body: bytes, found: Found, origin: Origin, message_id: str) -> bool:
        place = f"{message_id}/{id_text(found.aggregate)}:{found.step}.{found.token}"
        try:
            await self._reach(body, found, origin, place)
        except (QuarantinedError, RejectedError):
            return False  # one that is set aside or stuck does not keep the others waiting
        return True


def derived_id(body: bytes, upto: int) -> str:
    """The same content for the same waits is the same message."""
    return "auto-" + digest(canonical([body.hex(), upto]))[:16].hex()
