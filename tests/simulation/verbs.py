"""The verbs of the simulation, and handlers that remember every run they made."""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from perdure.errors import BusinessError, Transient
from perdure.sources import SECOND
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import Call, Catalogue, load_text

DEFINITIONS = """
verbs:
- {name: s.none, execution: {kind: sync, effects: none}}
- {name: s.external, execution: {kind: sync, effects: external}}
- {name: s.cautious, execution: {kind: sync, effects: external, redelivery: incident}}
- {name: s.refused, execution: {kind: sync, effects: external}}
- name: s.flaky
  execution: {kind: sync, effects: external, retry: {max_attempts: 3, base_delay: PT1S, jitter: 0.5}}
- name: s.moody
  execution: {kind: sync, effects: none, retry: {max_attempts: 3, base_delay: PT2S, jitter: 0}}
- name: s.broken
  output_schema: {required: [ok], properties: {ok: {type: boolean}, run: {type: integer}, message: {type: string}}}
  execution: {kind: sync, effects: external}
- {name: s.wait, execution: {kind: durable}}
- name: s.checked
  output_schema: {required: [message], properties: {message: {type: string}}}
  execution: {kind: durable}
- {name: s.spawn, execution: {kind: durable, effects: external}}
- {name: s.timed, execution: {kind: durable, policy: {timeout: PT1H}}}
- {name: s.escalating, execution: {kind: durable, policy: {timeout: PT1H, escalation: s.rescue}}}
- {name: s.patient, execution: {kind: durable, effects: external, policy: {timeout: PT30M, escalation: s.night}}}
- name: s.named
  input_schema: {required: [name], properties: {name: {type: string}}}
  execution: {kind: durable, correlation: {key: "order-$name"}, policy: {timeout: PT20M, escalation: s.night}}
- {name: s.rescue, execution: {kind: sync, effects: external}}
- {name: s.night, execution: {kind: durable}}
"""

STARTED = (
    "s.none", "s.external", "s.cautious", "s.refused", "s.flaky", "s.moody", "s.broken", "s.wait", "s.checked",
    "s.spawn", "s.timed", "s.escalating", "s.patient", "s.named",
)  # fmt: skip
"""What clients ask for; the others are escalations."""

RUNS_BEFORE_ITS_START = frozenset({"s.none", "s.moody"})
"""Without effects a handler runs before the call is recorded, so every delivery of the start may run it."""


@functools.cache
def catalogue() -> Catalogue:
    return load_text(DEFINITIONS)


@dataclass
class Run:
    """One execution of a handler."""

    number: int
    verb: str
    call: str
    key: str
    attempt: int
    worker: str
    is_finished: bool = False


class Handlers:
    """What the outside world saw: each run, under which key, and whether it came to its end."""

    def __init__(self, chance: random.Random, clock: VirtualSources, tell: Callable[[str], None]) -> None:
        self._chance = chance
        self._clock = clock
        self._tell = tell
        self.runs: list[Run] = []

    def bound(self, worker: str) -> dict[str, Callable[..., Any]]:
        names = ("none", "external", "cautious", "refused", "flaky", "moody", "broken", "spawn", "patient", "rescue")

        async def run(call: Call) -> dict[str, Any]:
            return await self._run(worker, call)

        return {f"s.{name}": run for name in names}

    async def _run(self, worker: str, call: Call) -> dict[str, Any]:
        run = Run(len(self.runs), call.verb, call.call_id, call.idempotency_key, call.attempt, worker)
        self.runs.append(run)
        self._tell(f"{worker} runs {call.verb} of {call.call_id[-6:]} attempt {call.attempt} as run {run.number}")
        await self._take_time()
        run.is_finished = True
        self._tell(f"{worker} ended run {run.number}")
        return _outcome(run)

    async def _take_time(self) -> None:
        kind = self._chance.random()
        if kind < 0.2:
            await self._clock.sleep_until(self._clock.now() + self._chance.randrange(1, 60) * SECOND)
        elif kind < 0.5:
            for _ in range(self._chance.randrange(1, 12)):
                await asyncio.sleep(0)


def _outcome(run: Run) -> dict[str, Any]:
    match run.verb:
        case "s.refused":
            raise BusinessError("DECLINED", "no")
        case "s.flaky" | "s.moody" if run.attempt < 3:
            raise Transient("not yet")
        case "s.broken":
            return {} if run.attempt == 1 else {"ok": True, "run": run.number}
        case _:
            return {"run": run.number}
