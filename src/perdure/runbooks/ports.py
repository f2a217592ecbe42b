"""What runbooks need of a store besides committing units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from perdure.kernel.ports import Conflict, Found, RecordRow, Unit
from perdure.sources import Id, Micros
from perdure.work.ports import JobFound


class ParkedFound(NamedTuple):
    """A waiting token in a list; `number` is the place to go on from."""

    aggregate: Id
    step: int
    token: int
    name: str
    key: str
    number: int


class Message(NamedTuple):
    """A row of the inbox."""

    message_id: str
    kind: str
    key: str
    received_at: int
    status: int
    answer: str
    aggregate: bytes | None
    body: bytes | None


class DeadLetter(NamedTuple):
    """A message nobody could take."""

    message_id: str
    kind: str
    key: str
    received_at: int
    answer: str
    body: bytes | None


class RunbookStore(Protocol):
    """Checked reads, and commits of what concerns no aggregate."""

    async def commit(self, unit: Unit) -> Conflict | None: ...
    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None: ...
    async def records(self, aggregate: Id, after: int = 0, most: int = 1000) -> list[RecordRow]: ...
    async def find_tokens(self, tenant: str, key: str) -> Sequence[Found]: ...
    async def parked(self, tenant: str, after: int, most: int) -> list[ParkedFound]: ...
    async def parked_by_definition(self, definition: int, after: int, most: int) -> list[tuple[Id, int, str, int]]: ...
    async def incidents(self, tenant: str, most: int) -> list[tuple[Id, int, str, int]]: ...
    async def open_jobs(self, most: int) -> list[JobFound]: ...
    async def pending_messages(self, after: int, most: int) -> list[tuple[int, str, str, str, Id]]: ...
    async def dead_letters(self, tenant: str, most: int) -> list[DeadLetter]: ...
    async def message(self, tenant: str, message_id: str) -> Message | None: ...
    async def discard_message(self, tenant: str, message_id: str, answer: str) -> bool: ...
    async def idempotent_start(self, tenant: str, key: str) -> tuple[Id, bytes] | None: ...
    async def find(self, tenant: str, verb: str, field: str, value: str, most: int) -> list[Id]: ...
    async def ended(self, before: Micros, most: int) -> list[tuple[Id, str]]: ...
    async def unserved(self) -> list[int]: ...
    async def serve(self, worker: int, definitions: list[int]) -> None: ...
    async def jobs_by_definition(self, definition: int, most: int) -> list[tuple[Id, int, str]]: ...
    async def incidents_by_code(self, code: str, most: int) -> list[tuple[Id, int, str, str]]: ...
    async def add_definition(self, hash: bytes, short: int, name: str, version: int, body: bytes) -> None: ...
    async def definitions(self) -> list[tuple[Any, ...]]: ...
