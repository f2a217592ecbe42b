"""Commits batches of units on one connection: the gate in one round trip, the writes and COMMIT in a second.

Where every claim of a batch is a row that must not exist yet, one round trip is enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from operator import itemgetter
from typing import Any

import psycopg

from perdure.errors import FencedError, PerdureError, StoreFullError, StoreSettingError
from perdure.kernel.ports import Conflict, InboxRow, Unit
from perdure.sources import Micros
from perdure.store.commit_conflicts import Claims, Standing, claims_of, judge, news_of, passing
from perdure.store.migrations import outgrown
from perdure.store.ports import Row
from perdure.store.postgres.connection import Lost, patiently, translated
from perdure.store.postgres.pipeline import BEGIN, COMMIT, ROLLBACK, Pipeline, Request, asking, carrying
from perdure.store.postgres.prepared_statements import Statement
from perdure.store.unit_batch import batch_of

MAX_RACES = 50
"""How often a batch is judged again because another process was faster."""

DOUBTED_BATCHES = 16
"""How many batches go through the gate after one that hoped in vain."""

_RACES = (psycopg.errors.UniqueViolation, psycopg.errors.TransactionRollback, psycopg.errors.LockNotAvailable)
_SORTED: dict[str, Any] = {
    "put_aggregate": itemgetter(0),
    "put_parts": itemgetter(0, 1),
    "add_records": itemgetter(0, 1),
    "add_idempotency": itemgetter(0, 1),
    "add_inbox": itemgetter(0, 1),
    # By the key waited for, a token that frees it first: two processes meet at keys, never at their own tokens.
    "put_parked": lambda row: (row[3], row[5], row[4], row[6] == b""),
    "put_entities": itemgetter(0, 1, 2),
    "add_entity_history": itemgetter(0, 1, 2, 3),
    "put_documents": itemgetter(0),
}
"""The order of rows wherever two processes may meet at a unique key."""

Verdict = Conflict | None | PerdureError


class Writer:
    """Owns the only connection that writes units. One batch at a time."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Pipeline]],
        statements: Mapping[str, Statement],
        place: str,
        closing: asyncio.Event,
        patience_seconds: float,
        moment: Callable[[], Micros | None],
        schema: int,
    ) -> None:
        """`moment` is what time it is in place of the server's clock, for tests; else None."""
        self._moment = moment
        self._schema = schema
        self._connect = connect
        self._statements = statements
        self._place = place
        self._closing = closing
        self._patience_seconds = patience_seconds
        self._wire: Pipeline | None = None
        self._doubts = 0
        self.commits = 0

    async def open(self) -> None:
        await self._ready()

    async def close(self) -> None:
        if self._wire is not None:
            await self._wire.close()
            self._wire = None

    async def commit(self, units: list[Unit], fence: int) -> list[Verdict]:
        """Write every unit that passes the gate in one transaction; the others are told why not."""
        attempt = _Attempt(units, fence)
        try:
            return await patiently(lambda: self._settled(attempt), self._place, self._closing, self._patience_seconds)
        except (FencedError, StoreFullError, StoreSettingError) as error:
            return [error] * len(units)
        except Exception as error:
            if len(units) == 1 or attempt.was_lost:
                told = error if isinstance(error, PerdureError) else translated(error, self._place)
                return [told] * len(units)
        # One of them cannot be written at all: alone it fails alone.
        return [verdict for unit in units for verdict in await self.commit([unit], fence)]

    async def _settled(self, attempt: _Attempt) -> list[Verdict]:
        try:
            verdicts = await self._judged(attempt)
        except Lost:
            attempt.was_lost = True
            raise
        except FencedError as error:
            if not attempt.was_lost:
                raise
            verdicts = [error] * len(attempt.units)
        if attempt.was_lost:
            return [
                None if verdict is not None and await self._is_written(unit) else verdict
                for unit, verdict in zip(attempt.units, verdicts, strict=True)
            ]
        return verdicts

    async def _judged(self, attempt: _Attempt) -> list[Verdict]:
        for races in range(MAX_RACES + 1):
            wire = await self._ready()
            try:
                if self._is_hopeful(attempt):
                    return await self._at_once(wire, attempt.units, attempt.fence)
                return await self._attempt(wire, attempt.units, attempt.fence)
            except Lost:
                raise
            except psycopg.errors.DivisionByZero as error:
                await wire.turn([Request(ROLLBACK, [])])
                raise (_fenced(attempt.fence) if attempt.fence else outgrown(self._place, self._schema)) from error
            except Exception as error:
                await wire.turn([Request(ROLLBACK, [])])
                if not isinstance(error, _RACES) or races == MAX_RACES:
                    raise
        raise AssertionError("unreachable")

    def _is_hopeful(self, attempt: _Attempt) -> bool:
        """Whether unique keys alone can tell that all of it may be written; after a disappointment not for a while."""
        if attempt.was_tried or attempt.was_lost or not all(map(_is_new, attempt.units)):
            return False
        attempt.was_tried = True
        self._doubts = max(0, self._doubts - 1)
        return not self._doubts

    async def _at_once(self, wire: Pipeline, units: list[Unit], fence: int) -> list[Verdict]:
        """Gate and writes in one round trip: a key that is taken fails all of it, and the gate then says whose."""
        standing = Standing()
        verdicts = judge(units, claims_of(units), standing)
        first = [Request(BEGIN, [])]
        first.append(asking(self._statements["hold_fence"], {"number": fence}) if fence else self._hold_schema())
        doubts, self._doubts = self._doubts, DOUBTED_BATCHES
        await wire.turn([*first, *self._writes(units, verdicts, standing)])
        self._doubts = doubts
        self.commits += 1
        return [*verdicts]

    async def _attempt(self, wire: Pipeline, units: list[Unit], fence: int) -> list[Verdict]:
        claims = claims_of(units)
        standing = await self._standing(wire, claims, fence)
        verdicts = judge(units, claims, standing)
        await wire.turn(self._writes(units, verdicts, standing))
        self.commits += 1
        return [*verdicts]

    def _writes(self, units: list[Unit], verdicts: list[Conflict | None], standing: Standing) -> list[Request]:
        batch = batch_of(passing(units, verdicts), standing.repeated)
        return [*(self._write(name, rows) for name, rows in batch.items()), Request(COMMIT, [])]

    async def _standing(self, wire: Pipeline, claims: Claims, fence: int) -> Standing:
        asked = [
            (name, rows)
            for name, rows in (
                ("aggregate_versions", [(id,) for id in claims.versions]),
                ("entity_versions", claims.entities),
                ("taken_starts", claims.starts),
                ("known_messages", claims.messages),
                ("taken_keys", claims.keys),
                ("taken_locks", claims.locks),
                ("watched_tenants", claims.silent),
                ("news_of_facts", claims.facts),
            )
            if rows
        ]
        requests = [Request(BEGIN, [])]
        requests.append(asking(self._statements["check_fence"], {"number": fence}) if fence else self._hold_schema())
        if claims.silent:  # held until the commit: who begins to wait for records waits for those who do not tell
            requests.append(asking(self._statements["share_records"], {}))
        first = len(requests)
        requests.extend(carrying(self._statements[name], rows) for name, rows in asked)
        if claims.is_timed:
            requests.append(asking(self._statements["server_clock"], {"now": self._moment()}))
        answers = await wire.turn(requests)
        if fence and not answers[1]:
            raise _fenced(fence)
        ((now,),) = answers.pop() if claims.is_timed else ((0,),)
        found = dict(zip((name for name, _ in asked), answers[first:], strict=True))
        return _standing(found, now)

    def _hold_schema(self) -> Request:
        """For who has no lease: whoever migrates takes all leases away."""
        return asking(self._statements["hold_schema"], {"schema": str(self._schema)})

    def _write(self, name: str, rows: list[Row]) -> Request:
        order = _SORTED.get(name)
        if order is not None and len(rows) > 1:
            rows = sorted(rows, key=order)
        return carrying(self._statements[name], rows)

    async def _ready(self) -> Pipeline:
        if self._wire is None or self._wire.is_broken:
            await self.close()
            self._wire = await self._connect()
        return self._wire

    async def _is_written(self, unit: Unit) -> bool:
        """Whether the commit whose answer was lost did write this unit."""
        wire = await self._ready()
        if unit.records:
            last = unit.records[-1]
            place = {"aggregate": unit.id, "sequence": last.sequence}
            (rows,) = await wire.turn([asking(self._statements["record_hash"], place)])
            return rows == [(last.hash,)]
        message = _message(unit)
        if message is None:
            return False
        parameters = {"tenant": message.tenant, "message_id": message.message_id}
        (rows,) = await wire.turn([asking(self._statements["read_message"], parameters)])
        return bool(rows) and rows[0][1:4] == (message.kind, message.key, message.received_at)


class _Attempt:
    def __init__(self, units: list[Unit], fence: int) -> None:
        self.units = units
        self.fence = fence
        self.was_lost = False
        self.was_tried = False


def _is_new(unit: Unit) -> bool:
    """Whether everything the unit claims is a row that must not be there yet."""
    return (
        unit.expected == 0
        and not unit.due
        and (unit.id is None or bool(unit.records))
        and not any(brought.entities or brought.grounds for brought in unit.attachments)
    )


def _fenced(fence: int) -> FencedError:
    return FencedError(
        "write as", "worker", str(fence), "its lease was taken away", "Another process has taken over its work."
    )


def _message(unit: Unit) -> InboxRow | None:
    return next((brought.inbox for brought in unit.attachments if brought.inbox is not None), None)


def _standing(found: dict[str, list[Row]], now: Micros) -> Standing:
    return Standing(
        now=now,
        versions=dict(found.get("aggregate_versions", ())),
        starts={(tenant, key): id for tenant, key, id in found.get("taken_starts", ())},
        messages={(tenant, message): (answer, id) for tenant, message, answer, id in found.get("known_messages", ())},
        keys={(tenant, key, name): id for tenant, key, name, id in found.get("taken_keys", ())},
        entities={(tenant, entity, key): version for tenant, entity, key, version in found.get("entity_versions", ())},
        locks={(tenant, key): id for tenant, key, id in found.get("taken_locks", ())},
        watched={tenant for (tenant,) in found.get("watched_tenants", ())},
        news=news_of(found.get("news_of_facts", ())),
    )
