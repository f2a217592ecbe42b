"""Processes and instances on a server."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from perdure.app.calls.views import EventView
from perdure.app.instances.replay import DiagramView
from perdure.app.instances.views import InstanceView
from perdure.app.operations import instances, processes
from perdure.app.operations.events import follow_instance
from perdure.app.operations.instances import (
    CancelInstance,
    EraseInstance,
    ListInstances,
    MigrateBack,
    MigrateInstance,
    ModifyInstance,
    ResolveInstance,
    ResumeInstance,
    RetryInstance,
    ShowDiagram,
    ShowInstance,
    StartInstance,
    SuspendInstance,
)
from perdure.app.operations.processes import EndVersion, ListProcesses, ModelText, ProcessName, ShowProcess
from perdure.app.processes.review import Review
from perdure.app.processes.views import ReviewedProcess
from perdure.client.asynchronous.journals import follow_journal, journal, pages, wait_for
from perdure.client.asynchronous.transport import Transport
from perdure.client.model_files import in_file, read_model_text
from perdure.client.server_views import deployment
from perdure.engine import Deployment, Flags, MigrationPlan, ProcessVersion

Profile = Literal["hollow", "contract", "open"]
Until = Literal["committed", "rest", "end"]
MANY = 10_000


class Processes:
    """What is deployed. Reached as `client.processes`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def deploy(self, model: str | Path, *, process: str = "", profile: Profile = "hollow") -> Deployment:
        """Check and store a process of a model file. The same content again is the same version."""
        return (await self.deploy_text(read_model_text(model), process=process, profile=profile, file=str(model)))[0]

    async def deploy_text(
        self, xml: str, *, process: str = "", profile: Profile = "hollow", file: str = "model"
    ) -> builtins.list[Deployment]:
        """Check every executable process of a model, or the one named, and store them: all or none."""
        with in_file(file):
            found = await self._transport.ask(processes.deploy_process, ModelText(xml, process, profile))
        return [deployment(each, file) for each in found.deployments]

    async def check(self, xml: str, *, process: str = "", profile: Profile = "hollow") -> Review:
        """What lint and a proof say of a model; nothing is deployed. What is no model says so in its findings."""
        return await self._transport.ask(processes.check_process, ModelText(xml, process, profile))

    async def list(self) -> Sequence[ProcessVersion]:
        """Every process in its latest version."""
        return (await self._transport.ask(processes.list_processes, ListProcesses())).items

    async def get(self, process: str, version: int | None = None) -> ReviewedProcess:
        """One version in full, the latest unless one is named."""
        return await self.show(process, version)

    async def show(self, process: str, version: int | None = None) -> ReviewedProcess:
        """One version in full with what lint and a proof say of it."""
        if version is None:
            found = await self.versions(process)
            version = next((each.version for each in found if each.is_latest), found[-1].version)
        return await self._transport.ask(processes.show_process, ShowProcess(process, version))

    async def verb(self, process: str, version: int | None = None) -> str:
        """The verb that a process carries; empty of none."""
        return (await self.show(process, version)).verb

    async def versions(self, process: str) -> Sequence[ProcessVersion]:
        """Every version of a process, oldest first."""
        return (await self._transport.ask(processes.list_versions, ProcessName(process))).versions

    async def retire(self, process: str, version: int, reason: str = "") -> Sequence[ProcessVersion]:
        """No instance begins under that version any more; those that run go on."""
        return (await self._transport.ask(processes.retire_process, EndVersion(process, version, reason))).versions

    async def deprecate(self, process: str, version: int, reason: str = "") -> Sequence[ProcessVersion]:
        """Instances begin under that version only when it is asked for by its number."""
        return (await self._transport.ask(processes.deprecate_process, EndVersion(process, version, reason))).versions


class InstanceDesk:
    """Running and ended processes. Reached as `client.instances`; acts take `seen`, as for `client.runbooks`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

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
        `end`, as far as it has come when the time is up. One that carries a grave verb needs `confirm`, the hash of the
        plan that a person has seen; the gravest a `phrase` too.
        """
        request = StartInstance(
            process, version, dict(data or {}), dict(flags or {}), start, business_key, confirm=confirm, phrase=phrase
        )
        view = await self._transport.ask(instances.start_instance, request, key=idempotency_key)
        return view if until == "committed" else await self.wait(view.id, until, timeout_seconds)

    async def wait(self, id: str, until: Until = "end", timeout_seconds: float | None = None) -> InstanceView:
        """Until the instance has ended, or is at `rest`, or the time is up; then as `get`."""
        if until == "committed":
            return await self.get(id)
        return await wait_for(self._transport, instances.show_instance, ShowInstance(id), until, timeout_seconds)

    async def get(self, id: str, *, at: int | None = None) -> InstanceView:
        """An instance as it is now, or as it was after so many records."""
        return await self._transport.ask(instances.show_instance, ShowInstance(id, at))

    async def verb(self, id: str) -> str:
        """The verb that an instance carries; empty of none."""
        return (await self.get(id)).verb

    async def diagram(self, id: str, *, at: int | None = None, has_xml: bool = True) -> DiagramView:
        """The model an instance runs, or ran then, with what is to be shown on it."""
        return await self._transport.ask(instances.show_diagram, ShowDiagram(id, at, has_xml))

    async def list(
        self, *, process: str = "", status: str = "", business_key: str = "", after: str = "", limit: int = 100
    ) -> Sequence[InstanceView]:
        """Instances without their data, newest first; the id of the last is the `after` of the next page."""
        found: builtins.list[InstanceView] = []
        request, listing = ListInstances(process, status, business_key, whole=True), instances.list_instances
        async for view in pages(self._transport, InstanceView, listing, request, limit, after or None):
            found.append(view)
        return found

    async def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """The instance's journal, oldest first; with `follow`, what is still to come as well until it ends."""
        if follow:
            show, subject = instances.show_instance, ShowInstance(id)
            found = follow_journal(self._transport, follow_instance, show, subject, after, _is_ended)
        else:
            found = journal(self._transport, follow_instance, id, after)
        async for event in found:
            yield event

    async def cancel(
        self, id: str, reason: str = "", *, compensate: bool = False, seen: int | None = None
    ) -> InstanceView:  # fmt: skip
        """Stop an instance; what it did stays done unless it is asked to be undone."""
        return await self._transport.ask(instances.cancel_instance, CancelInstance(id, reason, compensate), seen=seen)

    async def suspend(self, id: str, reason: str = "", *, seen: int | None = None) -> InstanceView:
        """Let nothing happen to an instance, nor to the processes it calls, until it is resumed."""
        return await self._transport.ask(instances.suspend_instance, SuspendInstance(id, reason), seen=seen)

    async def resume(self, id: str, *, shift_timers: bool = False, seen: int | None = None) -> InstanceView:
        """Go on; what fell due meanwhile fires now, unless every timer is shifted by the time suspended.

        The processes it calls go on as well, but for those that were suspended for themselves.
        """
        return await self._transport.ask(instances.resume_instance, ResumeInstance(id, shift_timers), seen=seen)

    async def modify(
        self, id: str, *, cancel: Sequence[int] = (), start: Sequence[str] = (), flags: Flags | None = None,
        reason: str = "", seen: int | None = None,
    ) -> InstanceView:  # fmt: skip
        """Take tokens away by their numbers, put new ones before elements, set flags by hand; one commit."""
        request = ModifyInstance(id, list(cancel), list(start), dict(flags or {}), reason)
        return await self._transport.ask(instances.modify_instance, request, seen=seen)

    async def migrate(
        self, id: str, *, version: int | None = None, process: str = "", mapping: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None, reason: str = "", dry_run: bool = False, seen: int | None = None,
    ) -> MigrationPlan:  # fmt: skip
        """Go on under another version, the latest unless one is named; a dry run only says what would happen."""
        request = MigrateInstance(id, version, process, dict(mapping or {}), dict(flags or {}), reason, dry_run)
        return await self._transport.ask(instances.migrate_instance, request, seen=seen)

    async def migrate_back(
        self, id: str, *, reason: str = "", dry_run: bool = False, seen: int | None = None
    ) -> MigrationPlan:  # fmt: skip
        """To the version before the last migration, by the inverse of its mapping."""
        request = MigrateBack(id, reason, dry_run)
        return await self._transport.ask(instances.migrate_instance_back, request, seen=seen)

    async def retry(
        self, id: str, token: int | None = None, *, flags: Flags | None = None, reason: str = "",
        seen: int | None = None,
    ) -> InstanceView:  # fmt: skip
        """Try again what an incident stopped; without a token, every incident of the instance."""
        request = RetryInstance(id, token, dict(flags or {}), reason)
        return await self._transport.ask(instances.retry_instance, request, seen=seen)

    async def resolve(
        self, id: str, token: int | None = None, *, data: Mapping[str, Any] | None = None, flags: Flags | None = None,
        error: str = "", reason: str = "", seen: int | None = None,
    ) -> InstanceView:  # fmt: skip
        """End by hand what an incident stopped: as if it had completed with these, or with a business error's code."""
        brought = dict(data) if data is not None else None
        request = ResolveInstance(id, token, brought, dict(flags or {}), error, reason)
        return await self._transport.ask(instances.resolve_instance, request, seen=seen)

    async def erase(self, id: str, reason: str, *, seen: int | None = None) -> InstanceView:
        """Erase the data of an ended instance by a journalled tombstone; its history stays and still verifies."""
        return await self._transport.ask(instances.erase_instance, EraseInstance(id, reason), seen=seen)


def _is_ended(view: InstanceView) -> bool:
    return view.ended_at is not None
