"""The store as the floors above see it: checked reads, units, leases and upkeep over one driver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import msgspec

from perdure.errors import FencedError, QuarantinedError
from perdure.journal import genesis
from perdure.kernel.ports import DISCARDED, Chain, Conflict, Found, Loaded, RecordRow, Told, Unit, Verdict, WaitFound
from perdure.runbooks.ports import DeadLetter, Message
from perdure.sources import Id, Micros, Sources
from perdure.store.agent_breakers import AgentBreakers
from perdure.store.agent_threads import AgentThreads
from perdure.store.channel_outbox import ChannelOutbox
from perdure.store.checksums import (
    checked,
    checked_chain,
    checked_entity,
    damaged,
    is_erased,
    message_sums,
    missing_payload,
    record_of,
    stored_id,
)
from perdure.store.commit_callbacks import awaited
from perdure.store.delta_read import DeltaReader
from perdure.store.documents import Documents
from perdure.store.engine_waits import EngineWaits
from perdure.store.erasure import Erasure
from perdure.store.idempotent_answers import Answers, Cursors
from perdure.store.lists import Lists
from perdure.store.payload_cache import RecentPayloads
from perdure.store.ports import Driver, FeedRow, Row
from perdure.store.row_journal import (
    DEFINITION,
    GONE,
    LEASE,
    SERVES,
    definition_digest,
    lease_digest,
    serves_digest,
    telling,
)
from perdure.store.task_result_queue import TaskResultQueue
from perdure.work.ports import AnswerBook, Beat, EntityFound, EntityVersion, JobFound, TimerFound, WorkerRow

PAGE = 1000
"""Records that are read at once."""
INSTANCE = "instance"
"""The kind whose payloads are at hand with the engine that runs it: not kept a second time."""


class Store(Erasure):
    """Everything is read checked: a row that fails is quarantined and named, and nothing else stops."""

    def __init__(self, driver: Driver, sources: Sources) -> None:
        super().__init__(driver, sources)
        self._recent = RecentPayloads()
        self.watch: Callable[[Told], Told] | None = None
        """While somebody measures: called when a unit is submitted, and put between it and whoever is told."""
        self.renew: Callable[[FencedError], Awaitable[None]] | None = None
        """Takes a new lease for one that was lost."""
        self._renewing: set[asyncio.Future[None]] = set()
        self.lists = Lists(driver)
        self.documents = Documents(driver)
        self.task_results = TaskResultQueue(driver)
        self.answers: AnswerBook = Answers(driver)
        self.cursors = Cursors(driver, sources)
        self.outbox = ChannelOutbox(driver, sources)
        self.engine_waits = EngineWaits(driver)
        self.agent_threads = AgentThreads(driver)
        self.agent_breakers = AgentBreakers(driver)

    def commit(self, unit: Unit) -> Awaitable[Conflict | None]:
        return awaited(self.submit if unit.id is not None or self.renew is None else self._submit_message, unit)

    def _submit_message(self, unit: Unit, told: Told) -> None:
        """A unit of no aggregate names no worker: when a lease was lost meanwhile, it is the same under the next."""

        def hear(verdict: Verdict) -> None:
            if isinstance(verdict, FencedError) and self.renew is not None:
                task = asyncio.ensure_future(self._submit_again(unit, told, verdict, self.renew))
                self._renewing.add(task)
                task.add_done_callback(self._renewing.discard)
            else:
                told(verdict)

        self.submit(unit, hear)

    async def _submit_again(
        self, unit: Unit, told: Told, lost: FencedError, renew: Callable[[FencedError], Awaitable[None]]
    ) -> None:
        try:
            await renew(lost)
        except asyncio.CancelledError:
            told(lost)
            raise
        except Exception as error:
            told(error)
        else:
            self._submit_message(unit, told)

    async def end_renewals(self) -> None:
        """Tell whoever waits for a new lease, now or later, that there will be none: the process is about to stop."""
        self.renew = None
        renewing = list(self._renewing)
        for each in renewing:
            each.cancel()
        await asyncio.gather(*renewing, return_exceptions=True)

    def submit(self, unit: Unit, told: Told) -> None:
        if unit.kind != INSTANCE and unit.id is not None:
            self._keep(unit.id, unit)
        self.driver.submit(unit, told if self.watch is None else self.watch(told))

    def _keep(self, id: Id, unit: Unit) -> None:
        # Nobody asks for a payload before a commit names it, so it can be kept before it is durable.
        for brought in unit.attachments:
            if brought.erases:
                self._recent.forget(id)
            for hash, data in brought.payloads:
                self._recent.keep(id, hash, data)

    async def load(self, id: Id) -> Loaded | None:
        rows = await self.driver.fetch("load_aggregate", id=id)
        if not rows:
            return None
        try:
            return checked(rows[0])
        except QuarantinedError as error:
            await self.quarantine(error)
            raise

    async def parts(self, id: Id) -> list[bytes]:
        rows = await self.driver.fetch("read_parts", aggregate=id)
        return [bytes(body) for _, body in rows]

    async def quarantined(self, most: int = 1000) -> list[Row]:
        return await self.driver.fetch("list_quarantine", most=most)

    async def payload(self, aggregate: Id, hash: bytes) -> bytes | None:
        """The bytes behind a hash, verified; None once a tombstone erased them, or where there is no aggregate."""
        recent = self._recent.find(aggregate, hash)
        if recent is not None:
            return recent
        rows = await self.driver.fetch("read_payload", aggregate=aggregate, hash=hash)
        try:
            if not rows:
                raise missing_payload(aggregate, hash)
            return await DeltaReader(self.driver.fetch).of(aggregate, hash, rows[0][0])
        except QuarantinedError as error:
            if await self._has_no_payloads(aggregate):
                return None
            await self.quarantine(error)
            raise

    async def _has_no_payloads(self, aggregate: Id) -> bool:
        """Whether nothing is kept for an aggregate, and rightly so: perhaps since it was read."""
        rows = await self.driver.fetch("load_aggregate", id=aggregate)
        if not rows:
            return True
        checked(rows[0])
        return is_erased(rows[0]) and not await self.driver.fetch("list_payloads", aggregate=aggregate)

    async def values(self, aggregate: Id, hashes: Sequence[bytes | None]) -> list[Any]:
        """The JSON behind each hash; None behind None, and where it was erased or never kept."""
        found = [None if hash is None else await self.payload(aggregate, hash) for hash in hashes]
        return [None if data is None else msgspec.json.decode(data) for data in found]

    async def records(self, aggregate: Id, after: int = 0, most: int = 1000) -> list[RecordRow]:
        rows = await self.driver.fetch("read_records", aggregate=aggregate, after=after, most=most)
        return [record_of(aggregate, row) for row in rows]

    async def changed(self, seconds: float) -> bool:
        """Wait until something may have been committed, by this process or another, at most so long."""
        return await self.driver.changed(seconds)

    async def feed(self, after: int, most: int) -> list[FeedRow]:
        """Records of all tenants after a cursor, in the order of commits: none will come to stand before them."""
        rows = await self.driver.fetch("feed_since", after=after, most=most)
        return [
            FeedRow(cursor, tenant, kind, status, stored_id(id), sequence, bytes(body))
            for cursor, tenant, kind, status, id, sequence, body in rows
        ]

    async def places(self, aggregate: Id, after: int, most: int) -> list[tuple[int, int]]:
        """The sequences of an aggregate's records with their cursors in the feed, as far as those are settled."""
        rows = await self.driver.fetch("record_places", aggregate=aggregate, after=after, most=most)
        return [(sequence, place) for sequence, place in rows]

    async def feed_end(self) -> int:
        """The cursor of the newest record that others cannot come to stand before."""
        return int((await self.driver.fetch("feed_end"))[0][0])

    async def history(self, chain: Chain, after: int = 0, most: int = PAGE) -> AsyncIterator[RecordRow]:
        """The records after a sequence in their order, checked by hash and number up to the head.

        QuarantinedError when one is changed, missing or invented, also when the end is cut off.
        """
        try:
            previous = await self._hash_at(chain, after)
            while rows := checked_chain(chain, after, previous, await self.records(chain.id, after, most)):
                for row in rows:
                    yield row
                after, previous = rows[-1].sequence, rows[-1].hash
            await self._check_end(chain, after)
        except QuarantinedError as error:
            await self.quarantine(error)
            raise

    async def _hash_at(self, chain: Chain, sequence: int) -> bytes:
        """The hash that the record after a sequence follows."""
        if sequence <= 0:
            return genesis(chain.tenant, chain.kind, chain.id)
        if sequence == chain.version:
            return chain.head
        rows = await self.records(chain.id, sequence - 1, 1)
        if not rows or rows[0].sequence != sequence:
            raise damaged(chain.id, "journal", f"record {sequence} of {chain.version} is missing")
        return rows[0].hash

    async def _check_end(self, chain: Chain, last: int) -> None:
        if last < chain.version:
            raise damaged(chain.id, "journal", f"it ends with record {last} of {chain.version}")
        if last > chain.version:  # appended since the head was read, or invented
            now = await self.load(chain.id)
            if now is not None and last > now.version:
                raise damaged(chain.id, "journal", f"record {last} follows its head, which is record {now.version}")

    async def find_tokens(self, tenant: str, key: str) -> Sequence[Found]:
        rows = await self.driver.fetch("find_tokens", tenant=tenant, key=key)
        return [Found(stored_id(id), step, token, name, status) for id, step, token, name, status in rows]

    async def parked(self, tenant: str, after: int, most: int) -> list[WaitFound]:
        rows = await self.driver.fetch("list_parked", tenant=tenant, after=after, most=most)
        return [WaitFound(stored_id(row[0]), *row[1:]) for row in rows]

    async def parked_by_definition(self, definition: int, after: int, most: int) -> list[tuple[Id, int, str, int]]:
        rows = await self.driver.fetch("parked_by_definition", definition=definition, after=after, most=most)
        return [(stored_id(id), step, tenant, number) for id, step, tenant, number in rows]

    async def incidents(self, tenant: str, most: int) -> list[tuple[Id, int, str, int]]:
        rows = await self.driver.fetch("list_incidents", tenant=tenant, most=most)
        return [(stored_id(id), step, code, opened_at) for id, step, code, opened_at in rows]

    async def due_timers(self, after_due: Micros, after_aggregate: bytes, until: Micros, most: int) -> list[TimerFound]:
        rows = await self.driver.fetch(
            "due_timers", after_due=after_due, after_aggregate=after_aggregate, until=until, most=most
        )
        return [TimerFound(due, stored_id(id), step, kind, tenant) for due, id, step, kind, tenant in rows]

    async def timers_within(
        self, after_due: Micros, after_aggregate: bytes, window: Micros, most: int
    ) -> list[TimerFound]:
        place = {"after_due": after_due, "after_aggregate": after_aggregate}
        rows = await self.driver.fetch("timers_within", **place, now=self._moment(), window=window, most=most)
        return [TimerFound(due, Id(bytes(id)), step, kind, tenant) for due, id, step, kind, tenant in rows]

    def _moment(self) -> Micros | None:
        """What time it is for statements that judge by it; None where the database says so itself."""
        clock = self.driver.clock
        return clock() if clock is not None else None

    async def open_jobs(self, most: int, after: tuple[bytes, int] = (b"", 0)) -> list[JobFound]:
        rows = await self.driver.fetch("open_jobs", after_aggregate=after[0], after_step=after[1], most=most)
        return [JobFound(stored_id(row[0]), *row[1:]) for row in rows]

    async def jobs_of_worker(self, worker: int, after: tuple[bytes, int], most: int) -> list[JobFound]:
        rows = await self.driver.fetch(
            "jobs_of_worker", worker=worker, after_aggregate=after[0], after_step=after[1], most=most
        )
        return [JobFound(stored_id(row[0]), *row[1:]) for row in rows]

    async def pending_messages(self, after: int, most: int) -> list[tuple[int, str, str, str, Id]]:
        rows = await self.driver.fetch("pending_inbox", after=after, most=most)
        return [(number, tenant, message, kind, stored_id(id or b"")) for number, tenant, message, kind, id in rows]

    async def count_dead(self, tenant: str, most: int) -> int:
        return int((await self.driver.fetch("count_dead_of", tenant=tenant, most=most))[0][0])

    async def dead_letters(self, tenant: str, most: int) -> list[DeadLetter]:
        return [DeadLetter(*row) for row in await self.driver.fetch("list_dead", tenant=tenant, most=most)]

    async def early_letters(self, tenant: str, key: str, since: Micros) -> list[str]:
        """Dead letters under a key that came no earlier than a time, oldest first."""
        return [row[0] for row in await self.driver.fetch("early_letters", tenant=tenant, key=key, since=since)]

    async def message(self, tenant: str, message_id: str) -> Message | None:
        rows = await self.driver.fetch("read_message", tenant=tenant, message_id=message_id)
        return Message(*rows[0]) if rows else None

    async def discard_message(self, tenant: str, message_id: str, answer: str) -> bool:
        """Close a dead letter by hand; False when there was none to close."""
        row, _ = await self._whole_message(tenant, message_id)
        if row is None:
            return False
        closed = row._replace(status=DISCARDED, answer=answer, body=None)
        return await self._tell("mark_message", closed, message_sums(closed), status=DISCARDED)

    async def idempotent_start(self, tenant: str, key: str) -> tuple[Id, bytes] | None:
        rows = await self.driver.fetch("read_idempotency", tenant=tenant, key=key)
        return (stored_id(rows[0][0]), bytes(rows[0][1])) if rows else None

    async def find(self, tenant: str, verb: str, field: str, value: str, most: int) -> list[Id]:
        rows = await self.driver.fetch("find_index", tenant=tenant, verb=verb, field=field, value=value, most=most)
        return [stored_id(row[0]) for row in rows]

    async def ended(self, before: Micros, most: int, kind: str = "runbook") -> list[tuple[Id, str]]:
        """What ended before a time and is not yet erased, tenant by tenant, oldest first."""
        found: list[tuple[Id, str]] = []
        tenant = ""
        while len(found) < most and (named := await self.driver.fetch("tenant_with_ended", after=tenant)):
            tenant = named[0][0]
            rows = await self.driver.fetch(
                "ended_aggregates", tenant=tenant, before=before, kind=kind, most=most - len(found)
            )
            found.extend((stored_id(id), owner) for id, owner in rows)
        return found

    async def read_entity(self, tenant: str, entity: str, key: str) -> EntityFound | None:
        rows = await self.driver.fetch("read_entity", tenant=tenant, entity=entity, key=key)
        if not rows:
            return None
        version, is_deleted, data, hash = rows[0]
        if is_deleted and not data:  # erased with the call that deleted it, or damaged: its history knows
            last = await self.entity_history(tenant, entity, key, version - 1, 1)
            if last and not last[0].data:
                return EntityFound(key, version, True, b"")
        whole = await self._checked_entity(tenant, entity, key, data, hash)
        return EntityFound(key, version, bool(is_deleted), whole)

    async def list_entities(self, tenant: str, entity: str, after: str, most: int) -> list[EntityFound]:
        rows = await self.driver.fetch("list_entities", tenant=tenant, entity=entity, after=after, most=most)
        return [
            EntityFound(key, version, False, await self._checked_entity(tenant, entity, key, data, hash))
            for key, version, data, hash in rows
        ]

    async def entity_history(self, tenant: str, entity: str, key: str, after: int, most: int) -> list[EntityVersion]:
        rows = await self.driver.fetch("entity_history", tenant=tenant, entity=entity, key=key, after=after, most=most)
        found = []
        for version, is_deleted, data, hash, aggregate, at, principal in rows:
            # Without data it was erased with its call, whose payloads are gone then; otherwise it is damaged.
            is_erased = not data and not await self.driver.fetch("list_payloads", aggregate=aggregate)
            whole = await self._checked_entity(tenant, entity, key, data, hash, version=version, is_erased=is_erased)
            found.append(EntityVersion(version, bool(is_deleted), whole, stored_id(aggregate), at, principal))
        return found

    async def _checked_entity(
        self, tenant: str, entity: str, key: str, data: bytes, hash: bytes, *, version: int = 0, is_erased: bool = False
    ) -> bytes:
        try:
            return checked_entity(tenant, entity, key, data, hash, version=version, is_erased=is_erased)
        except QuarantinedError as error:
            await self.quarantine(error)
            raise

    def set_fence(self, number: int) -> None:
        self.driver.fence = number

    def beat(self) -> tuple[Beat, Callable[[], None]]:
        return self.driver.beat()

    async def add_worker(self, host: str, process: str, duration: Micros) -> int:
        schema = self.driver.schema
        rows = await self.driver.write(
            "add_worker", host=host, process=process, now=self._moment(), duration=duration, schema=schema
        )
        number = int(rows[0][0])
        digest = lease_digest(number, host, process, schema, 0)
        await self.driver.write_all(
            [telling(LEASE, (str(number),), digest, self._sources.now()), ("begin_lease", {"number": number})]
        )
        return number

    async def live_workers(self) -> list[WorkerRow]:
        rows = await self.driver.fetch("live_workers", now=self._moment())
        return [WorkerRow(number, host, process, until, bool(lapsed)) for number, host, process, until, lapsed in rows]

    async def fence_worker(self, number: int, lease_until: Micros) -> bool:
        """Take a lease away unless it was extended past `lease_until`; True when it was taken."""
        return await self._fence("fence_worker", number, lease_until=lease_until)

    async def fence_lapsed(self, number: int) -> bool:
        """Take a lease away if it has run out by now; True when it was taken."""
        return await self._fence("fence_lapsed", number, now=self._moment())

    async def _fence(self, name: str, number: int, **more: Any) -> bool:
        """Take a lease away and tell the journal of it, in one commit."""
        rows = await self.driver.fetch("whole_worker", number=number)
        if not rows:
            return False
        _, host, process, schema, is_fenced = rows[0]
        if is_fenced:
            return False
        digest = lease_digest(number, host, process, schema, 1)
        fenced, _ = await self.driver.write_all([
            (name, {"number": number, **more}),
            telling(LEASE, (str(number),), digest, self._sources.now(), "tell_fence", number=number),
        ])  # fmt: skip
        return bool(fenced)

    async def outgrown_workers(self) -> list[tuple[str, str]]:
        """Host and process of those whose lease an upgrade has just taken away: they may still run."""
        rows = await self.driver.fetch("outgrown_workers", schema=self.driver.schema, now=self._moment())
        return [(host, process) for host, process in rows]

    async def forget_workers(self, before: Micros) -> None:
        for (number,) in await self.driver.fetch("old_workers", before=before):
            await self.driver.write_all([
                ("forget_worker", {"number": number, "before": before}),
                telling(LEASE, (str(number),), GONE, self._sources.now(), "tell_forgotten", number=number),
            ])  # fmt: skip

    async def add_definition(self, hash: bytes, short: int, name: str, version: int, body: bytes) -> None:
        columns = {"hash": hash, "short": short, "name": name, "version": version, "body": body}
        seen_at = self._sources.now()
        digest = definition_digest(hash, short, name, version, body, seen_at)
        await self.driver.write_all([
            ("add_definition", {**columns, "seen_at": seen_at}),
            telling(
                DEFINITION, (hash.hex(),), digest, seen_at, "tell_definition", definition=hash, seen_at=seen_at,
            ),
        ])  # fmt: skip

    async def definitions(self) -> list[Row]:
        return await self.driver.fetch("list_definitions")

    async def definition_texts(self) -> list[tuple[bytes, str, int]]:
        """Hash, name and version of every definition ever used."""
        rows = await self.driver.fetch("definition_texts")
        return [(bytes(hash), name, version) for hash, name, version in rows]

    async def definition_body(self, hash: bytes) -> bytes | None:
        """The text of a definition by its hash."""
        rows = await self.driver.fetch("definition_body", hash=hash)
        return bytes(rows[0][0]) if rows else None

    async def serve(self, worker: int, definitions: list[int]) -> None:
        """Say which definitions a worker can run."""
        await self.driver.write_all(
            [("forget_serves", {}), ("forget_own_serves", {"worker": worker})]
            + [("add_serves", {"worker": worker, "definition": each}) for each in definitions]
            + [telling(SERVES, (str(worker),), serves_digest(worker, definitions), self._sources.now())]
        )

    async def unserved(self) -> list[tuple[int, str, int]]:
        """Definitions something waits for and no live worker can run, with name and version."""
        return [(short, name, version) for short, name, version in await self.driver.fetch("unserved_definitions")]

    async def served_names(self) -> list[str]:
        """The verbs live workers can run."""
        return [row[0] for row in await self.driver.fetch("served_names")]

    async def jobs_by_definition(self, definition: int, most: int) -> list[tuple[Id, int, str]]:
        rows = await self.driver.fetch("jobs_by_definition", definition=definition, most=most)
        return [(stored_id(id), step, tenant) for id, step, tenant in rows]

    async def incidents_by_code(
        self, code: str, most: int, after: tuple[int, bytes] = (0, b"")
    ) -> list[tuple[Id, int, str, int]]:
        rows = await self.driver.fetch(
            "incidents_by_code", code=code, after_opened=after[0], after_aggregate=after[1], most=most
        )
        return [(stored_id(id), step, tenant, opened_at) for id, step, tenant, opened_at in rows]
