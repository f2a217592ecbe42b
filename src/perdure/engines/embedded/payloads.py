"""Payloads of instances: packed when they go out, checked when they come back, recent ones kept at hand."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple, Protocol

from perdure.engines.embedded.merging import Changed
from perdure.errors import RejectedError, Rejection
from perdure.payload import BUDGET_BYTES, Envelope, Packed, digest, digest_text, pack_and_keep, unpack
from perdure.sources import Id, id_text, iso
from perdure.verbs import Verb

MAX_HELD_BYTES = 16 * 1024 * 1024
NO_SCHEMA = digest_text(digest(b"{}"))


class PayloadStore(Protocol):
    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None: ...


class MissingPayload(Exception):
    """A payload that is not in memory: to be loaded, and what needed it prepared again."""

    def __init__(self, hash: bytes) -> None:
        super().__init__(hash.hex())
        self.hash = hash


class Sealed(NamedTuple):
    """A payload as it is stored: its bytes and their hash."""

    hash: bytes
    data: bytes


class Payloads:
    """Of one process. Content under a hash never changes, so what is held is as good as what is stored."""

    def __init__(self, store: PayloadStore) -> None:
        self._store = store
        self._held: OrderedDict[tuple[bytes, bytes], tuple[Envelope, int]] = OrderedDict()
        self._size = 0

    def find(self, instance: bytes, hash: bytes) -> Envelope | None:
        """What is in memory."""
        found = self._held.get((instance, hash))
        return found[0] if found is not None else None

    def held(self, instance: bytes, hash: bytes) -> Envelope:
        """What is in memory, or MissingPayload."""
        found = self.find(instance, hash)
        if found is None:
            raise MissingPayload(hash)
        return found

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
        self._hold(instance, Sealed(hash, data), envelope)
        return envelope

    async def arrived(self, instance: Id, hash: bytes) -> Any:
        """What a message or task brought, as it was kept for its intake."""
        return (await self.open(instance, hash)).data

    def seal(self, instance: bytes, envelope: Envelope, budget: int = BUDGET_BYTES) -> Sealed:
        """The envelope packed and hashed; kept at hand, as it is about to be the head."""
        return self._keep(instance, *pack_and_keep(envelope, max_bytes=budget))

    def seal_change(self, instance: bytes, changed: Changed, budget: int = BUDGET_BYTES) -> Sealed:
        """The same for a payload that was just made of another one."""
        envelope, data, before = changed.envelope, changed.data, changed.before
        return self._keep(instance, *pack_and_keep(envelope, max_bytes=budget, data=data, before=before))

    def _keep(self, instance: bytes, written: bytes, kept: Envelope) -> Sealed:
        sealed = Sealed(digest(written), written)
        self._hold(instance, sealed, kept)
        return sealed

    def forget(self, instance: bytes) -> None:
        """Nothing of what was erased stays in memory."""
        for key in [key for key in self._held if key[0] == instance]:
            self._size -= self._held.pop(key)[1]

    def _hold(self, instance: bytes, sealed: Sealed, envelope: Envelope) -> None:
        key = (instance, sealed.hash)
        if key not in self._held:
            self._held[key] = (envelope, len(sealed.data))
            self._size += len(sealed.data)
            while self._size > MAX_HELD_BYTES:
                self._size -= self._held.popitem(last=False)[1][1]


def first_envelope(process: str, version: int, verb: Verb | None, data: Any, at: int) -> Envelope:
    """The payload an instance begins with, under the schema of the verb that it carries."""
    name, number = (verb.name, verb.version) if verb is not None else (process, version)
    return Envelope(
        created_at=iso(at) or "", data=data, last_modified_by=name, schema=f"{name}/v{number}",
        schema_digest=verb.input.digest if verb is not None else NO_SCHEMA,
    )  # fmt: skip


def budget_of(verb: Verb | None) -> int:
    return verb.execution.max_bytes if verb is not None else BUDGET_BYTES
