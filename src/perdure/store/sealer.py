"""Writes seals: regularly, one chain, however many processes do it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from perdure.sources import SECOND, Sources
from perdure.store.ports import Row
from perdure.store.seals import FIRST_PREVIOUS, Seal, pack, root, seal_hash
from perdure.store.store import Store

if TYPE_CHECKING:
    from perdure.store.signing_keys import SigningKey  # loads cryptography, which only who seals needs

RECORDS_AT_ONCE = 1_000
"""Records under one seal: few enough that sealing keeps nobody waiting. An audit takes up to ten times as many."""


class Sealer:
    """Seals what the journal gained since the last seal."""

    def __init__(self, store: Store, signing_key: SigningKey, sources: Sources, every_seconds: float = 60.0) -> None:
        self._driver = store.driver
        self._key = signing_key
        self._sources = sources
        self._every = int(every_seconds * SECOND)

    async def run(self) -> None:
        """Seal for ever; ends by cancellation."""
        while True:
            await self.seal_all()
            await self._sources.sleep_until(self._sources.now() + self._every)

    async def seal_all(self) -> int:
        """Seal what there is, or until another process seals as well; returns how many seals were written.

        What is written meanwhile is left for the next time, since under load there is always something new.
        """
        written = 0
        while (covered := await self._seal_next()) is not None:
            written += 1
            if covered < RECORDS_AT_ONCE:
                break
            await asyncio.sleep(0)
        return written

    async def _seal_next(self) -> int | None:
        """One more seal, and over how many records; None when nothing is new, or another took the number first."""
        number, after, previous = await self._last()
        rows = await self._driver.fetch("journal_since", after=after, most=RECORDS_AT_ONCE)
        if not rows:
            return None
        seal = self._make(number + 1, previous, rows[-1][0], rows)
        return len(rows) if await self._driver.write("add_seal", **seal._asdict()) else None

    async def _last(self) -> tuple[int, int, bytes]:
        rows = await self._driver.fetch("last_seal")
        if not rows:
            return 0, 0, FIRST_PREVIOUS
        number, cursor, hash = rows[0]
        return number, cursor, bytes(hash)

    def _make(self, number: int, previous: bytes, cursor: int, rows: list[Row]) -> Seal:
        leaves, data = pack(rows)
        top = root(data)
        at = self._sources.now()
        hash = seal_hash(previous, number, at, cursor, top)
        signature = self._key.sign(hash)
        return Seal(number, at, cursor, leaves, top, previous, hash, self._key.key_id, signature)
