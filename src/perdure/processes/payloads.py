"""Payloads of instances: packed when they go out, checked when they come back, recent ones kept at hand."""

from __future__ import annotations

from collections import OrderedDict
from operator import attrgetter
from typing import Any, Protocol

from msgspec.structs import replace

from perdure.errors import RejectedError, Rejection
from perdure.payload import (
    BUDGET_BYTES,
    MAX_DELTAS,
    Held,
    Packed,
    Sealed,
    digest,
    digest_text,
    encode_delta,
    pack_first,
    unpack_and_keep,
)
from perdure.processes.payload_merge import Change, changed
from perdure.sources import Id, Micros, id_text, iso
from perdure.verbs import Verb

MAX_HELD_BYTES = 16 * 1024 * 1024
MAX_EACH = 256
"""Of one instance: one that goes on for long needs what it wrote last, not all it ever wrote."""
LEAST_EACH = 4
"""Of the one that writes, however large: what a branch began with, the head, what it makes of it, and one to spare."""
NO_SCHEMA = digest_text(digest(b"{}"))
_size_of = attrgetter("size")


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
        self._held: OrderedDict[bytes, dict[bytes, Held]] = OrderedDict()
        self._size = 0

    def find(self, instance: bytes, hash: bytes) -> Held | None:
        """What is in memory."""
        try:
            return self._held[instance][hash]
        except KeyError:
            return None

    def held(self, instance: bytes, hash: bytes) -> Held:
        """What is in memory, or MissingPayload."""
        try:
            return self._held[instance][hash]
        except KeyError:
            raise MissingPayload(hash) from None

    async def open(self, instance: Id, hash: bytes) -> Held:
        """A payload of an instance, every byte of it checked against its hash."""
        held = self.find(instance, hash)
        if held is not None:
            return held
        data = await self._store.payload(instance, hash)
        if data is None:
            fact = f"its payload {digest_text(hash)} has been erased"
            raise RejectedError(Rejection("wrong_state", "read", "instance", id_text(instance), fact))
        packed = Packed(data.decode("utf-8", "surrogateescape"), digest_text(hash))
        held = unpack_and_keep(packed, max_bytes=max(len(data), BUDGET_BYTES))
        held = replace(held, leans=MAX_DELTAS)  # how many it leans on is not known here: the next is stored whole
        self._keep(instance, self._held.setdefault(instance, {}), (hash, data), held)
        return held

    async def arrived(self, instance: Id, hash: bytes) -> Any:
        """What a message or task brought, as it was kept for its intake."""
        return (await self.open(instance, hash)).data

    def seal_first(
        self, instance: bytes, process: str, version: int, verb: Verb | None, data: Any, at: Micros,
        trail_ref: str | None = None,
    ) -> Sealed:  # fmt: skip
        """The payload an instance begins with, under the schema of the verb that it carries; kept at hand."""
        if verb is None:
            name, number, schema_digest, budget = process, version, NO_SCHEMA, BUDGET_BYTES
        else:
            name, number, schema_digest, budget = verb.name, verb.version, verb.input.digest, verb.execution.max_bytes
        sealed, held = pack_first(
            data, created_at=iso(at) or "", by=name, schema=f"{name}/v{number}", schema_digest=schema_digest,
            max_bytes=budget, trail_ref=trail_ref,
        )  # fmt: skip
        return self._keep(instance, self._held.setdefault(instance, {}), sealed, held)

    def seal_change(self, instance: bytes, head: bytes, change: Change, budget: int = BUDGET_BYTES) -> Sealed:
        """The same for the payload that a change makes of the head."""
        try:
            own = self._held[instance]
            before = own[head]
        except KeyError:
            raise MissingPayload(head) from None
        sealed, held = encode_delta(
            head, before, changed(before, change),
            at=change.at, by=change.by, job_key=change.key, verb=change.verb, max_bytes=budget,
        )  # fmt: skip
        return self._keep(instance, own, sealed, held)

    def forget(self, instance: bytes) -> None:
        """Nothing of the instance stays in memory: it was erased, or has ended and nobody looks at it."""
        own = self._held.pop(instance, None)
        if own is not None:
            self._size -= sum(map(_size_of, own.values()))

    def _keep(self, instance: bytes, own: dict[bytes, Held], sealed: Sealed, held: Held) -> Sealed:
        hash = sealed[0]
        if hash not in own:
            self._held.move_to_end(instance)
            if len(own) >= MAX_EACH:
                self._size -= own.pop(next(iter(own))).size
            own[hash] = held
            self._size += held.size
            if self._size > MAX_HELD_BYTES:
                self._make_room(own)
        return sealed

    def _make_room(self, own: dict[bytes, Held]) -> None:
        """Instances that wrote longest ago go first; of the one that writes now, what its branches need stays."""
        while self._size > MAX_HELD_BYTES and len(self._held) > 1:
            self.forget(next(iter(self._held)))
        while self._size > MAX_HELD_BYTES and len(own) > LEAST_EACH:
            self._size -= own.pop(next(iter(own))).size


def budget_of(verb: Verb | None) -> int:
    return verb.execution.max_bytes if verb is not None else BUDGET_BYTES
