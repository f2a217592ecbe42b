"""The conformance suite of engines on the embedded engine, in each store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from perdure.app.perdure import Perdure
from perdure.engine import EVERYTHING, Receipt
from perdure.errors import RejectedError
from perdure.sources import id_text
from perdure.testing.conformance import Case, contract_cases, exercise, scenario_cases
from perdure.testing.conformance.case import EngineWorld
from perdure.testing.conformance.contract_cases import PROMISES
from perdure.testing.conformance.order_process import PROCESS, order
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.scenario import Scenario
from tests.depth import sampled
from tests.scenarios.cases import FILES, name_of

NAMES = [promise.__name__ for promise in PROMISES]


@pytest.fixture(scope="module")
def promises(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    return {case.name: case for case in contract_cases(tmp_path_factory.mktemp("contract"))}


async def assert_held(case: Case, store: str = "") -> None:
    """The engine keeps the promise, and the store is sound afterwards."""
    findings: list[str] = []

    async def play(scenario: Scenario, world: EngineWorld) -> list[str]:
        wrong = await case.play(scenario, world)
        assert isinstance(world, EmbeddedWorld)
        findings.extend(await world.audit())
        return wrong

    verdict = await exercise(replace(case, play=play), lambda scenario: EmbeddedWorld.open(scenario, store))
    assert verdict.outcome == "held", verdict.reasons
    assert not findings


@pytest.mark.req("V13")
@pytest.mark.parametrize("name", NAMES)
async def test_the_engine_keeps_what_the_contract_promises(
    name: str, promises: dict[str, Case], store_url: str
) -> None:
    await assert_held(promises[name], store_url)


@pytest.mark.req("V13")
@pytest.mark.parametrize("path", sampled(FILES, 220), ids=name_of)
async def test_a_scenario_holds_on_sqlite(path: Path) -> None:
    await assert_held(*scenario_cases([path]))


@pytest.mark.req("V13")
@pytest.mark.parametrize("path", FILES[::12], ids=name_of)
async def test_a_scenario_holds_on_postgres(path: Path, postgres_url: str) -> None:
    await assert_held(*scenario_cases([path]), postgres_url)


class Poor:
    """An engine that declares to lack something, and says of every message that somebody took it."""

    name, capabilities = "poor", replace(EVERYTHING, suspend=False)

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def carrier(self, instance: Any) -> Any:
        return replace(await self._engine.carrier(instance), name=self.name, capabilities=self.capabilities)

    async def publish(self, *told: Any, **more: Any) -> Receipt:
        return Receipt("correlated", "m1")


class PoorWorld(EmbeddedWorld):
    @property
    def engine(self) -> Any:
        return Poor(super().engine)


async def test_an_engine_that_lacks_a_capability_skips_the_case_and_says_so(promises: dict[str, Case]) -> None:
    verdict = await exercise(promises["a_held_instance_does_not_move"], PoorWorld.open)
    assert (verdict.outcome, verdict.reasons) == ("skipped", ("the engine 'poor' lacks suspend",))


async def test_an_engine_that_breaks_a_promise_fails_the_case(promises: dict[str, Case]) -> None:
    verdict = await exercise(promises["a_message_that_nobody_wants_says_so"], PoorWorld.open)
    assert verdict.outcome == "failed"
    assert "no_subscription" in verdict.reasons[0]


async def test_a_call_that_the_engine_cannot_answer_is_refused_by_name(promises: dict[str, Case]) -> None:
    case = promises["a_held_instance_does_not_move"]
    async with EmbeddedWorld.open(case.scenario) as world:
        await world.deploy(order())
        begun = await world.engine.start(PROCESS, world.origin)
        runtime = world.sandbox.runtime
        runtime.engine = Poor(runtime.engine)  # type: ignore[assignment]
        with pytest.raises(RejectedError) as refused:
            await Perdure(runtime, world.origin).instances.suspend(id_text(begun.id))
        assert refused.value.rejection.code == "blocked"
        assert "its engine cannot suspend" in str(refused.value)
        await world.idle()
        assert (await world.instances.read(begun.id, world.origin)).state.status == "active"
