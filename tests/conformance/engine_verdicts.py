"""Plays the conformance suite on an engine in a process of its own, because an SDK may abort when Python ends.

python -m tests.conformance.engine_verdicts ENGINE PLACE OUTPUT [EVERY]
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from perdure.testing.conformance import Case, Verdict, contract_cases, exercise, scenario_cases
from perdure.testing.conformance.case import EngineWorld, OpenWorld
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.scenario import Scenario
from perdure.testing.scenarios.temporal_world import TemporalWorld
from tests.scenarios.cases import FILES

CASE_SECONDS = 90
AWAY = ("RPCError", "TimeoutError")
"""How a server that did not answer in time shows; nothing is said of the engine then, and the case is played again."""


def world_of(engine: str, place: str) -> OpenWorld:
    if engine == "temporal":
        return lambda scenario: TemporalWorld.open_at(scenario, place)
    return lambda scenario: EmbeddedWorld.open(scenario, place)


async def played(case: Case, open_world: OpenWorld) -> Verdict:
    """The verdict of a case; a store that is not sound afterwards fails it."""
    findings: list[str] = []

    async def play(scenario: Scenario, world: EngineWorld) -> list[str]:
        wrong = await case.play(scenario, world)
        assert isinstance(world, EmbeddedWorld)
        findings.extend(await world.audit())
        return wrong

    try:
        async with asyncio.timeout(CASE_SECONDS):
            verdict = await exercise(replace(case, play=play), open_world)
    except Exception as error:
        return Verdict(case.name, "failed", (f"{type(error).__name__}: {error}"[:300],))
    return Verdict(case.name, "failed", tuple(findings)) if findings else verdict


async def main(engine: str, place: str, every: int = 1) -> str:
    with TemporaryDirectory() as folder:
        cases = [*contract_cases(Path(folder)), *list(scenario_cases(FILES))[::every]]
        verdicts = []
        for case in cases:
            verdict = await played(case, world_of(engine, place))
            if any(reason.startswith(AWAY) for reason in verdict.reasons):
                verdict = await played(case, world_of(engine, place))
            verdicts.append(verdict)
    return json.dumps([[each.case, each.outcome, list(each.reasons)] for each in verdicts])


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(asyncio.run(main(sys.argv[1], sys.argv[2], *map(int, sys.argv[4:]))))
    os._exit(0)
