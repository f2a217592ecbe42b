"""Answers to requests that may come again, and how far readers of the feed have come."""

from __future__ import annotations

from perdure.sources import Micros
from perdure.store.ports import Driver
from perdure.work.ports import Answered

FORGOTTEN_AT_ONCE = 1000


class Answers:
    """Of one store; an `AnswerBook`. The first answer under a key stands."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def find(self, tenant: str, principal: str, key: str) -> Answered | None:
        rows = await self._driver.fetch("read_answer", tenant=tenant, principal=principal, key=key)
        return Answered(bytes(rows[0][0]), rows[0][1], bytes(rows[0][2]), rows[0][3]) if rows else None

    async def keep(self, tenant: str, principal: str, key: str, answered: Answered) -> Answered:
        written = await self._driver.write(
            "add_answer", tenant=tenant, principal=principal, key=key, request=answered.request,
            status=answered.status, body=answered.body, at=answered.at,
        )  # fmt: skip
        if written:
            return answered
        return await self.find(tenant, principal, key) or answered

    async def forget(self, before: Micros) -> int:
        """Forget answers given before a time, some at once; how many were."""
        if not await self._driver.fetch("has_old_answers", before=before):
            return 0
        return len(await self._driver.write("forget_answers", before=before, most=FORGOTTEN_AT_ONCE))


class Cursors:
    """Of one store: how far those who read the feed have come, by names they choose."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def read(self, tenant: str, name: str) -> str | None:
        rows = await self._driver.fetch("read_cursor", tenant=tenant, name=name)
        return str(rows[0][0]) if rows else None

    async def put(self, tenant: str, name: str, value: str) -> None:
        await self._driver.write("put_cursor", tenant=tenant, name=name, value=value)

    async def remove(self, tenant: str, name: str) -> None:
        await self._driver.write("remove_cursor", tenant=tenant, name=name)
