"""Circuit breakers of agents in the store: rows that all workers share, changed where nobody else has meanwhile."""

from __future__ import annotations

from perdure.store.ports import Driver
from perdure.work.agents.circuit_breaker import Breaker


class AgentBreakers:
    """Of one store, for all tenants."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def read(self, tenant: str, agent: str) -> Breaker:
        rows = await self._driver.fetch("read_agent_breaker", tenant=tenant, agent=agent)
        return Breaker(*rows[0]) if rows else Breaker()

    async def write(self, tenant: str, agent: str, breaker: Breaker) -> bool:
        rows = await self._driver.write(
            "write_agent_breaker", tenant=tenant, agent=agent, state=breaker.state, recent=breaker.recent,
            until=breaker.until, successes=breaker.successes, trips=breaker.trips, changed_at=breaker.changed_at,
            closed_by=breaker.by, reason=breaker.reason, version=breaker.version + 1,
        )  # fmt: skip
        return bool(rows)

    async def list(self, tenant: str) -> list[tuple[str, Breaker]]:
        rows = await self._driver.fetch("list_agent_breakers", tenant=tenant)
        return [(row[0], Breaker(*row[1:])) for row in rows]
