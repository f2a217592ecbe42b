"""What the tests of the post-mortem share: sketched models, and a client that repeats what a crash cut off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.bpmn.xml import write_model
from perdure.durations import Span, later
from perdure.errors import RejectedError
from perdure.sources import SECOND
from perdure.testing.fault_injection import Crash, Side
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.scenario_player import play
from tests.scenarios.sketch import sketches

LINE = """
== line
start s
service a first.verb
service b second.verb
end e
s > a > b > e
"""
TIMER = """
== timer
start s
catch c timer duration PT1H
service a work.verb
end e
s > c > a > e
"""
HOURLY = """
== hourly
start s
user u
boundary b on u non timer cycle R3/PT1H
service a work.verb
end e
end e2
s > u > e
b > a > e2
"""
PERSON = """
== person
start s
user u
service a work.verb
end e
s > u > a > e
"""
EVERYTHING = """
== everything
start s
and f
race g
catch paid message paid key=orch_case
catch late timer duration P3D
service a work.verb
call c other
boundary hour on c timer duration PT1H
service b late.verb
end e
end e2
end e3
end e4
s > f
f > g
g > paid > a > e
g > late > e2
f > c > e3
hour > b > e4
process other
start os
user u
end oe
os > u > oe
"""


def scenario_of(
    sketch: str, folder: Path, *steps: v.Step, verbs: dict[str, Any] | None = None, **more: Any
) -> v.Scenario:
    """A scenario over one sketched model, written into the folder."""
    ((name, model),) = sketches(sketch).items()
    path = folder / f"{name}.bpmn"
    path.write_text(write_model(model), encoding="utf-8")
    listed = {verb: does if isinstance(does, tuple) else (does,) for verb, does in (verbs or {}).items()}
    return v.Scenario(file=name, model=path, process=name, profile="open", steps=steps, verbs=listed, **more)


class Stubborn:
    """A client that asks again, after the process came back, for what it was not told the end of."""

    def __init__(self, world: EmbeddedWorld) -> None:
        self._world = world
        self.crashes = 0

    async def advance(self, seconds: float, months: int = 0) -> None:
        """Time that has passed does not pass again."""
        clock = self._world.sandbox.clock
        target = later(clock.now(), Span(months, int(seconds * SECOND)))
        try:
            await self._world.advance(seconds, months)
        except Crash:
            self.crashes += 1
            await self._world.crash()
            await self._world.advance((target - clock.now()) / SECOND)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._world, name)
        return self._repeated(found) if callable(found) else found

    def _repeated(self, asked: Callable[..., Any]) -> Callable[..., Any]:
        async def ask(*words: Any) -> Any:
            try:
                return await asked(*words)
            except Crash:
                self.crashes += 1
                await self._world.crash()
            try:
                return await asked(*words)
            except RejectedError:
                return None  # it had been done after all

        return ask


async def survived(scenario: v.Scenario, number: int, side: Side) -> tuple[v.Outcome, int, list[str]]:
    """How it ends when the process dies once, at that commit; how often it died, and what an audit finds."""
    async with EmbeddedWorld.open(scenario, crash_at=(number, side)) as world:
        client = Stubborn(world)
        outcome = await play(scenario, client)  # type: ignore[arg-type]
        return outcome, client.crashes, await world.audit()
