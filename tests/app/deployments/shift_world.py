"""A sandbox for deployments: models are checked as files that somebody brings, instances are driven to their end."""

from __future__ import annotations

from typing import Any

from perdure.app.deployments.views import DeploymentImpact, StateImpact
from perdure.app.operations.deployments import CheckDeployment, ModelFile, check_deployment_impact
from perdure.bpmn.machine.state import ENDED
from perdure.bpmn.model import Model
from perdure.bpmn.xml import write_model
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text
from tests.engines.embedded.engine_world import World

MAX_ROUNDS = 50


async def impact(world: World, *models: Model, **more: Any) -> DeploymentImpact:
    """The answer of the operation, as every surface asks it."""
    files = [ModelFile(write_model(each), each.file) for each in models]
    request = CheckDeployment(files, **{"profile": "open", **more})
    return await world.sandbox.deployments._performer.ask(check_deployment_impact, request)


async def only_state(world: World, model: Model, **more: Any) -> StateImpact:
    """The impact on the only state that the instances of the only process are in."""
    (process,) = (await impact(world, model, **more)).processes
    (state,) = process.states
    return state


async def driven(world: World, instance: Aggregate) -> Aggregate:
    """The instance after everything that may come has come: answers, messages, time; until nothing more happens."""
    letters = id_text(instance.id)
    for _ in range(MAX_ROUNDS):
        now = await world.now(instance)
        if now.state.status in ENDED:
            return now
        tasks = [each for each in await world.sandbox.tasks.list() if each.instance == letters]
        waits = [each for each in now.state.watches.values() if each.kind == "message"]
        timers = [each for each in now.state.watches.values() if each.kind == "timer"]
        if tasks:
            await world.sandbox.tasks.complete(tasks[0].key)
        elif waits:
            await world.sandbox.publish(waits[0].name, waits[0].key)
        elif timers:
            await world.sandbox.advance("P1Y")
        else:
            return now
    raise AssertionError(f"{letters} goes on for ever")
