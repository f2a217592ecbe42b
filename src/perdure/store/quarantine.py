"""The quarantine: aggregates whose rows failed a check, known to every process that looks within a second."""

from __future__ import annotations

from typing import NamedTuple

from perdure.errors import DamagedPayloadError, QuarantinedError
from perdure.sources import SECOND, Id, Micros, Sources, id_text
from perdure.store.checksums import WAYS_ON, stored_id
from perdure.store.ports import Driver
from perdure.store.row_journal import GONE, QUARANTINE, quarantine_digest, telling

FRESH: Micros = SECOND
MOST = 10_000
"""Entries that are kept in memory; what is beyond them is found again when it is read."""
PAYLOAD = "payload"
FIRST: tuple[Micros, bytes] = (-(2**62), b"")
"""Before every entry."""


class SetAside(NamedTuple):
    """An aggregate of a tenant in quarantine, by the first of its entries."""

    found_at: Micros
    aggregate: Id
    kind: str
    error: QuarantinedError


class Quarantine:
    """Of one store. An entry never stops a command: the damaged rows themselves do."""

    def __init__(self, driver: Driver, sources: Sources) -> None:
        self._driver = driver
        self._sources = sources
        self._known: dict[bytes, QuarantinedError] = {}
        self._read_at: Micros | None = None

    def find(self, aggregate: bytes) -> QuarantinedError | None:
        """The damage of an aggregate, as far as this process has heard of it."""
        return self._known.get(aggregate)

    async def refresh(self) -> None:
        """Hear of what other processes found; read from the store once a second at most."""
        now = self._sources.now()
        if self._read_at is not None and 0 <= now - self._read_at < FRESH:
            return
        rows = await self._driver.fetch("list_quarantine", most=MOST)
        self._known = {bytes(row[0]): error_of(*row[:3]) for row in reversed(rows)}
        self._read_at = now

    async def add(self, error: QuarantinedError) -> None:
        """Enter what was found damaged; found again it stays as it was entered."""
        damaged, place, found_at = error.data["aggregate"], error.data["place"], self._sources.now()
        self._known.setdefault(damaged, error)
        digest = quarantine_digest(damaged, place, error.fact, found_at)
        await self._driver.write_all([
            ("add_quarantine", {"aggregate": damaged, "place": place, "fact": error.fact, "found_at": found_at}),
            telling(
                QUARANTINE, (damaged.hex(), place), digest, found_at, "tell_quarantine",
                damaged=damaged, place=place, found_at=found_at,
            ),
        ])  # fmt: skip

    async def release(self, aggregate: bytes) -> None:
        """Take an aggregate out: every row of it was found whole."""
        self._known.pop(aggregate, None)
        now, rows = self._sources.now(), await self._driver.fetch("places_in_quarantine", aggregate=aggregate)
        gone = [telling(QUARANTINE, (aggregate.hex(), place), GONE, now) for (place,) in rows]
        await self._driver.write_all([("remove_quarantine", {"aggregate": aggregate}), *gone])

    async def page(self, tenant: str, after: tuple[Micros, bytes], most: int) -> list[SetAside]:
        """The aggregates of a tenant, those found first to begin with."""
        rows = await self._driver.fetch(
            "quarantined_page", tenant=tenant, found_at=after[0], aggregate=after[1], most=most
        )
        return [
            SetAside(found_at, stored_id(id), kind, error_of(id, place, fact))
            for found_at, id, place, fact, kind in rows
        ]

    async def count(self, tenant: str, most: int) -> int:
        """How many aggregates of a tenant there are, up to a bound."""
        return int((await self._driver.fetch("count_quarantined", tenant=tenant, most=most))[0][0])


def error_of(aggregate: bytes, place: str, fact: str) -> QuarantinedError:
    """The error that an entry was made of."""
    kind = DamagedPayloadError if place == PAYLOAD else QuarantinedError
    id = bytes(aggregate)
    return kind("read", place, id_text(id), fact, WAYS_ON, aggregate=id, place=place)
