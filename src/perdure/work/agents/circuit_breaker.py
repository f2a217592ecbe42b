"""The circuit breaker of an agent: while it is open, nobody asks the agent, and what would have waits.

| state | what happens | next |
|---|---|---|
| closed | an attempt ends well | closed |
| closed | so many of the latest attempts failed | open, for a time |
| open | somebody would ask before the time is over | held until then |
| open | somebody would ask after it | half-open: that one tries, others are held |
| half-open | the trial fails | open, for the time again |
| half-open | enough trials end well | closed |
| half-open | whoever tries is gone | the next one tries when the trial has lapsed |
| any | an operator closes it | closed |

A failure is one of the agent itself: it is not reached, breaks, or does not answer in time. What it says is none.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from perdure.sources import SECOND, Micros
from perdure.verbs.agent_handlers import BreakerRule

RECENT = 20
"""How many of the latest attempts are looked at."""
GOOD, BAD = "0", "1"
MAX_TRIES = 20
OPEN = "agent.open"
"""The code of work that an open breaker holds."""
BreakerState = Literal["closed", "open", "half_open"]


class Breaker(msgspec.Struct, frozen=True):
    """Of one agent in one tenant. `version` counts its changes; 0 when nothing was ever recorded."""

    state: BreakerState = "closed"
    recent: str = ""
    until: Micros = 0
    """When an open one may be tried, or a trial has lapsed."""
    successes: int = 0
    trips: int = 0
    changed_at: Micros = 0
    by: str = ""
    """Who closed it by hand last."""
    reason: str = ""
    version: int = 0


class Breakers(Protocol):
    """The breakers of all tenants, shared by all workers."""

    async def read(self, tenant: str, agent: str) -> Breaker:
        """The breaker as it is; one that is closed where nothing was recorded."""
        ...

    async def write(self, tenant: str, agent: str, breaker: Breaker) -> bool:
        """Store what follows on the version before; whether nobody else has meanwhile."""
        ...

    async def list(self, tenant: str) -> list[tuple[str, Breaker]]:
        """Every breaker of a tenant, by its agent's name."""
        ...


class Admission(NamedTuple):
    """Whether an attempt may be made: at once, or not before `until`. `changed` is to be stored first."""

    until: Micros = 0
    changed: Breaker | None = None


def admit(breaker: Breaker, rule: BreakerRule, now: Micros) -> Admission:
    """What an attempt meets that is about to begin."""
    if breaker.state == "closed":
        return Admission()
    if now < breaker.until:
        return Admission(breaker.until)
    trial = replace(breaker, state="half_open", until=now + int(rule.trial_seconds * SECOND), changed_at=now)
    return Admission(changed=trial if breaker.state == "half_open" else replace(trial, successes=0))


def recorded(breaker: Breaker, rule: BreakerRule, now: Micros, *, failed: bool) -> Breaker:
    """The breaker after an attempt has ended."""
    match breaker.state:
        case "closed":
            recent = (breaker.recent + (BAD if failed else GOOD))[-RECENT:]
            is_enough = len(recent) >= rule.calls and recent.count(BAD) >= rule.failures * len(recent)
            after = replace(breaker, recent=recent, changed_at=now)
            return _opened(after, rule, now) if failed and is_enough else after
        case "half_open" if failed:
            return _opened(breaker, rule, now)
        case "half_open":
            successes = breaker.successes + 1
            if successes >= rule.successes:
                return replace(breaker, state="closed", recent="", until=0, successes=0, changed_at=now)
            return replace(breaker, successes=successes, until=now, changed_at=now)
        case _:
            return breaker  # an attempt that had begun before it opened


def closed(breaker: Breaker, now: Micros, by: str, reason: str) -> Breaker:
    """The breaker after somebody closed it by hand."""
    return replace(
        breaker, state="closed", recent="", until=0, successes=0, changed_at=now, by=by, reason=reason
    )  # fmt: skip


def _opened(breaker: Breaker, rule: BreakerRule, now: Micros) -> Breaker:
    until = now + int(rule.open_seconds * SECOND)
    return replace(breaker, state="open", until=until, successes=0, trips=breaker.trips + 1, changed_at=now)


async def seconds_to_wait(breakers: Breakers, tenant: str, agent: str, rule: BreakerRule, now: Micros) -> float | None:
    """How long an attempt has to wait; None when it may be made now. Of several at once one is the trial."""
    for _ in range(MAX_TRIES):
        breaker = await breakers.read(tenant, agent)
        admission = admit(breaker, rule, now)
        if admission.until:
            return max(1, admission.until - now) / SECOND
        if admission.changed is None or await breakers.write(tenant, agent, admission.changed):
            return None
    return rule.open_seconds


async def record(breakers: Breakers, tenant: str, agent: str, rule: BreakerRule, now: Micros, *, failed: bool) -> None:
    """Count how an attempt ended."""
    for _ in range(MAX_TRIES):
        breaker = await breakers.read(tenant, agent)
        after = recorded(breaker, rule, now, failed=failed)
        if after is breaker or await breakers.write(tenant, agent, after):
            return
