"""Answers to requests that may come again under their idempotency key, and how far readers of the feed have come."""

from __future__ import annotations

from typing import Literal

from perdure.sources import SECOND, Micros, Sources
from perdure.store.ports import Driver
from perdure.store.row_journal import ANSWER, CURSOR, GONE, answer_digest, cursor_digest, telling
from perdure.work.ports import Answered, Claim

FORGOTTEN_AT_ONCE = 1000
ANSWERS_KEPT: Micros = 24 * 3600 * SECOND
CLAIMED = 0
"""The status of an answer that is yet to be given."""
MAX_CLAIMS = 20


class Answers:
    """Of one store; an `AnswerBook`. The first answer under a key stands."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def find(self, tenant: str, principal: str, key: str) -> Answered | None:
        found = await self._read(tenant, principal, key)
        return found if found is not None and found.status != CLAIMED else None

    async def _read(self, tenant: str, principal: str, key: str) -> Answered | None:
        rows = await self._driver.fetch("read_answer", tenant=tenant, principal=principal, key=key)
        return Answered(bytes(rows[0][0]), rows[0][1], bytes(rows[0][2]), rows[0][3]) if rows else None

    async def claim(self, tenant: str, principal: str, key: str, claim: Claim) -> Answered | Literal["running"] | None:
        for _ in range(MAX_CLAIMS):
            if await self._driver.write(
                "claim_answer", tenant=tenant, principal=principal, key=key, **claim._asdict()
            ):  # fmt: skip
                return None
            if (found := await self._read(tenant, principal, key)) is not None:
                return found if found.status != CLAIMED else "running"
        return "running"  # others claim and release it faster than we can look

    async def renew(self, tenant: str, principal: str, key: str, owner: bytes, at: Micros) -> bool:
        return bool(
            await self._driver.write("renew_claim", tenant=tenant, principal=principal, key=key, owner=owner, at=at)
        )

    async def release(self, tenant: str, principal: str, key: str, owner: bytes) -> None:
        await self._driver.write("release_claim", tenant=tenant, principal=principal, key=key, owner=owner)

    async def settle(self, tenant: str, principal: str, key: str, owner: bytes, answered: Answered) -> bool:
        place = {"tenant": tenant, "principal": principal, "key": key}
        digest = answer_digest(tenant, principal, key, *answered)
        settled, _ = await self._driver.write_all([
            ("settle_claim", {**place, "owner": owner, **answered._asdict()}),
            telling(
                ANSWER, (tenant, principal, key), digest, answered.at, "tell_answer",
                **place, status=answered.status, at=answered.at,
            ),
        ])  # fmt: skip
        return bool(settled)

    async def forget(self, before: Micros) -> int:
        """Forget answers given before a time, some at once; how many were."""
        if not await self._driver.fetch("has_old_answers", before=before):
            return 0
        return len(await self._driver.write("forget_answers", before=before, most=FORGOTTEN_AT_ONCE))


class Cursors:
    """Of one store: how far those who read the feed have come, by names they choose."""

    def __init__(self, driver: Driver, sources: Sources) -> None:
        self._driver = driver
        self._sources = sources

    async def read(self, tenant: str, name: str) -> str | None:
        rows = await self._driver.fetch("read_cursor", tenant=tenant, name=name)
        return str(rows[0][0]) if rows else None

    async def put(self, tenant: str, name: str, value: str) -> None:
        await self._driver.write_all([
            ("put_cursor", {"tenant": tenant, "name": name, "value": value}),
            telling(CURSOR, (tenant, name), cursor_digest(tenant, name, value), self._sources.now()),
        ])  # fmt: skip

    async def remove(self, tenant: str, name: str) -> None:
        await self._driver.write_all([
            ("remove_cursor", {"tenant": tenant, "name": name}),
            telling(CURSOR, (tenant, name), GONE, self._sources.now()),
        ])  # fmt: skip
