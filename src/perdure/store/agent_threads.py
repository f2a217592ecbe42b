"""Threads of graphs: states of agents under way. No fact: no journal tells of them, and each row has a checksum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from perdure.errors import FencedError, PayloadIntegrityError
from perdure.payload import digest
from perdure.sources import Micros
from perdure.store.ports import Driver, Row
from perdure.work.agents.ports import GraphThread, Progress, StoredCheckpoint, StoredWrite, ThreadRun

LAST = "\x7f"
"""Greater than the id of every state."""


class AgentThreads:
    """Of one store, for all tenants."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def claim(self, thread: GraphThread, attempt: int, now: Micros) -> ThreadRun:
        rows = await self._driver.write(
            "claim_agent_thread", tenant=thread.tenant, thread=thread.name, owner=thread.owner, attempt=attempt,
            nothing=b"", now=now,
        )  # fmt: skip
        run, last, used = rows[0]
        return ThreadRun(run, last, bytes(used))

    async def read(self, thread: GraphThread, space: str, id: str = "") -> StoredCheckpoint | None:
        where = {**_key(thread), "space": space}
        if id:
            rows = await self._driver.fetch("read_agent_checkpoint", **where, checkpoint=id)
        else:
            rows = await self._driver.fetch("newest_agent_checkpoint", **where)
        return _checkpoint(thread, rows[0]) if rows else None

    async def before(self, thread: GraphThread, space: str, id: str, most: int) -> list[StoredCheckpoint]:
        rows = await self._driver.fetch(
            "list_agent_checkpoints", **_key(thread), space=space, before=id or LAST, most=most
        )
        return [_checkpoint(thread, row) for row in rows]

    async def writes(self, thread: GraphThread, space: str, id: str) -> list[StoredWrite]:
        rows = await self._driver.fetch("read_agent_writes", **_key(thread), space=space, checkpoint=id)
        return [_write(thread, row) for row in rows]

    async def put(
        self, thread: GraphThread, space: str, checkpoint: StoredCheckpoint, progress: Progress, *, prunes: bool
    ) -> None:
        key = {**_key(thread), "run": progress.run}
        place = {**key, "space": space, "checkpoint": checkpoint.id}
        values = {
            "parent": checkpoint.parent, "kind": checkpoint.kind, "body": checkpoint.body,
            "metadata_kind": checkpoint.metadata_kind, "metadata": checkpoint.metadata, "checksum": _sum(checkpoint),
        }  # fmt: skip
        statements: list[tuple[str, dict[str, Any]]] = [("put_agent_checkpoint", {**place, **values})]
        if prunes:
            statements += [("prune_agent_checkpoints", place), ("prune_agent_writes", place)]
        await self._commit(thread, progress, statements)

    async def put_writes(
        self, thread: GraphThread, space: str, id: str, writes: Sequence[StoredWrite], progress: Progress
    ) -> None:
        key = {**_key(thread), "run": progress.run, "space": space, "checkpoint": id}
        await self._commit(
            thread, progress,
            [("put_agent_write", {**key, **each._asdict(), "checksum": _sum(each)}) for each in writes],
        )  # fmt: skip

    async def _commit(
        self, thread: GraphThread, progress: Progress, statements: list[tuple[str, dict[str, Any]]]
    ) -> None:
        told = {**_key(thread), "run": progress.run, "attempt": progress.attempt, "used": progress.used}
        found = await self._driver.write_all([("touch_agent_thread", {**told, "now": progress.at}), *statements])
        if not found[0]:
            raise FencedError("write a state of", "graph", thread.name, "another run of it has begun")

    async def size(self, thread: GraphThread) -> int:
        return int((await self._driver.fetch("size_of_agent_thread", **_key(thread)))[0][0])

    async def forget(self, thread: GraphThread) -> None:
        await self._driver.write_all([
            ("forget_agent_checkpoints", _key(thread)), ("forget_agent_writes", _key(thread))
        ])  # fmt: skip


def _key(thread: GraphThread) -> dict[str, str]:
    return {"tenant": thread.tenant, "thread": thread.name}


def _sum(row: StoredCheckpoint | StoredWrite) -> bytes:
    return digest(msgspec.msgpack.encode(row))


def _checkpoint(thread: GraphThread, row: Row) -> StoredCheckpoint:
    id, parent, kind, body, metadata_kind, metadata, checksum = row
    found = StoredCheckpoint(id, parent, kind, bytes(body), metadata_kind, bytes(metadata))
    _check(thread, found, bytes(checksum))
    return found


def _write(thread: GraphThread, row: Row) -> StoredWrite:
    task, place, path, channel, kind, body, checksum = row
    found = StoredWrite(task, int(place), path, channel, kind, bytes(body))
    _check(thread, found, bytes(checksum))
    return found


def _check(thread: GraphThread, row: StoredCheckpoint | StoredWrite, checksum: bytes) -> None:
    if _sum(row) != checksum:
        hint = "Restore the store from a backup, or let the step begin anew."
        raise PayloadIntegrityError(
            "go on with", "graph", thread.name, "a stored state of it is not what was written", hint
        )
