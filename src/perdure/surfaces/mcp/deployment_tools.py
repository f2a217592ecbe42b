"""The tool about deployments: what one would mean for everything that runs. Deploying is for people."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from perdure.app.deployments.views import DeploymentImpact
from perdure.app.operations import deployments
from perdure.app.operations.deployments import ModelFile
from perdure.surfaces.mcp.tool import Tool, ToolSession

STATES_SHOWN = 20
VERBS_SHOWN = 50


class AskImpact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which deployment; without a model that of the latest versions."""

    model: Annotated[str, Meta(description="A BPMN file to be deployed; none: what is deployed already.")] = ""
    process: Annotated[str, Meta(description="Only this process of the file.", max_length=200)] = ""
    profile: Annotated[
        Literal["hollow", "contract", "open"] | None,
        Meta(description="Default: contract for a process that has a workflowDefinition, else hollow."),
    ] = None
    mapping: Annotated[dict[str, str], Meta(description="Old element to new, where ids change.")] = {}


async def deployment_impact(desk: ToolSession, asked: AskImpact) -> DeploymentImpact:
    """Ask what a deployment would mean for running work: for every state in which instances are parked, whether they
    go on, migrate with which mapping, or must stay pinned and why; the same for verbs whose text has changed.

    Nothing is changed. Of each process the 20 gravest states are shown.
    """
    models = [ModelFile(asked.model)] if asked.model else []
    request = deployments.CheckDeployment(models, asked.process, asked.profile, mapping=asked.mapping)
    found = await desk.perform(deployments.check_deployment_impact, request)
    bounds = list(found.bounds)
    for each in found.processes:
        if len(each.states) > STATES_SHOWN:
            bounds.append(f"of the {len(each.states)} states of '{each.process}' the first {STATES_SHOWN} are shown")
    processes = [replace(each, states=each.states[:STATES_SHOWN]) for each in found.processes]
    return replace(found, processes=processes, verbs=found.verbs[:VERBS_SHOWN], bounds=bounds)


TOOLS = (
    Tool(
        title="Impact of a deployment", operation="deployment.check", takes=AskImpact, gives=DeploymentImpact,
        act=deployment_impact, is_reading=True,
    ),
)  # fmt: skip
