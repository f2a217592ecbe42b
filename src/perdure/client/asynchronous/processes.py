"""Processes and instances on a server."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from perdure.app.calls.views import EventView
from perdure.app.facade import instances
from perdure.app.facade.performer import Desk
from perdure.app.instances.views import InstanceView
from perdure.app.operations import processes
from perdure.app.operations.events import follow_instance
from perdure.app.operations.instances import ShowInstance, StartInstance, show_instance, start_instance
from perdure.app.operations.processes import DeployModel, EndVersion, ModelText, ProcessName, ShowProcess
from perdure.app.operations.request_fields import Nothing
from perdure.app.processes.contract_binding import profile_of_file
from perdure.app.processes.contract_view import ContractView
from perdure.app.processes.model_review import Review
from perdure.app.processes.project_models import policies_text, read_model_text
from perdure.app.processes.views import ReviewedProcess
from perdure.app.worst_case import WorstCase
from perdure.client.answer_conversion import deployment
from perdure.client.asynchronous.journals import journal_of
from perdure.client.asynchronous.transport import Transport
from perdure.client.model_upload import in_file
from perdure.engine import Deployment, Flags, ProcessVersion

Profile = Literal["hollow", "contract", "open"]
Until = Literal["committed", "rest", "end"]


class Processes(Desk):
    """What is deployed. Reached as `client.processes`."""

    async def deploy(
        self, model: str | Path, *, process: str = "", profile: Profile | None = None,
        policies: str | Path | None = None, confirm: str = "", phrase: str = "",
    ) -> Deployment:  # fmt: skip
        """Check and store a process of a model file. The same content again is the same version.

        `profile` is by default that of the process: contract when it has a `workflowDefinition`, else hollow.
        `policies` is the catalogue of the contract profile, by default `policies.yaml` beside the model.
        """
        own = profile or profile_of_file(Path(model), process)
        said = policies_text(Path(model), policies) if own == "contract" else ""
        text, told = read_model_text(model), {"confirm": confirm, "phrase": phrase, "policies": said}
        return (await self.deploy_text(text, process=process, profile=profile, file=str(model), **told))[0]

    async def deploy_text(
        self,
        xml: str,
        *,
        process: str = "",
        profile: Profile | None = None,
        file: str = "model",
        confirm: str = "",
        phrase: str = "",
        policies: str = "",
    ) -> builtins.list[Deployment]:
        """Check every executable process of a model, or the one named, and store them: all or none.

        One that reaches something grave and may begin with nobody to ask needs `confirm`, as a grave call does.
        """
        request = DeployModel(xml, process, profile, confirm, phrase, policies)
        with in_file(file):
            found = await self._performer.ask(processes.deploy_process, request)
        return [deployment(each, file) for each in found.deployments]

    async def check(self, xml: str, *, process: str = "", profile: Profile | None = None) -> Review:
        """What lint and a proof say of a model; nothing is deployed. What is no model says so in its findings."""
        return await self._performer.ask(processes.check_process, ModelText(xml, process, profile))

    async def list(self) -> Sequence[ProcessVersion]:
        """Every process in its latest version."""
        return (await self._performer.ask(processes.list_processes, Nothing())).items

    async def get(self, process: str, version: int | None = None) -> ReviewedProcess:
        """One version in full, the latest unless one is named."""
        return await self.show(process, version)

    async def show(self, process: str, version: int | None = None) -> ReviewedProcess:
        """One version in full with what lint and a proof say of it."""
        return await self._performer.ask(processes.show_process, await self._version(process, version))

    async def worst_case(self, process: str, version: int | None = None) -> WorstCase:
        """What one instance of a version may do at most: calls of models, money, writes, people's tasks."""
        return await self._performer.ask(processes.show_worst_case, await self._version(process, version))

    async def contract(self, process: str, version: int | None = None) -> ContractView:
        """What a version of the contract profile agrees with those who program its steps."""
        return await self._performer.ask(processes.show_contract, await self._version(process, version))

    async def _version(self, process: str, version: int | None) -> ShowProcess:
        """The version named, else the latest."""
        if version is None:
            found = await self.versions(process)
            version = next((each.version for each in found if each.is_latest), found[-1].version)
        return ShowProcess(process, version)

    async def verb(self, process: str, version: int | None = None) -> str:
        """The verb that a process carries; empty of none."""
        return (await self.show(process, version)).verb

    async def versions(self, process: str) -> Sequence[ProcessVersion]:
        """Every version of a process, oldest first."""
        return (await self._performer.ask(processes.list_versions, ProcessName(process))).versions

    async def retire(self, process: str, version: int, reason: str = "") -> Sequence[ProcessVersion]:
        """No instance begins under that version any more; those that run go on."""
        return (await self._performer.ask(processes.retire_process, EndVersion(process, version, reason))).versions

    async def deprecate(self, process: str, version: int, reason: str = "") -> Sequence[ProcessVersion]:
        """Instances begin under that version only when it is asked for by its number."""
        return (await self._performer.ask(processes.deprecate_process, EndVersion(process, version, reason))).versions


class InstanceDesk(instances.InstanceDesk):
    """Running and ended processes. Reached as `client.instances`; acts take `seen`, as for `client.runbooks`."""

    _performer: Transport

    async def start(
        self,
        process: str,
        data: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        flags: Flags | None = None,
        start: str = "",
        business_key: str = "",
        idempotency_key: str = "",
        until: Until = "committed",
        timeout_seconds: float | None = None,
        confirm: str = "",
        phrase: str = "",
    ) -> InstanceView:
        """Begin an instance, of the latest version unless one is named; under one idempotency key it begins once.

        Returns when that is durable; or, `until` it is at `rest` (only people, messages or time move it on) or at its
        `end`, as far as it has come when the time is up. One that reaches a grave verb needs `confirm`, the hash of the
        plan that a person has seen; the gravest a `phrase` too.
        """
        request = StartInstance(
            process, version, dict(data or {}), dict(flags or {}), start, business_key, confirm=confirm, phrase=phrase
        )
        view = await self._performer.ask(start_instance, request, key=idempotency_key)
        return view if until == "committed" else await self.wait(view.id, until, timeout_seconds)

    async def verb(self, id: str) -> str:
        """The verb that an instance carries; empty of none."""
        return (await self.get(id)).verb

    def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """The instance's journal, oldest first; with `follow`, what is still to come as well until it ends."""
        return journal_of(self._performer, follow_instance, show_instance, ShowInstance(id), after, follow)
