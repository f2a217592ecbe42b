"""Agent views: the circuit breakers of agents, and how one is closed by hand."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.app.runtime import Runtime
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.sources import iso
from perdure.work.agents.circuit_breaker import BAD, MAX_TRIES, Breaker, closed


class AgentView(msgspec.Struct, frozen=True):
    """The circuit breaker of an agent. Of its latest `attempts`, so many `failed`; `trips` counts how often it opened.

    An `open` one is tried again at `retry_at`. `closed_by` and `reason` are of whoever closed it by hand last.
    """

    name: str
    state: Literal["closed", "open", "half_open"]
    attempts: int
    failed: int
    trips: int
    retry_at: str | None = None
    changed_at: str | None = None
    closed_by: str = ""
    reason: str = ""


def agent_view(name: str, breaker: Breaker) -> AgentView:
    return AgentView(
        name, breaker.state, len(breaker.recent), breaker.recent.count(BAD), breaker.trips,
        iso(breaker.until or None), iso(breaker.changed_at or None), breaker.by, breaker.reason,
    )  # fmt: skip


async def agent_views(runtime: Runtime, tenant: str) -> list[AgentView]:
    """Every agent of a tenant whose attempts a breaker has watched."""
    return [agent_view(name, each) for name, each in await runtime.store.agent_breakers.list(tenant)]


async def close_breaker(runtime: Runtime, origin: Origin, agent: str, reason: str) -> AgentView:
    """Let an agent be asked again at once; what waits for it goes on when its time has come."""
    if not reason.strip():
        raise RejectedError(Rejection("invalid", "close the breaker of", "agent", agent, "no reason was given"))
    breakers = runtime.store.agent_breakers
    for _ in range(MAX_TRIES):
        breaker = await breakers.read(origin.tenant, agent)
        if not breaker.version:
            fact, hint = "no attempt of it was watched", "See `perdure agents list`."
            raise RejectedError(Rejection("not_found", "close the breaker of", "agent", agent, fact, hint))
        after = closed(breaker, runtime.sources.now(), origin.principal, reason[:500])
        if await breakers.write(origin.tenant, agent, after):
            return agent_view(agent, after)
    fact = "it kept changing meanwhile"
    raise RejectedError(Rejection("blocked", "close the breaker of", "agent", agent, fact, "Try again."))
