"""Writes seals: regularly, one chain, however many processes do it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.errors import RejectedError, Rejection
from perdure.journal.row_digests import row_prefix
from perdure.sources import SECOND, Sources
from perdure.store.ports import Driver, Row
from perdure.store.row_journal import IN_FORCE, SEAL_KEY
from perdure.store.seals.merkle import root
from perdure.store.seals.seal import FIRST_PREVIOUS, Seal, pack, seal_hash
from perdure.store.store import Store

if TYPE_CHECKING:
    from perdure.store.seal_key_file import SealKeyFile
    from perdure.store.signing_keys import SigningKey  # loads cryptography, which only who seals needs

RECORDS_AT_ONCE = 1_000
"""Records under one seal: few enough that sealing keeps nobody waiting. An audit takes up to ten times as many."""

log = logging.getLogger("perdure")


class Last(NamedTuple):
    """The newest seal; `key_id` is empty before the first."""

    number: int
    cursor: int
    hash: bytes
    key_id: str


class Sealer:
    """Seals what the journal gained since the last seal, with the key in force and no other."""

    def __init__(
        self, store: Store, key: SigningKey | SealKeyFile, sources: Sources, every_seconds: float = 60.0
    ) -> None:
        self._driver = store.driver
        self._source = key
        self._sources = sources
        self._every = int(every_seconds * SECOND)
        self._complaint = ""

    async def run(self) -> None:
        """Seal for ever; ends by cancellation. Sealing that must stop says so once, and goes on when it may."""
        while True:
            try:
                await self.seal_all()
                self._complaint = ""
            except RejectedError as error:
                if str(error) != self._complaint:
                    log.error("nothing is sealed any more: %s", error)
                self._complaint = str(error)
            await self._sources.sleep(self._every)

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
        last = await self._last()
        rows = await self._driver.fetch("journal_since", after=last.cursor, most=RECORDS_AT_ONCE)
        if not rows or (len(rows) == 1 and last.number and _tells_of_keys(rows[0])):
            return None
        key, is_told = await self._key(last)
        seal = self._make(key, last.number + 1, last.hash, rows)
        statements = [("add_seal", seal._asdict())]
        if not is_told:
            statements.append(_telling(key, seal))
        if not (await self._driver.write_all(statements))[0]:
            return None
        await self._note(seal)
        return len(rows)

    async def _last(self) -> Last:
        rows = await self._driver.fetch("last_seal")
        if not rows:
            return Last(0, 0, FIRST_PREVIOUS, "")
        number, cursor, hash, key_id = rows[0]
        return Last(number, cursor, bytes(hash), key_id)

    async def _key(self, last: Last) -> tuple[SigningKey, bool]:
        """The key to seal with, and whether the journal tells of it; RejectedError when sealing must stop."""
        from perdure.store.seal_key_file import SealKeyFile  # noqa: PLC0415  loads cryptography, only who seals needs it
        from perdure.store.seal_keys import key_changes  # noqa: PLC0415  the same

        changes = await key_changes(self._driver.fetch)
        in_force = changes[-1].key_id if changes else last.key_id
        if isinstance(self._source, SealKeyFile):
            await self._check_note(self._source)
            key = self._source.ready(in_force, self._driver.url)
        else:
            key = self._source
            if in_force and key.key_id != in_force:
                fact = f"key '{key.key_id}' is given and its seals were made with key '{in_force}'"
                raise RejectedError(Rejection("blocked", "seal", "store", self._driver.url, fact))
        return key, bool(changes)

    async def _check_note(self, file: SealKeyFile) -> None:
        noted = file.noted(await store_name(self._driver))
        if noted is None:
            return
        rows = await self._driver.fetch("seal_at", number=noted[0])
        if not rows or bytes(rows[0][0]).hex() != noted[1]:
            fact = f"seal {noted[0]}, noted in '{file.note_path}', is not in its chain"
            hint = "Run `perdure audit verify`. If you restored a backup, remove that file and seal again."
            raise RejectedError(Rejection("blocked", "seal", "store", self._driver.url, fact, hint))

    async def _note(self, seal: Seal) -> None:
        from perdure.store.seal_key_file import SealKeyFile  # noqa: PLC0415  loads cryptography, only who seals needs it

        if isinstance(self._source, SealKeyFile):
            try:
                self._source.note(await store_name(self._driver), seal.number, seal.hash.hex())
            except OSError as error:
                log.warning("the last seal cannot be noted beside its key (%s)", error.strerror)

    def _make(self, key: SigningKey, number: int, previous: bytes, rows: list[Row]) -> Seal:
        leaves, data = pack(rows)
        top = root(data)
        at, cursor = self._sources.now(), rows[-1][0]
        hash = seal_hash(previous, number, at, cursor, top)
        return Seal(number, at, cursor, leaves, top, previous, hash, key.key_id, key.sign(hash))


async def store_name(driver: Driver) -> str:
    """The letters a store is noted by: those of the first record in it."""
    rows = await driver.fetch("first_record")
    return bytes(rows[0][0]).hex()[:32] if rows else ""


def _tells_of_keys(row: Row) -> bool:
    """Whether a record was written with the last seal: it alone is no reason for another."""
    return bytes(row[1]).startswith(row_prefix(SEAL_KEY, IN_FORCE))


def _telling(key: SigningKey, seal: Seal) -> tuple[str, dict[str, Any]]:
    from perdure.store.seal_keys import change_of, record_of  # noqa: PLC0415  loads cryptography

    record = record_of(change_of(key, seal.at, seal.number))
    return "tell_seal_key", {**record, "number": seal.number, "signature": seal.signature}
