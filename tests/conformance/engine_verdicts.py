"""Plays the conformance suite on an engine in a process of its own, because an SDK may abort when Python ends.

python -m tests.conformance.engine_verdicts ENGINE PLACE OUTPUT [EVERY [FIRST] | CASE ...]

For `camunda` the place is that of a broker's REST interface and that of the receiver of its records, as
`127.0.0.1:8080,127.0.0.1:9200`. What that release or our engine for it does not carry is refused before the run.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from perdure.testing.conformance import Case, Verdict, contract_cases, exercise, scenario_cases
from perdure.testing.conformance.case import EngineWorld
from perdure.testing.scenarios.camunda_world import CamundaWorld
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.scenario import Scenario
from perdure.testing.scenarios.temporal_world import TemporalWorld
from tests.conformance.camunda_refusals import MOVED, camunda_refusals
from tests.scenarios.cases import FILES

CASE_SECONDS = {"temporal": 90, "embedded": 90, "camunda": 60}
AWAY = {"temporal": ("RPCError", "TimeoutError"), "camunda": ("URLError", "ConnectionError")}
"""How a server that did not answer in time shows; nothing is said of the engine then, and the case is played again."""


class Worlds:
    """Opens a world for each case; the time of a broker never goes back between them."""

    def __init__(self, engine: str, place: str) -> None:
        self._engine = engine
        self._place = place
        self._at = 0

    @property
    def seconds(self) -> int:
        return CASE_SECONDS[self._engine]

    def refusals(self, case: Case) -> tuple[str, ...]:
        """Why a case is not played at all."""
        return camunda_refusals(case) if self._engine == "camunda" else ()

    def open(self, scenario: Scenario) -> AbstractAsyncContextManager[EngineWorld]:
        if self._engine == "temporal":
            return TemporalWorld.open_at(scenario, self._place)
        if self._engine == "camunda":
            return self._camunda(scenario)
        return EmbeddedWorld.open(scenario, self._place)

    @asynccontextmanager
    async def _camunda(self, scenario: Scenario) -> AsyncIterator[EngineWorld]:
        target, _, tail = self._place.partition(",")
        async with CamundaWorld.open_at(scenario, target, tail, self._at) as world:
            try:
                yield world
            finally:
                self._at = world.now


async def played(case: Case, worlds: Worlds) -> Verdict:
    """The verdict of a case; a store that is not sound afterwards fails it."""
    if refusals := worlds.refusals(case):
        return Verdict(case.name, "refused", refusals)
    findings: list[str] = []

    async def play(scenario: Scenario, world: EngineWorld) -> list[str]:
        wrong = await case.play(scenario, world)
        assert isinstance(world, EmbeddedWorld)
        findings.extend(await world.audit())
        return wrong

    try:
        async with asyncio.timeout(worlds.seconds):
            verdict = await exercise(replace(case, play=play, needs=case.needs - MOVED), worlds.open)
    except Exception as error:
        return Verdict(case.name, "failed", (f"{type(error).__name__}: {error}"[:300],))
    return Verdict(case.name, "failed", tuple(findings)) if findings else verdict


async def verdicts(engine: str, place: str, *part: str) -> AsyncIterator[Verdict]:
    worlds = Worlds(engine, place)
    with TemporaryDirectory() as folder:
        for case in _chosen([*contract_cases(Path(folder))], [*scenario_cases(FILES)], part):
            verdict = await played(case, worlds)
            if any(reason.startswith(AWAY.get(engine, ())) for reason in verdict.reasons):
                verdict = await played(case, worlds)
            yield verdict


def _chosen(contract: list[Case], scenarios: list[Case], part: tuple[str, ...]) -> list[Case]:
    """The contract and every so many scenarios, or what is named."""
    if part and not part[0].isdecimal():
        return [case for case in (*contract, *scenarios) if case.name in part]
    every, first = ([int(each) for each in part] + [1, 0][len(part) :])[:2]
    return [*contract, *scenarios[first::every]]


async def write(output: str, told: AsyncIterator[Verdict]) -> None:
    """Write what there is after each case: a run that is stopped has played so much."""
    found = []
    async for each in told:
        found.append([each.case, each.outcome, list(each.reasons)])
        with open(output, "w", encoding="utf-8") as file:  # noqa: ASYNC230
            json.dump(found, file)


if __name__ == "__main__":
    asyncio.run(write(sys.argv[3], verdicts(sys.argv[1], sys.argv[2], *sys.argv[4:])))
    os._exit(0)
