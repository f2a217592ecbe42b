"""Operations on processes: list, show, check, deploy, retire and deprecate models.

A model names verbs and never handlers: the handler of a verb is bound by the project of the server alone.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

import msgspec

from perdure.app.lists.cursors import Page
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Name, Nothing, Number
from perdure.app.operations.verb_scopes import DISCOVERED, NO_VERB, REDACTED, VERBS_OF_PROCESS, VERBS_OF_VERSION
from perdure.app.processes.contract_view import ContractView
from perdure.app.processes.model_review import DeployedView, Proposed, RefusedModelError, Review
from perdure.app.processes.project_models import policies_in
from perdure.app.processes.views import ReviewedProcess
from perdure.app.runbooks.confirmation import check_deployment
from perdure.app.task_channels.deployment_check import check_shown
from perdure.app.worst_case import WorstCase
from perdure.engine import ProcessVersion
from perdure.errors import RejectedError

TAG = "processes"


class ProcessName(Request, frozen=True):
    """A process."""

    process: Name


class ShowProcess(Request, frozen=True):
    """A process in one version."""

    process: Name
    version: Number


class ModelText(Request, frozen=True):
    """A BPMN file; of its executable processes the one named, or all of them."""

    xml: str
    process: str = ""
    profile: Literal["hollow", "contract", "open"] | None = None
    """Default: contract for a process that has a `workflowDefinition`, else hollow."""


class DeployModel(ModelText, frozen=True):
    """The same to be deployed. One that reaches something grave is deployed by a person alone; when it may begin with
    nobody to ask, the person confirms it."""

    confirm: str = ""
    phrase: str = ""
    policies: str = ""
    """Of the contract profile: the text of `policies.yaml`, which every `policyRef` resolves in."""


class EndVersion(Request, frozen=True):
    """A process in one version, and why nothing begins under it any more; the journal keeps it."""

    process: Name
    version: Number
    reason: str = ""


class ProcessVersions(msgspec.Struct, frozen=True):
    """Every version of a process, oldest first."""

    process: str
    versions: list[ProcessVersion]


@operation("process.list", Route("GET", "/processes"), tag=TAG, scope=REDACTED)
async def list_processes(context: Context, request: Nothing) -> Page[ProcessVersion]:
    """Every process in its latest version, where the key reaches all verbs that the version can reach."""
    return Page([each for each in await context.perdure.processes.list() if await _is_reached(context, each)])


async def _is_reached(context: Context, version: ProcessVersion) -> bool:
    processes = context.perdure.processes
    return not context.is_narrow or context.reaches(await processes.verbs(version.process, version.version))


@operation("process.read", Route("GET", "/processes/{process}"), tag=TAG, scope=VERBS_OF_PROCESS)
async def list_versions(context: Context, request: ProcessName) -> ProcessVersions:
    """Every version of a process."""
    return ProcessVersions(request.process, list(await context.perdure.processes.versions(request.process)))


@operation(
    "process.read",
    Route("GET", "/processes/{process}/versions/{version}"),
    tag=TAG,
    scope=VERBS_OF_VERSION,
    computes=True,
)
async def show_process(context: Context, request: ShowProcess) -> ReviewedProcess:
    """One version in full: its model, what lint finds in it and what a proof says."""
    return await context.perdure.processes.show(request.process, request.version)


@operation(
    "process.read",
    Route("GET", "/processes/{process}/versions/{version}/worst-case"),
    tag=TAG,
    scope=VERBS_OF_VERSION,
    computes=True,
)
async def show_worst_case(context: Context, request: ShowProcess) -> WorstCase:
    """What one instance of a version may do at most, before it begins: from its graph, loops and what verbs declare."""
    return await context.perdure.processes.worst_case(request.process, request.version)


@operation(
    "process.read", Route("GET", "/processes/{process}/versions/{version}/contract"), tag=TAG, scope=VERBS_OF_VERSION
)
async def show_contract(context: Context, request: ShowProcess) -> ContractView:
    """What a version of the contract profile agrees: its work with policies, its waits with templates, its decisions.

    A version of another profile agrees nothing: everything is empty.
    """
    return await context.perdure.processes.contract(request.process, request.version)


@operation("process.check", Route("POST", "/processes/check"), tag=TAG, scope=NO_VERB, repeat="domain", computes=True)
async def check_process(context: Context, request: ModelText) -> Review:
    """What lint finds in a model and what a proof says; nothing is deployed."""
    return await context.perdure.processes.check(request.xml, process=request.process, profile=request.profile)


@operation("process.deploy", Route("POST", "/processes", 201), tag=TAG, scope=DISCOVERED)
async def deploy_process(context: Context, request: DeployModel) -> DeployedView:
    """Deploy the processes of a model for the tenant alone; the same content again is the same version.

    What is wrong with it is in the answer either way: `errors` are what refuses it, `findings` and `proofs` all of it.
    """
    processes = context.perdure.processes
    policies = policies_in(request.policies)
    proposed = await processes.propose(
        request.xml, process=request.process, profile=request.profile, policies=policies
    )  # fmt: skip
    if context.is_narrow:
        context.check_all("process.deploy", [*proposed.verbs, *await _verbs_before(context, proposed)])
    if proposed.problems:
        raise RefusedModelError(proposed)
    await check_deployment(context, proposed, request.confirm, request.phrase)
    await check_shown(context.runtime, context.origin.tenant, [each.deployed for each in proposed.judged])
    return await processes.enter(proposed)


async def _verbs_before(context: Context, proposed: Proposed) -> list[str]:
    """The verbs of the versions that a model would replace: whoever starts or calls their process gets the new one."""
    processes, found = context.perdure.processes, list[str]()
    for each in proposed.judged:
        with suppress(RejectedError):  # it is new
            found += await processes.verbs_of_all(each.deployed.process.id)
    return found


@operation(
    "process.retire",
    Route("POST", "/processes/{process}/versions/{version}/retire"),
    tag=TAG,
    scope=VERBS_OF_VERSION,
)
async def retire_process(context: Context, request: EndVersion) -> ProcessVersions:
    """No instance begins under that version any more; those that run go on."""
    found = await context.perdure.processes.retire(request.process, request.version, request.reason)
    return ProcessVersions(request.process, list(found))


@operation(
    "process.deprecate",
    Route("POST", "/processes/{process}/versions/{version}/deprecate"),
    tag=TAG,
    scope=VERBS_OF_VERSION,
)
async def deprecate_process(context: Context, request: EndVersion) -> ProcessVersions:
    """Instances begin under that version only when it is asked for by its number."""
    found = await context.perdure.processes.deprecate(request.process, request.version, request.reason)
    return ProcessVersions(request.process, list(found))
