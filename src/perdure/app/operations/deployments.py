"""The operation about deployments: what models and verbs would mean for everything that runs."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from perdure.app.deployments.views import DeploymentImpact, LoadedVerb
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.verb_scopes import DISCOVERED
from perdure.app.processes.project_models import policies_in
from perdure.engine import Judged
from perdure.errors import RejectedError

TAG = "processes"
MAX_MODELS = 100


class ModelFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A BPMN file and its name, which problems are told by."""

    xml: str
    file: str = "model"


class CheckDeployment(Request, frozen=True):
    """Models to be deployed together; without any the latest versions are compared with what runs.

    `mapping` is old element to new, for elements whose ids change. `verbs` and `handlers` are those that workers will
    have; default: those of the process that answers.
    """

    models: Annotated[list[ModelFile], Meta(max_length=MAX_MODELS)] = field(default_factory=list)
    process: str = ""
    profile: Literal["hollow", "contract", "open"] | None = None
    """Default: contract for a process that has a `workflowDefinition`, else hollow."""
    policies: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    verbs: list[LoadedVerb] | None = None
    handlers: list[str] = field(default_factory=list)
    states: Annotated[int, Meta(ge=1, le=1_000_000, description="Give up a proof after so many states.")] = 50_000
    seconds: Annotated[float, Meta(gt=0, le=50, description="Processor time for the states of one process.")] = 20.0


@operation(
    "deployment.check", Route("POST", "/deployments/check"), tag=TAG, scope=DISCOVERED, repeat="domain", computes=True
)
async def check_deployment_impact(context: Context, request: CheckDeployment) -> DeploymentImpact:
    """For every state in which instances are parked: they go on, migrate with this mapping, or must stay pinned.

    The same for running work that is pinned to texts of verbs, and for the code of a carrier's workers. Nothing is
    changed. A model that would not be deployed is refused as it would be then.
    """
    from perdure.app.deployments.check import DeploymentCheck, own_serving  # noqa: PLC0415  brings the proof along
    from perdure.app.deployments.pinned_texts import Serving  # noqa: PLC0415  the same

    runtime = context.runtime
    check = DeploymentCheck(
        runtime, context.origin, context.reaches, processes=await _reached(context), mapping=request.mapping,
        states=request.states, seconds=request.seconds,
    )  # fmt: skip
    serving = own_serving(runtime)
    if request.verbs is not None:
        serving = Serving.told(request.verbs, request.handlers, runtime.catalogue)
    if not request.models:
        return await check.of_latest(serving)
    judged = await _judged(context, request)
    if context.is_narrow:
        context.check_all("deployment.check", await _verbs(context, judged))
    return await check.of_models(judged, serving)


async def _judged(context: Context, request: CheckDeployment) -> list[Judged]:
    processes = context.perdure.processes
    models = [await processes.read_model(each.xml, each.file) for each in request.models]
    policies = policies_in(request.policies)
    return await processes.judge_all(models, process=request.process, profile=request.profile, policies=policies)


async def _reached(context: Context) -> set[str] | None:
    """The processes that a narrow key reaches with all their versions; None for every process."""
    if not context.is_narrow:
        return None
    processes = context.perdure.processes
    return {
        each.process for each in await processes.list() if context.reaches(await processes.verbs_of_all(each.process))
    }


async def _verbs(context: Context, judged: list[Judged]) -> list[str]:
    """The verbs of the models, and of the versions before them."""
    found: list[str] = []
    for each in judged:
        deployed = each.deployed
        reached = each.consequence.verbs if each.consequence is not None else ()
        found += [name for name in (deployed.verb, *reached) if name]
        found += [binding.verb for binding in deployed.bindings.values()]
        with suppress(RejectedError):  # it is new
            found += await context.perdure.processes.verbs_of_all(deployed.process.id)
    return list(dict.fromkeys(found))
