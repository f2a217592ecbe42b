"""Cases of the conformance suite, and the verdict of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

import msgspec

from perdure.engine import Engine
from perdure.journal import Origin
from perdure.processes.instance_reader import InstanceReader
from perdure.testing.scenarios.scenario import Scenario
from perdure.testing.scenarios.world import World


class EngineWorld(World, Protocol):
    """A world of a scenario whose engine can be asked directly; `advance` moves the engine's clock."""

    @property
    def engine(self) -> Engine: ...
    @property
    def instances(self) -> InstanceReader: ...
    @property
    def origin(self) -> Origin: ...
    async def idle(self) -> None:
        """Wait until nothing is left to do now."""
        ...


OpenWorld = Callable[[Scenario], AbstractAsyncContextManager[EngineWorld]]
"""Opens a world of its own for a scenario: nothing of another case is in it."""
Play = Callable[[Scenario, EngineWorld], Awaitable[list[str]]]
"""Plays a case; what is wrong, nothing when it holds."""


class Case(msgspec.Struct, frozen=True):
    """A promise of an engine. `needs` are the names of the capabilities it takes."""

    name: str
    scenario: Scenario
    play: Play
    needs: frozenset[str] = frozenset()


class Verdict(msgspec.Struct, frozen=True):
    """What became of a case; `reasons` say what is wrong, which capability is lacking, or why it is not carried."""

    case: str
    outcome: Literal["held", "failed", "skipped", "refused"]
    reasons: tuple[str, ...] = ()


async def exercise(case: Case, open_world: OpenWorld) -> Verdict:
    """Play a case in a world of its own; skipped when the engine declares to lack what the case needs."""
    async with open_world(case.scenario) as world:
        engine = world.engine
        if lacking := engine.capabilities.lacks(case.needs):
            reasons = tuple(f"the engine '{engine.name}' lacks {name}" for name in lacking)
            return Verdict(case.name, "skipped", reasons)
        wrong = await case.play(case.scenario, world)
    return Verdict(case.name, "failed" if wrong else "held", tuple(wrong))
