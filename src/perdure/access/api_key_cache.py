"""The cache of API keys by tenant: keys shown lately are recognised from memory, never older than a moment."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from hmac import compare_digest

import msgspec
from msgspec.structs import replace

from perdure.access.api_key_state import AccessState, Key
from perdure.access.api_key_text import key_digest, read_key
from perdure.access.machine import AccessMachine, KeyCreated, KeyRevoked, SessionEnded, access_id
from perdure.access.principal import Principal
from perdure.access.signed_tokens import Session
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel
from perdure.sources import SECOND, Micros, Sources

FRESH: Micros = SECOND // 2
"""For how long what was read is believed; what another process revoked opens nothing within a second."""
JUST_NOW: Micros = SECOND // 100
"""The same for a key that does not fit: it may have been made elsewhere a moment ago. Guessing reads no more often."""
TENANTS = 1024


class Known(msgspec.Struct, frozen=True):
    """A key, and whom it stands for."""

    key: Key
    principal: Principal


class Ring(msgspec.Struct, frozen=True):
    """A tenant's keys as they were read at a moment."""

    read_at: Micros
    keys: dict[str, Known]
    version: int = 0
    ended: frozenset[str] = frozenset()
    """Sessions that somebody signed out of."""
    ended_before: Micros = 0


class KeyRing:
    """One per process. Tells whose key a text is, for whatever tenant."""

    def __init__(self, kernel: Kernel, sources: Sources) -> None:
        self._kernel = kernel
        self._sources = sources
        self._rings: OrderedDict[str, Ring] = OrderedDict()
        self._reading: dict[str, asyncio.Task[Ring]] = {}
        kernel.hear((KeyCreated, KeyRevoked, SessionEnded), self._changed)

    async def authenticate(self, text: str) -> Principal | None:
        """Whose key it is; None when it is no key, or one that is unknown, expired or revoked."""
        name = read_key(text)
        if name is None:
            return None
        digest = key_digest(text)
        known = _fitting(await self._ring(name.tenant), name.id, digest)
        if known is None:
            known = _fitting(await self._ring(name.tenant, JUST_NOW), name.id, digest)
        return known.principal if known is not None and known.key.is_good(self._sources.now()) else None

    async def find(self, tenant: str, id: str) -> Principal | None:
        """Whom a key stands for, when it is still good: for those who showed it before, as sessions did."""
        known = (await self._ring(tenant)).keys.get(id)
        return known.principal if known is not None and known.key.is_good(self._sources.now()) else None

    async def granted(self, tenant: str, id: str) -> Principal | None:
        """Whom a key stands or stood for, with what it was made for; for work that it began, however long ago."""
        known = (await self._ring(tenant)).keys.get(id)
        return known.principal if known is not None else None

    async def granted_to(self, tenant: str, principal: str) -> list[Principal]:
        """What the good keys of a principal are made for."""
        now, known = self._sources.now(), (await self._ring(tenant)).keys.values()
        return [each.principal for each in known if each.principal.name == principal and each.key.is_good(now)]

    async def has_keys(self, tenant: str) -> bool:
        """Whether any key of a tenant opens something."""
        now = self._sources.now()
        return any(known.key.is_good(now) for known in (await self._ring(tenant)).keys.values())

    async def has_ended(self, session: Session) -> bool:
        """Whether somebody signed out of a session, here or at another server."""
        ring = await self._ring(session.principal.tenant)
        return session.id in ring.ended or session.signed_in_at <= ring.ended_before

    async def _ring(self, tenant: str, fresh: Micros = FRESH) -> Ring:
        ring = self._rings.get(tenant)
        if ring is not None and 0 <= self._sources.now() - ring.read_at < fresh:
            return ring
        reading = self._reading.get(tenant)
        if reading is None:
            reading = self._reading[tenant] = asyncio.ensure_future(self._read(tenant))
            reading.add_done_callback(lambda done: self._has_read(tenant, done))
        return await asyncio.shield(reading)

    def _has_read(self, tenant: str, done: asyncio.Task[Ring]) -> None:
        self._reading.pop(tenant, None)
        if not done.cancelled():
            done.exception()  # whoever asked may be gone by now, and then nobody else looks at it

    async def _read(self, tenant: str) -> Ring:
        """From the store, once for everyone who asks meanwhile; a tenant that has no keys is remembered as well."""
        now, before = self._sources.now(), self._rings.get(tenant)
        try:
            aggregate = await self._kernel.read(access_id(tenant), Origin(tenant), keeps=True)
        except RejectedError:
            ring = Ring(now, {})
        else:
            ring = _ring_of(aggregate, now, before)
        changed = self._rings.get(tenant)
        # What this process committed while it was being read is newer than what was read.
        return self._keep(tenant, ring) if changed is None or changed is before else changed

    def _keep(self, tenant: str, ring: Ring) -> Ring:
        self._rings[tenant] = ring
        self._rings.move_to_end(tenant)
        if len(self._rings) > TENANTS:
            self._rings.popitem(last=False)
        return ring

    def _changed(self, aggregate: Aggregate, entry: KeyCreated | KeyRevoked | SessionEnded) -> None:
        """What this process did holds at once."""
        self._keep(aggregate.tenant, _ring_of(aggregate, self._sources.now(), None))


def _fitting(ring: Ring, id: str, digest: bytes) -> Known | None:
    """The key with that digest; an unknown one takes as long as a known one, however much of a digest fits."""
    known = ring.keys.get(id)
    fits = compare_digest(known.key.digest if known is not None else b"", digest)
    return known if fits else None


def _ring_of(aggregate: Aggregate, now: Micros, before: Ring | None) -> Ring:
    if before is not None and before.version == aggregate.version:
        return replace(before, read_at=now)
    if aggregate.kind != AccessMachine.kind:
        return Ring(now, {})
    state: AccessState = aggregate.state
    keys = {key.id: Known(key, key.principal(aggregate.tenant)) for key in state.keys}
    return Ring(now, keys, aggregate.version, frozenset(each.id for each in state.ended), state.ended_before)
