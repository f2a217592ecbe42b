"""Waiting for an engine: the dispatch of a step is sent again by its policy, and what is known of it is kept.

| state | by | then |
|---|---|---|
| not sent | the step was asked for | sent at once |
| waits | the engine did not answer, or refuses us | a row says since when, how often, and when next; sent again then |
| begun | the engine answered | the row goes with the dispatch |
| failed | the policy's time is over | the step fails as `engine.unreachable`; what may have begun is cancelled |
"""

from __future__ import annotations

from perdure.engines.embedded.ports import EngineStore
from perdure.errors import EngineSettingError, EngineUnavailableError
from perdure.processes.ports import EngineWait
from perdure.sources import SECOND, Id, Micros, Sources
from perdure.verb_contract import UnreachablePolicy, unreachable_delay

MAX_REMEMBERED = 10_000


class EngineWaiting:
    """Of one process. Moments of attempts are remembered, so that a step that waits costs no read until then."""

    def __init__(self, store: EngineStore, sources: Sources) -> None:
        self._rows = store.engine_waits
        self._sources = sources
        self._next: dict[tuple[Id, int], Micros] = {}

    def is_due(self, call: Id, step: int) -> bool:
        """Whether the engine of a step may be asked now."""
        return self._next.get((call, step), 0) <= self._sources.now()

    async def tried(
        self, tenant: str, call: Id, step: int, policy: UnreachablePolicy | None,
        error: EngineUnavailableError | EngineSettingError,
    ) -> EngineWait:  # fmt: skip
        """Count an attempt that the engine did not answer; the last one is when the policy's time is over."""
        now, known = self._sources.now(), await self._rows.read(call, step)
        tries = known.tries + 1 if known is not None else 1
        delay = policy.delay_seconds(tries) if policy is not None else unreachable_delay(tries)
        next_at = now + round(delay * SECOND)
        if policy is not None:
            over = (known.since if known is not None else now) + round(policy.timeout_seconds * SECOND)
            next_at = min(next_at, max(over, now + 1))
        if len(self._next) >= MAX_REMEMBERED:
            self._next.clear()
        self._next[call, step] = next_at
        return await self._rows.tried(
            tenant, call, step, engine=error.id, reason=error.fact[:500], now=now, next_at=next_at
        )

    async def end(self, call: Id, step: int) -> None:
        """The step waits no longer, whatever became of it."""
        self._next.pop((call, step), None)
        if await self._rows.read(call, step) is not None:
            await self._rows.end(call, step)
