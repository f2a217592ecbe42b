"""Processes: what is deployed, what lint and a proof say of it, and deploying for one's own tenant.

A model names verbs and never handlers: what a verb runs is bound by the project of the server alone.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from litestar.params import Parameter

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.paging import Page
from perdure.app.process_views import ReviewedProcess
from perdure.app.reviewing import DeployedView, Proposed, Review
from perdure.app.task_views import FieldError
from perdure.engine import ProcessVersion
from perdure.errors import DefinitionError
from perdure.surfaces.http.bodies import NO_REASON, Reason
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import BIGGEST, Name
from perdure.surfaces.http.problems import RefusedRequest

TAGS = ("processes",)
Number = Annotated[int, Parameter(ge=1, le=BIGGEST, description="A version.")]


class ModelText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A BPMN file; of its executable processes the one named, or all of them."""

    xml: str
    process: str = ""
    profile: Literal["hollow", "contract", "open"] = "hollow"


class ProcessVersions(msgspec.Struct, frozen=True):
    """Every version of a process, oldest first."""

    process: str
    versions: list[ProcessVersion]


@reading("/processes", "process.list", tags=TAGS)
async def list_processes(perdure: Perdure) -> Page[ProcessVersion]:
    """Every process in its latest version."""
    return Page(list(await perdure.processes.list()))


@reading("/processes/{process:str}", "process.read", tags=TAGS)
async def list_versions(perdure: Perdure, process: Name) -> ProcessVersions:
    """Every version of a process."""
    return ProcessVersions(process, list(await perdure.processes.versions(process)))


@reading("/processes/{process:str}/versions/{version:int}", "process.read", tags=TAGS)
async def show_process(perdure: Perdure, process: Name, version: Number) -> ReviewedProcess:
    """One version in full: its model, what lint finds in it and what a proof says."""
    return await perdure.processes.show(process, version)


@acting("/processes/check", "process.check", repeats="domain", tags=TAGS)
async def check_process(perdure: Perdure, data: ModelText) -> Review:
    """What lint finds in a model and what a proof says; nothing is deployed."""
    return await perdure.processes.check(data.xml, process=data.process, profile=data.profile)


@acting("/processes", "process.deploy", status=201, tags=TAGS)
async def deploy_process(perdure: Perdure, principal: Principal, data: ModelText) -> DeployedView:
    """Deploy the processes of a model for the tenant alone; the same content again is the same version.

    What is wrong with it is in the answer either way: `errors` are what refuses it, `findings` and `proofs` all of it.
    """
    proposed = await perdure.processes.propose(data.xml, process=data.process, profile=data.profile)
    for verb in proposed.verbs:
        check(principal, "process.deploy", verb=verb)
    if proposed.problems:
        raise _refused(proposed)
    return await perdure.processes.enter(proposed)


@acting("/processes/{process:str}/versions/{version:int}/retire", "process.retire", tags=TAGS)
async def retire_process(
    perdure: Perdure, principal: Principal, process: Name, version: Number, data: Reason = NO_REASON
) -> ProcessVersions:
    """No instance begins under that version any more; those that run go on."""
    check(principal, "process.retire", verb=await perdure.processes.verb(process, version))
    return ProcessVersions(process, list(await perdure.processes.retire(process, version, data.reason)))


@acting("/processes/{process:str}/versions/{version:int}/deprecate", "process.deprecate", tags=TAGS)
async def deprecate_process(
    perdure: Perdure, principal: Principal, process: Name, version: Number, data: Reason = NO_REASON
) -> ProcessVersions:
    """Instances begin under that version only when it is asked for by its number."""
    check(principal, "process.deprecate", verb=await perdure.processes.verb(process, version))
    return ProcessVersions(process, list(await perdure.processes.deprecate(process, version, data.reason)))


def _refused(proposed: Proposed) -> RefusedRequest:
    problems = list(proposed.problems)
    found = [FieldError(each.field or each.where(), each.reason, each.hint) for each in problems]
    more: dict[str, Any] = {**msgspec.to_builtins(proposed.review), "problems": msgspec.to_builtins(problems)}
    return RefusedRequest(
        422, DefinitionError.code, str(DefinitionError(problems)), "Mend the model and send it again.", errors=found,
        more=more,
    )  # fmt: skip


ROUTES: tuple[Any, ...] = (
    list_processes, list_versions, show_process, check_process, deploy_process, retire_process, deprecate_process,
)  # fmt: skip
