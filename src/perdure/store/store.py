"""The store as the floors above see it: checked reads, units, leases and upkeep over one driver."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from perdure.errors import QuarantinedError
from perdure.kernel.ports import DISCARDED, Conflict, Found, Loaded, RecordRow, Told, Unit
from perdure.runbooks.ports import DeadLetter, Message, ParkedFound
from perdure.sources import Id, Micros, Sources
from perdure.store.checksums import checked, checked_chain, checked_entity, damaged, message_sums
from perdure.store.commit_callbacks import awaited
from perdure.store.delta_read import DeltaReader
from perdure.store.lists import Lists
from perdure.store.payload_cache import RecentPayloads
from perdure.store.ports import Driver, FeedRow, Row
from perdure.store.request_answers import Answers, Cursors
from perdure.store.waits import Waits
from perdure.work.ports import AnswerBook, Beat, EntityFound, EntityVersion, JobFound, TimerFound, WorkerRow

INSTANCE = "instance"
"""The kind whose payloads are at hand with the engine that runs it: not kept a second time."""


class Store(Waits):
    """Everything is read checked: a row that fails is quarantined and named, and nothing else stops."""

    def __init__(self, driver: Driver, sources: Sources) -> None:
        super().__init__(driver, sources)
        self._recent = RecentPayloads()
        self.watch: Callable[[Told], Told] | None = None
        """While somebody measures: called when a unit is submitted, and put between it and whoever is told."""
        self.lists = Lists(driver)
        self.answers: AnswerBook = Answers(driver)
        self.cursors = Cursors(driver)

    def commit(self, unit: Unit) -> Awaitable[Conflict | None]:
        return awaited(self.submit, unit)

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
        """The bytes behind a hash, verified; None when they were erased or never kept."""
        recent = self._recent.find(aggregate, hash)
        if recent is not None:
            return recent
        rows = await self.driver.fetch("read_payload", aggregate=aggregate, hash=hash)
        try:
            if rows:
                return await DeltaReader(self.driver.fetch).of(aggregate, hash, rows[0][0])
            if await self.driver.fetch("list_payloads", aggregate=aggregate):
                raise damaged(aggregate, "payload", f"no bytes are kept for the hash sha256:{hash.hex()}")
        except QuarantinedError as error:
            if rows and not await self.driver.fetch("read_payload", aggregate=aggregate, hash=hash):
                return None  # erased between two reads, which is no damage
            await self.quarantine(error)
            raise
        return None

    async def payloads(self, aggregate: Id, hashes: Sequence[bytes | None]) -> list[bytes | None]:
        """The bytes behind each hash, as `payload` gives them; None behind None."""
        return [None if hash is None else await self.payload(aggregate, hash) for hash in hashes]

    async def records(self, aggregate: Id, after: int = 0, most: int = 1000) -> list[RecordRow]:
        rows = await self.driver.fetch("read_records", aggregate=aggregate, after=after, most=most)
        return [RecordRow(sequence, bytes(body), bytes(hash)) for sequence, body, hash in rows]

    async def changed(self, seconds: float) -> bool:
        """Wait until something may have been committed, by this process or another, at most so long."""
        return await self.driver.changed(seconds)

    async def feed(self, after: int, most: int) -> list[FeedRow]:
        """Records of all tenants after a cursor, in the order of commits: none will come to stand before them."""
        rows = await self.driver.fetch("feed_since", after=after, most=most)
        return [
            FeedRow(cursor, tenant, kind, status, Id(bytes(id)), sequence, bytes(body))
            for cursor, tenant, kind, status, id, sequence, body in rows
        ]

    async def feed_end(self) -> int:
        """The cursor of the newest record that others cannot come to stand before."""
        return int((await self.driver.fetch("feed_end"))[0][0])

    async def history(self, aggregate: Id, after: int, previous: bytes) -> list[RecordRow]:
        """The records after a sequence, checked to follow the hash of the record at it."""
        try:
            return checked_chain(aggregate, previous, await self.records(aggregate, after))
        except QuarantinedError as error:
            await self.quarantine(error)
            raise

    async def find_tokens(self, tenant: str, key: str) -> Sequence[Found]:
        rows = await self.driver.fetch("find_tokens", tenant=tenant, key=key)
        return [Found(Id(bytes(id)), step, token, name, status) for id, step, token, name, status in rows]

    async def parked(self, tenant: str, after: int, most: int) -> list[ParkedFound]:
        rows = await self.driver.fetch("list_parked", tenant=tenant, after=after, most=most)
        return [ParkedFound(Id(bytes(row[0])), *row[1:]) for row in rows]

    async def parked_by_definition(self, definition: int, after: int, most: int) -> list[tuple[Id, int, str, int]]:
        rows = await self.driver.fetch("parked_by_definition", definition=definition, after=after, most=most)
        return [(Id(bytes(id)), step, tenant, number) for id, step, tenant, number in rows]

    async def incidents(self, tenant: str, most: int) -> list[tuple[Id, int, str, int]]:
        rows = await self.driver.fetch("list_incidents", tenant=tenant, most=most)
        return [(Id(bytes(id)), step, code, opened_at) for id, step, code, opened_at in rows]

    async def due_timers(self, after_due: Micros, after_aggregate: bytes, until: Micros, most: int) -> list[TimerFound]:
        rows = await self.driver.fetch(
            "due_timers", after_due=after_due, after_aggregate=after_aggregate, until=until, most=most
        )
        return [TimerFound(due, Id(bytes(id)), step, kind, tenant) for due, id, step, kind, tenant in rows]

    async def open_jobs(self, most: int, after: tuple[bytes, int] = (b"", 0)) -> list[JobFound]:
        rows = await self.driver.fetch("open_jobs", after_aggregate=after[0], after_step=after[1], most=most)
        return [JobFound(Id(bytes(row[0])), *row[1:]) for row in rows]

    async def jobs_of_worker(self, worker: int, after: tuple[bytes, int], most: int) -> list[JobFound]:
        rows = await self.driver.fetch(
            "jobs_of_worker", worker=worker, after_aggregate=after[0], after_step=after[1], most=most
        )
        return [JobFound(Id(bytes(row[0])), *row[1:]) for row in rows]

    async def pending_messages(self, after: int, most: int) -> list[tuple[int, str, str, str, Id]]:
        rows = await self.driver.fetch("pending_inbox", after=after, most=most)
        return [(number, tenant, message, kind, Id(bytes(id or b""))) for number, tenant, message, kind, id in rows]

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
        marked = await self.driver.write(
            "mark_message", tenant=tenant, message_id=message_id, status=DISCARDED, answer=answer,
            checksum=message_sums(closed),
        )  # fmt: skip
        return bool(marked)

    async def idempotent_start(self, tenant: str, key: str) -> tuple[Id, bytes] | None:
        rows = await self.driver.fetch("read_idempotency", tenant=tenant, key=key)
        return (Id(bytes(rows[0][0])), bytes(rows[0][1])) if rows else None

    async def find(self, tenant: str, verb: str, field: str, value: str, most: int) -> list[Id]:
        rows = await self.driver.fetch("find_index", tenant=tenant, verb=verb, field=field, value=value, most=most)
        return [Id(bytes(row[0])) for row in rows]

    async def ended(self, before: Micros, most: int, kind: str = "runbook") -> list[tuple[Id, str]]:
        """What ended before a time and is not yet erased, tenant by tenant, oldest first."""
        found: list[tuple[Id, str]] = []
        tenant = ""
        while len(found) < most and (named := await self.driver.fetch("tenant_with_ended", after=tenant)):
            tenant = named[0][0]
            rows = await self.driver.fetch(
                "ended_aggregates", tenant=tenant, before=before, kind=kind, most=most - len(found)
            )
            found.extend((Id(bytes(id)), owner) for id, owner in rows)
        return found

    async def read_entity(self, tenant: str, entity: str, key: str) -> EntityFound | None:
        rows = await self.driver.fetch("read_entity", tenant=tenant, entity=entity, key=key)
        if not rows:
            return None
        version, is_deleted, data, hash = rows[0]
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
            whole = await self._checked_entity(tenant, entity, key, data, hash, version=version)
            found.append(EntityVersion(version, bool(is_deleted), whole, Id(bytes(aggregate)), at, principal))
        return found

    async def _checked_entity(
        self, tenant: str, entity: str, key: str, data: bytes, hash: bytes, *, version: int = 0
    ) -> bytes:
        try:
            return checked_entity(tenant, entity, key, data, hash, version=version)
        except QuarantinedError as error:
            await self.quarantine(error)
            raise

    def set_fence(self, number: int) -> None:
        self.driver.fence = number

    def beat(self) -> tuple[Beat, Callable[[], None]]:
        return self.driver.beat()

    async def add_worker(self, host: str, process: str, lease_until: Micros) -> int:
        return int((await self.driver.write("add_worker", host=host, process=process, lease_until=lease_until))[0][0])

    async def live_workers(self) -> list[WorkerRow]:
        return [WorkerRow(*row) for row in await self.driver.fetch("live_workers")]

    async def fence_worker(self, number: int, lease_until: Micros) -> bool:
        """Take a lease away unless it was extended past `lease_until`; True when it was taken."""
        return bool(await self.driver.write("fence_worker", number=number, lease_until=lease_until))

    async def forget_workers(self, before: Micros) -> None:
        await self.driver.write("forget_workers", before=before)

    async def add_definition(self, hash: bytes, short: int, name: str, version: int, body: bytes) -> None:
        await self.driver.write(
            "add_definition", hash=hash, short=short, name=name, version=version, body=body,
            seen_at=self._sources.now(),
        )  # fmt: skip

    async def definitions(self) -> list[Row]:
        return await self.driver.fetch("list_definitions")

    async def serve(self, worker: int, definitions: list[int]) -> None:
        """Say which definitions a worker can run."""
        await self.driver.write_all(
            [("forget_serves", {})] + [("add_serves", {"worker": worker, "definition": each}) for each in definitions]
        )

    async def unserved(self) -> list[tuple[int, str, int]]:
        """Definitions something waits for and no live worker can run, with name and version."""
        return [(short, name, version) for short, name, version in await self.driver.fetch("unserved_definitions")]

    async def served_names(self) -> list[str]:
        """The verbs live workers can run."""
        return [row[0] for row in await self.driver.fetch("served_names")]

    async def jobs_by_definition(self, definition: int, most: int) -> list[tuple[Id, int, str]]:
        rows = await self.driver.fetch("jobs_by_definition", definition=definition, most=most)
        return [(Id(bytes(id)), step, tenant) for id, step, tenant in rows]

    async def incidents_by_code(
        self, code: str, most: int, after: tuple[int, bytes] = (0, b"")
    ) -> list[tuple[Id, int, str, int]]:
        rows = await self.driver.fetch(
            "incidents_by_code", code=code, after_opened=after[0], after_aggregate=after[1], most=most
        )
        return [(Id(bytes(id)), step, tenant, opened_at) for id, step, tenant, opened_at in rows]
