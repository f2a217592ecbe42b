"""Deployments over the table of operations: what they would mean, before they happen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from perdure.app.deployments.views import DeploymentImpact, LoadedVerb
from perdure.app.facade.performer import Desk
from perdure.app.operations import deployments
from perdure.app.operations.deployments import CheckDeployment, ModelFile
from perdure.app.processes.contract_binding import profile_of_file
from perdure.app.processes.project_models import policies_text, read_model_text

Profile = Literal["hollow", "contract", "open"]


class DeploymentDesk(Desk):
    """What a deployment would mean for everything that runs. Reached as `perdure.deployments`."""

    async def check(
        self,
        models: Sequence[str | Path] = (),
        *,
        process: str = "",
        profile: Profile | None = None,
        policies: str | Path | None = None,
        mapping: Mapping[str, str] | None = None,
        verbs: Sequence[LoadedVerb] | None = None,
        handlers: Sequence[str] = (),
        states: int = 50_000,
        seconds: float = 20.0,
    ) -> DeploymentImpact:
        """For every state in which instances are parked: they go on, migrate with this mapping, or must stay pinned.

        `profile` is by default that of each process: contract when it has a `workflowDefinition`, else hollow.
        Without model files the latest versions are compared with what runs. `verbs` and `handlers` are those that
        workers will have, by default those of the process that answers. Nothing is changed.
        """
        files = [Path(each) for each in models]
        own = next((each for each in files if (profile or profile_of_file(each, process)) == "contract"), None)
        said = policies_text(own, policies) if own is not None else ""
        request = CheckDeployment(
            [ModelFile(read_model_text(each), str(each)) for each in models], process, profile, said,
            dict(mapping or {}), list(verbs) if verbs is not None else None, list(handlers), states, seconds,
        )  # fmt: skip
        return await self._performer.ask(deployments.check_deployment_impact, request)
