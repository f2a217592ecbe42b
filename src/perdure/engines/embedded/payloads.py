"""Payloads of instances: packed when they go out, checked when they come back, recent ones kept at hand."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Protocol

from perdure.engines.embedded.merging import Change, changed
from perdure.errors import RejectedError, Rejection
from perdure.payload import BUDGET_BYTES, Envelope, Packed, digest, digest_text, pack_and_keep, pack_change, unpack
from perdure.sources import Id, id_text, iso
from perdure.verbs import Verb

MAX_HELD_BYTES = 16 * 1024 * 1024
MAX_EACH = 256
"""Of one instance: one that goes on for long needs what it wrote last, not all it ever wrote."""
NO_SCHEMA = digest_text(digest(b"{}"))

Sealed = tuple[bytes, bytes]
"""A payload as it is stored: the hash of its bytes, and they."""


class PayloadStore(Protocol):
    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None: ...


class MissingPayload(Exception):
    """A payload that is not in memory: to be loaded, and what needed it prepared again."""

    def __init__(self, hash: bytes) -> None:
        super().__init__(hash.hex())
        self.hash = hash


class Payloads:
    """Of one process. Content under a hash never changes, so what is held is as good as what is stored."""

    def __init__(self, store: PayloadStore) -> None:
        self._store = store
        self._held: OrderedDict[bytes, dict[bytes, tuple[Envelope, int]]] = OrderedDict()
        self._size = 0

    def find(self, instance: bytes, hash: bytes) -> Envelope | None:
        """What is in memory."""
        own = self._held.get(instance)
        found = own.get(hash) if own is not None else None
        return found[0] if found is not None else None

    def held(self, instance: bytes, hash: bytes) -> Envelope:
        """What is in memory, or MissingPayload."""
        own = self._held.get(instance)
        found = own.get(hash) if own is not None else None
        if found is None:
            raise MissingPayload(hash)
        return found[0]

    async def open(self, instance: Id, hash: bytes) -> Envelope:
        """A payload of an instance, every byte of it checked against its hash."""
        held = self.find(instance, hash)
        if held is not None:
            return held
        data = await self._store.payload(instance, hash)
        if data is None:
            fact = f"its payload {digest_text(hash)} has been erased"
            raise RejectedError(Rejection("wrong_state", "read", "instance", id_text(instance), fact))
        packed = Packed(data.decode("utf-8", "surrogateescape"), digest_text(hash))
        envelope = unpack(packed, max_bytes=max(len(data), BUDGET_BYTES))
        self._hold(instance, hash, len(data), envelope)
        return envelope

    async def arrived(self, instance: Id, hash: bytes) -> Any:
        """What a message or task brought, as it was kept for its intake."""
        return (await self.open(instance, hash)).data

    def seal(self, instance: bytes, envelope: Envelope, budget: int = BUDGET_BYTES) -> Sealed:
        """The envelope packed and hashed; kept at hand, as it is about to be the head."""
        return self._keep(instance, *pack_and_keep(envelope, max_bytes=budget))

    def seal_change(self, instance: bytes, head: bytes, change: Change, budget: int = BUDGET_BYTES) -> Sealed:
        """The same for the payload that a change makes of the head."""
        before = self.held(instance, head)
        at, by, key, verb = change.at, change.by, change.key, change.verb
        data = changed(before, change)
        return self._keep(instance, *pack_change(before, data, at=at, by=by, job_key=key, verb=verb, max_bytes=budget))

    def _keep(self, instance: bytes, written: bytes, kept: Envelope) -> Sealed:
        hash = digest(written)
        self._hold(instance, hash, len(written), kept)
        return hash, written

    def forget(self, instance: bytes) -> None:
        """Nothing of the instance stays in memory: it was erased, or has ended and nobody looks at it."""
        self._drop(self._held.pop(instance, None))

    def _hold(self, instance: bytes, hash: bytes, size: int, envelope: Envelope) -> None:
        own = self._held.get(instance)
        if own is None:
            own = self._held[instance] = {}
        elif hash in own:
            return
        else:
            self._held.move_to_end(instance)
            if len(own) >= MAX_EACH:
                self._size -= own.pop(next(iter(own)))[1]
        own[hash] = (envelope, size)
        self._size += size
        while self._size > MAX_HELD_BYTES:
            self._drop(self._held.popitem(last=False)[1])

    def _drop(self, own: dict[bytes, tuple[Envelope, int]] | None) -> None:
        for _, size in own.values() if own is not None else ():
            self._size -= size


def first_envelope(process: str, version: int, verb: Verb | None, data: Any, at: int) -> Envelope:
    """The payload an instance begins with, under the schema of the verb that it carries."""
    name, number = (verb.name, verb.version) if verb is not None else (process, version)
    return Envelope(
        created_at=iso(at) or "", data=data, last_modified_by=name, schema=f"{name}/v{number}",
        schema_digest=verb.input.digest if verb is not None else NO_SCHEMA,
    )  # fmt: skip


def budget_of(verb: Verb | None) -> int:
    return verb.execution.max_bytes if verb is not None else BUDGET_BYTES
