"""Waits of processes in a store, messages kept for them, and lists of aggregates that are no call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perdure.errors import QuarantinedError
from perdure.journal.row_digests import row_record
from perdure.kernel.ports import DEAD, AggregateFound, Buffered, BufferedFound, InboxRow, WaitFound
from perdure.kernel.unit_row_digests import MESSAGE, message_digest
from perdure.sources import Micros, Sources
from perdure.store.checksums import checked, is_whole, message_sums, stored_id
from perdure.store.commit_conflicts import quoted
from perdure.store.ports import Driver, Row
from perdure.store.quarantine import Quarantine

FROM_THE_NEWEST = b"\xff" * 17
"""After every id."""
EACH = 8
"""So many facts are looked for one by one; news of more are looked for among all."""


class Waits:
    """Every look-up names its tenant and goes by an index."""

    def __init__(self, driver: Driver, sources: Sources) -> None:
        self.driver = driver
        self.set_aside = Quarantine(driver, sources)
        self._sources = sources

    def now(self) -> Micros:
        """The time as this process has it from the store."""
        return self._sources.now()

    async def await_record_writers(self) -> None:
        """End when every commit that changes records sees what was committed before this was asked."""
        await self.driver.fetch("await_record_writers")

    async def find_waits(
        self, tenant: str, kind: str, name: str, key: str = "", after: int = 0, most: int = 100
    ) -> list[WaitFound]:
        """What waits under a name and a key, longest first. Signals and starts wait under an empty key."""
        rows = await self.driver.fetch(
            "find_waits", tenant=tenant, kind=kind, name=name, key=key, after=after, most=most
        )  # fmt: skip
        return [_wait(row) for row in rows]

    async def fact_news(self, tenant: str, keys: Sequence[str]) -> frozenset[str]:
        """Notices of changes of these facts that nobody has acted on yet."""
        facts = [quoted(key) for key in keys] if len(keys) <= EACH else [""]
        found = [await self.driver.fetch("pending_news", tenant=tenant, fact=fact) for fact in facts]
        return frozenset(row[0] for rows in found for row in rows)

    async def newest_wait(self, tenant: str, kind: str, name: str, key: str = "") -> int:
        """The number of the wait that opened last; 0 when there is none."""
        rows = await self.driver.fetch("newest_wait", tenant=tenant, kind=kind, name=name, key=key)
        return int(rows[0][0]) if rows else 0

    async def tasks(self, tenant: str, after: int = 0, most: int = 100) -> list[WaitFound]:
        """Human tasks, oldest first."""
        return [_wait(row) for row in await self.driver.fetch("list_tasks", tenant=tenant, after=after, most=most)]

    async def buffered_messages(
        self, tenant: str, name: str, key: str, now: Micros, after: int = 0, most: int = 20
    ) -> list[Buffered]:
        """Messages kept under a name and a key whose time is not over, oldest first."""
        rows = await self.driver.fetch(
            "buffered_messages", tenant=tenant, name=name, key=key, now=now, after=after, most=most
        )  # fmt: skip
        return [Buffered(*row) for row in rows]

    async def buffered_page(self, after_expiry: Micros, after: int, most: int) -> list[BufferedFound]:
        """Kept messages of all tenants, those that expire first to begin with."""
        rows = await self.driver.fetch("buffered_page", after_expiry=after_expiry, after=after, most=most)
        return [BufferedFound(*row) for row in rows]

    async def expired_messages(self, now: Micros, most: int) -> list[BufferedFound]:
        """Kept messages of all tenants that nobody waited for in time."""
        return [BufferedFound(*row) for row in await self.driver.fetch("expired_messages", now=now, most=most)]

    async def bury_message(self, tenant: str, message_id: str, answer: str) -> bool:
        """Make a pending message a dead letter; False when someone was faster."""
        row, sums = await self._whole_message(tenant, message_id)
        if row is None:
            return False
        buried = row._replace(status=DEAD, answer=answer)
        if is_whole(row, sums):  # what was changed stays recognisable
            sums = message_sums(buried)
        return await self._tell("bury_message", buried, sums)

    async def _tell(self, name: str, row: InboxRow, sums: bytes, **more: Any) -> bool:
        """Change a message and tell the journal of it, in one commit; False when someone was faster."""
        id, body, hash = row_record(MESSAGE, (row.tenant, row.message_id), message_digest(row), self._sources.now())
        place = {"tenant": row.tenant, "message_id": row.message_id}
        changed, _ = await self.driver.write_all([
            (name, {**place, "answer": row.answer, "checksum": sums, "told_by": id, **more}),
            ("tell_message", {**place, "aggregate": id, "body": body, "hash": hash}),
        ])  # fmt: skip
        return bool(changed)

    async def _whole_message(self, tenant: str, message_id: str) -> tuple[InboxRow | None, bytes]:
        """A row of the inbox and its checksum."""
        rows = await self.driver.fetch("whole_message", tenant=tenant, message_id=message_id)
        return (InboxRow(*rows[0][:-1]), bytes(rows[0][-1])) if rows else (None, b"")

    async def aggregates(
        self, tenant: str, kind: str, status: str = "", before: bytes = FROM_THE_NEWEST, most: int = 100,
        *, has_damaged: bool = False,
    ) -> list[AggregateFound]:  # fmt: skip
        """Instances or processes, newest first, those before an id; in one status or in any."""
        query, more = ("list_aggregates_in", {"status": status}) if status else ("list_aggregates", {})
        rows = await self.driver.fetch(query, tenant=tenant, kind=kind, before=before, most=most, **more)
        return await self._checked(rows, has_damaged)

    async def indexed(
        self, tenant: str, verb: str, field: str, value: str, before: bytes = FROM_THE_NEWEST, most: int = 100,
        *, has_damaged: bool = False,
    ) -> list[AggregateFound]:  # fmt: skip
        """Aggregates found by an index row, newest first, those before an id."""
        rows = await self.driver.fetch(
            "list_indexed", tenant=tenant, verb=verb, field=field, value=value, before=before, most=most
        )
        return await self._checked(rows, has_damaged)

    async def _checked(self, rows: list[Row], has_damaged: bool = False) -> list[AggregateFound]:
        """What can be read; what cannot is set aside and missing from the list, or in it without a state."""
        found = []
        for row in rows:
            try:
                loaded = checked(row)
            except QuarantinedError as error:
                await self.quarantine(error)
                if has_damaged:
                    found.append(AggregateFound(stored_id(row[0]), str(row[2]), 0, "", 0, b""))
                continue
            found.append(AggregateFound(loaded.id, loaded.kind, loaded.version, row[4], row[5], loaded.state))
        return found

    async def quarantine(self, error: QuarantinedError) -> None:
        """Remember what was found damaged, so that lists show it."""
        await self.set_aside.add(error)


def _wait(row: Row) -> WaitFound:
    return WaitFound(stored_id(row[0]), *row[1:])
