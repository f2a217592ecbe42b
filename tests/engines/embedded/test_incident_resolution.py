"""What is stuck is ended by hand only where it is known what comes after it."""

from __future__ import annotations

import pytest

from perdure.bpmn.model import Gateway, Model, MultiInstance, Value
from perdure.errors import RejectedError
from tests.engines.embedded.engine_world import ORIGIN, opened
from tests.engines.embedded.process_models import (
    END,
    START,
    flow,
    line,
    message,
    model,
    pause,
    service,
    user,
    wait,
    when,
)

CHOICE = model(
    "p",
    (START, Gateway(id="choice", kind="exclusive"), user("one"), user("two"), END),
    (
        flow("start", "choice"), flow("choice", "one", when("orch_n", 1)), flow("choice", "two", when("orch_n", 2)),
        flow("one", "end"), flow("two", "end"),
    ),
)  # fmt: skip
RACE = model(
    "p",
    (START, Gateway(id="choice", kind="event"), wait("asked", "m"), pause("late", "P1D"), user("one"), END),
    (
        flow("start", "choice"), flow("choice", "asked"), flow("choice", "late"), flow("asked", "one"),
        flow("late", "one"), flow("one", "end"),
    ),
    messages=(message("m", flag="orch_key"),),
)  # fmt: skip


@pytest.mark.req("O6")
@pytest.mark.parametrize(("process", "flags"), [(CHOICE, {"orch_n": 1}), (RACE, {"orch_key": "k"})])
async def test_a_token_at_a_gateway_is_not_swallowed_by_resolving_its_incident(
    store_url: str, process: Model, flags: dict[str, str | int]
) -> None:
    async with opened(store_url) as world:
        await world.deploy(process, profile="open")
        begun = await world.start("p")
        stuck = world.node(begun, "choice")
        with pytest.raises(RejectedError, match=r"which way its token would go from 'choice'\. Retry it with flags"):
            await world.engine.resolve_incident(begun.id, stuck, ORIGIN, reason="never mind")
        assert (await world.now(begun)).version == begun.version
        await world.engine.retry_incident(begun.id, stuck, ORIGIN, flags=flags)
        await world.engine.publish("m", "k", ORIGIN)
        assert world.standing(await world.now(begun)) == ["one"]


async def test_a_task_that_could_not_begin_and_is_resolved_goes_on_after_it(store_url: str) -> None:
    async with opened(store_url) as world:
        each = service("each", "t.one", repeat=MultiInstance(Value("orch_n", "flag")))
        await world.deploy(line("p", each, user("last")), profile="open")
        begun = await world.start("p", flags={"orch_n": -1})
        await world.engine.resolve_incident(begun.id, world.node(begun, "each"), ORIGIN, reason="done by phone")
        assert world.standing(await world.now(begun)) == ["last"]
