"""Processes, instances and tasks as every surface uses them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from perdure.app.calls.views import CarrierView, EventView
from perdure.app.instances.replay import DiagramView, marks_view, replay_instance
from perdure.app.instances.views import (
    InstanceView,
    carrier_view,
    incidents_of,
    instance_events,
    instance_view,
    known_look,
    look_of,
)
from perdure.app.lists.cursors import check_state
from perdure.app.processes.project_models import load_model
from perdure.app.processes.review import DeployedView, Proposed, Review, deployment_view, refused, unreadable
from perdure.app.runtime import Runtime
from perdure.bpmn.machine.definition import Deployed, Profile
from perdure.bpmn.machine.identity import child_id
from perdure.bpmn.machine.process_machine import ProcessState
from perdure.bpmn.machine.state import ENDED, Status
from perdure.bpmn.model import Model
from perdure.engine import Deployment, Flags, MigrationPlan, ProcessVersion, Until
from perdure.errors import DefinitionError, RejectedError, Rejection
from perdure.journal import Origin, genesis
from perdure.kernel.kernel import Aggregate
from perdure.payload import parse_digest
from perdure.runbooks.machine.runbook_machine import carried_as
from perdure.runbooks.machine.state import Pin
from perdure.sources import Id, id_text, parse_id

if TYPE_CHECKING:
    from perdure.app.processes.views import ProcessView, ReviewedProcess
    from perdure.bpmn.svg import Marks

POLL_SECONDS = 1.0
CANCELLED = ("cancelled", "compensated")
"""How an instance ends that was cancelled."""


class Processes:
    """What is deployed. Reached as `perdure.processes`."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._engine = runtime.engine
        self._kernel = runtime.kernel
        self._definitions = runtime.definitions
        self._origin = origin
        self._reviews = runtime.reviews

    async def deploy(self, model: str | Path | Model, *, process: str = "", profile: Profile = "hollow") -> Deployment:
        """Check and store a process of a model file. The same content again is the same version."""
        found = model if isinstance(model, Model) else load_model(Path(model))
        return await self._engine.deploy(found, self._origin, process=process, profile=profile)

    async def deploy_all(
        self, models: Sequence[Model], *, process: str = "", profile: Profile = "hollow"
    ) -> Sequence[Deployment]:
        """Check every executable process of several models, or the one named; refused is all of it or nothing."""
        judge = self._engine.judge
        along = {each.id for model in models for each in model.definitions.executable() if process in ("", each.id)}
        judged, problems = [], []
        for model in models:
            for id in [process] if process else [each.id for each in model.definitions.executable()] or [""]:
                try:
                    judged.append(await judge(model, self._origin, process=id, profile=profile, along=along))
                except DefinitionError as error:
                    problems.extend(error.problems)
        if problems:
            raise DefinitionError(problems)
        return [await self._engine.enter(each, self._origin) for each in judged]

    async def check(self, xml: str, *, process: str = "", profile: Profile = "hollow") -> Review:
        """What lint and a proof say of a model; nothing is deployed. What is no model says so in its findings."""
        return (await self._reviews.fresh(xml, process, profile))[1]

    async def propose(self, xml: str, *, process: str = "", profile: Profile = "hollow") -> Proposed:
        """Judge every executable process of a model, or the one named; `enter` deploys them."""
        model, review = await self._reviews.fresh(xml, process, profile)
        if model is None:
            return Proposed((), review, tuple(map(unreadable, review.findings)))
        judged, problems = [], []
        judge = self._engine.judge
        along = [process] if process else [each.id for each in model.definitions.executable()]
        for id in along or [""]:
            try:
                judged.append(await judge(model, self._origin, process=id, profile=profile, along=along))
            except DefinitionError as error:
                problems.extend(error.problems)
            except RejectedError as error:
                problems.append(refused(id, error.rejection))
        return Proposed(tuple(judged), review, tuple(problems))

    async def enter(self, proposed: Proposed) -> DeployedView:
        """Deploy what was judged, for the tenant alone: others keep what they have. All of it or nothing."""
        if proposed.problems:
            raise DefinitionError(list(proposed.problems))
        made = [await self._engine.enter(each, self._origin) for each in proposed.judged]
        return DeployedView([deployment_view(each) for each in made], proposed.review.findings, proposed.review.proofs)

    async def list(self) -> Sequence[ProcessVersion]:
        """Every process in its latest version."""
        return await self._definitions.latest(self._origin)

    async def get(self, process: str, version: int | None = None) -> ProcessView:
        """One version in full, the latest unless one is named."""
        from perdure.app.processes.views import process_view  # noqa: PLC0415  writes and draws models

        found, deployed = await self._deployed(process, version)
        diagram = await self._definitions.diagram(process, parse_digest(found.hash), self._origin)
        return process_view(found, deployed, diagram)

    async def show(self, process: str, version: int | None = None) -> ReviewedProcess:
        """The same with what lint and a proof say of it."""
        from perdure.app.processes.views import reviewed  # noqa: PLC0415  writes and draws models

        view = await self.get(process, version)
        profile: Any = view.profile
        return reviewed(view, await self._reviews.of(view.hash, view.xml, process, profile))

    async def verb(self, process: str, version: int | None = None) -> str:
        """The verb that a process carries; empty of none."""
        return (await self._deployed(process, version))[1].verb

    async def started(self, processes: Sequence[Id]) -> Sequence[str]:
        """The verbs that processes carry which would begin now, each once."""
        found: dict[str, None] = {}
        for id in processes:
            state: ProcessState = (await self._kernel.read(id, self._origin)).state
            if (version := state.latest()) is not None and version.verb:
                found[version.verb] = None
        return list(found)

    async def _deployed(self, process: str, version: int | None) -> tuple[ProcessVersion, Deployed]:
        versions = await self.versions(process)
        wanted = [each for each in versions if (each.is_latest if version is None else each.version == version)]
        found = wanted[0] if wanted else versions[-1] if version is None else None
        if found is None:
            fact = f"it has no version {version}"
            raise RejectedError(Rejection("not_found", "show", "process", process, fact))
        definition = await self._definitions.load(process, parse_digest(found.hash), self._origin.tenant)
        return found, definition.deployed

    async def versions(self, process: str) -> Sequence[ProcessVersion]:
        """Every version of a process, oldest first."""
        return await self._definitions.versions(process, self._origin)

    async def retire(self, process: str, version: int, reason: str = "") -> Sequence[ProcessVersion]:
        """No instance begins under that version any more; those that run go on."""
        await self._engine.retire(process, version, self._origin, reason=reason)
        return await self.versions(process)

    async def deprecate(self, process: str, version: int, reason: str = "") -> Sequence[ProcessVersion]:
        """Instances begin under that version only when it is asked for by its number."""
        await self._engine.deprecate(process, version, self._origin, reason=reason)
        return await self.versions(process)


class Views:
    """Makes views of instances."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._instances = runtime.instances
        self._pasts = runtime.pasts

    async def instance(self, aggregate: Aggregate, *, has_data: bool = True) -> InstanceView:
        definition = await self._instances.loaded(aggregate)
        data = await self._instances.data(aggregate) if has_data else None
        look = look_of(aggregate.state, definition, await self._pasts.of(aggregate))
        return instance_view(aggregate, look, data)

    def at_hand(self, aggregate: Aggregate) -> InstanceView | None:
        """The same when everything it shows is in memory; None when it is not."""
        past = self._pasts.known(aggregate)
        data = self._instances.known_data(aggregate) if past is not None else None
        if past is None or data is None:
            return None
        look = known_look(aggregate.state, past)
        if look is None:
            definition = self._instances.known_definition(aggregate)
            if definition is None:
                return None
            look = look_of(aggregate.state, definition, past)
        return instance_view(aggregate, look, data)

    async def as_of(self, aggregate: Aggregate, at: int) -> InstanceView:
        """As it was after so many records; its data too, unless they were erased since."""
        then = await replay_instance(self._runtime, aggregate, at)
        definition = await self._instances.loaded(then.aggregate)
        data = None if aggregate.state.erased_at else await self._instances.data(then.aggregate)
        return instance_view(then.aggregate, look_of(then.aggregate.state, definition, then.past), data)

    async def carrier(self, call: Aggregate, step: int, pin: Pin) -> CarrierView:
        """The process of a call's step; one that is about to begin has not come far."""
        parent = f"step:{carried_as(id_text(call.id), step, call.state.steps[step - 1])}"
        try:
            aggregate = await self._instances.read(child_id(call.tenant, parent), Origin(call.tenant))
        except RejectedError:
            return CarrierView(pin.process, pin.version, f"sha256:{pin.definition.hex()}", "", "starting", "starting")
        definition = await self._instances.loaded(aggregate)
        return carrier_view(aggregate, definition, await self._pasts.of(aggregate))


class InstanceOperations:
    """Running and ended processes. Reached as `perdure.instances`; ids are the letters people see."""

    def __init__(self, runtime: Runtime, origin: Origin, views: Views) -> None:
        self._runtime = runtime
        self._engine = runtime.engine
        self._instances = runtime.instances
        self._definitions = runtime.definitions
        self._origin = origin
        self._views = views

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
    ) -> InstanceView:
        """Begin an instance, of the latest version unless one is named; under one idempotency key it begins once.

        Returns when that is durable; or, `until` it is at `rest` (only people, messages or time move it on) or at its
        `end`, as far as it has come when the time is up.
        """
        aggregate = await self._engine.start(
            process, self._origin, version=version, data=data, flags=flags, start=start, business_key=business_key,
            idempotency_key=idempotency_key, until=until if timeout_seconds is None else "committed",
        )  # fmt: skip
        if timeout_seconds is not None:
            aggregate = await self._instances.followers.follow(aggregate, until, timeout_seconds)
        return self._views.at_hand(aggregate) or await self._view(aggregate)

    async def wait(self, id: str, until: Until = "end", timeout_seconds: float | None = None) -> InstanceView:
        """Until the instance has ended, or is at `rest`, or the time is up; then as `get`."""
        aggregate = await self._instances.read(id, self._origin)
        return await self._view(await self._instances.followers.follow(aggregate, until, timeout_seconds))

    async def get(self, id: str, *, at: int | None = None) -> InstanceView:
        """An instance as it is now, or as it was after so many records."""
        aggregate = await self._instances.read(id, self._origin)
        return await (self._views.instance(aggregate) if at is None else self._views.as_of(aggregate, at))

    async def verb(self, id: str) -> str:
        """The verb that an instance carries; empty of none."""
        aggregate = await self._instances.read(id, self._origin)
        return (await self._instances.loaded(aggregate)).deployed.verb

    async def diagram(self, id: str, *, at: int | None = None, has_xml: bool = True) -> DiagramView:
        """The model an instance runs, or ran then, with what is to be shown on it."""
        from perdure.app.processes.views import model_of  # noqa: PLC0415  writes and draws models
        from perdure.bpmn.xml import write_model  # noqa: PLC0415  the same

        now = await self._instances.read(id, self._origin)
        then = await replay_instance(self._runtime, now, at)
        state, aggregate, xml = then.aggregate.state, then.aggregate, ""
        if has_xml:
            definition = await self._instances.loaded(aggregate)
            deployed = definition.deployed
            diagram = await self._definitions.diagram(deployed.process.id, definition.hash, self._origin)
            xml = write_model(model_of(deployed, diagram))
        return DiagramView(
            id_text(now.id), state.process, state.process_version, state.status, aggregate.version, now.version,
            marks_view(state, then.trail, incidents_of(state)), xml,
        )  # fmt: skip

    async def drawing(self, id: str) -> tuple[Model, Marks]:
        """The model an instance runs, and what a picture of it shows: tokens, counts, incidents, the way taken."""
        from perdure.app.processes.views import marks_of, model_of  # noqa: PLC0415  writes and draws models

        aggregate = await self._instances.read(id, self._origin)
        definition = await self._instances.loaded(aggregate)
        history = await self._instances.history(aggregate.id, self._origin)
        process = definition.deployed.process.id
        diagram = await self._definitions.diagram(process, definition.hash, self._origin)
        return model_of(definition.deployed, diagram), marks_of(aggregate.state, history)

    async def list(
        self, *, process: str = "", status: str = "", business_key: str = "", after: str = "", limit: int = 100
    ) -> Sequence[InstanceView]:
        """Instances without their data, newest first; the id of the last is the `after` of the next page."""
        check_state(status, get_args(Status))
        found = await self._instances.newest(
            self._origin, process=process, status=status, business_key=business_key,
            after=parse_id(after, "instance") if after else b"", most=limit,
        )  # fmt: skip
        return [await self._views.instance(each, has_data=False) for each in found]

    async def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """The instance's journal, oldest first; with `follow`, what is still to come as well until it ends."""
        instance = parse_id(id, "instance")
        store, codec = self._runtime.store, self._instances.machine.records
        aggregate = await self._instances.read(instance, self._origin)
        after = min(after, aggregate.version)
        before = await store.records(instance, after - 1, 1) if after else []
        previous = before[0].hash if before else genesis(aggregate.tenant, aggregate.kind, instance)
        while True:
            aggregate = await self._instances.read(instance, self._origin)
            while rows := await store.history(instance, after, previous):
                for row in rows:
                    after, previous = row.sequence, row.hash
                    for event in instance_events(row.sequence, codec.decode(row.body)):
                        yield event
            if not follow or (aggregate.state.status in ENDED and after >= aggregate.version):
                return
            await self._runtime.driver.changed(POLL_SECONDS)

    async def cancel(self, id: str, reason: str = "", *, compensate: bool = False) -> InstanceView:
        """Stop an instance; what it did stays done unless it is asked to be undone. Stopped already, it stays so."""
        if compensate:
            self._engine.capabilities.require("compensate", "cancel", id)
        found = await self._engine.cancel(id, self._origin, reason=reason, compensate=compensate)
        if found.state.status in ENDED and found.state.status not in CANCELLED:
            fact = f"it is {found.state.status}"
            raise RejectedError(Rejection("wrong_state", "cancel", "instance", id_text(found.id), fact))
        return await self._view(found)

    async def suspend(self, id: str, reason: str = "") -> InstanceView:
        """Let nothing happen to an instance, nor to the processes it calls, until it is resumed."""
        self._engine.capabilities.require("suspend", "suspend", id)
        return await self._view(await self._engine.suspend(id, self._origin, reason=reason))

    async def resume(self, id: str, *, shift_timers: bool = False) -> InstanceView:
        """Go on; what fell due meanwhile fires now, unless every timer is shifted by the time suspended.

        The processes it calls go on as well, but for those that were suspended for themselves.
        """
        self._engine.capabilities.require("suspend", "resume", id)
        return await self._view(await self._engine.resume(id, self._origin, shift_timers=shift_timers))

    async def modify(
        self, id: str, *, cancel: Sequence[int] = (), start: Sequence[str] = (), flags: Flags | None = None,
        reason: str = "",
    ) -> InstanceView:  # fmt: skip
        """Take tokens away by their numbers, put new ones before elements, set flags by hand; one commit."""
        self._engine.capabilities.require("modify", "modify", id)
        return await self._view(await self._engine.modify(
            id, self._origin, cancel=cancel, start=start, flags=flags, reason=reason
        ))  # fmt: skip

    async def migrate(
        self, id: str, *, version: int | None = None, process: str = "", mapping: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None, reason: str = "", dry_run: bool = False,
    ) -> MigrationPlan:  # fmt: skip
        """Go on under another version, the latest unless one is named; a dry run only says what would happen."""
        self._engine.capabilities.require("migrate", "migrate", id)
        return await self._engine.migrate(
            id, self._origin, process=process, version=version, mapping=mapping, flags=flags, reason=reason,
            dry_run=dry_run,
        )  # fmt: skip

    async def migrate_back(self, id: str, *, reason: str = "", dry_run: bool = False) -> MigrationPlan:
        """To the version before the last migration, by the inverse of its mapping."""
        self._engine.capabilities.require("migrate", "migrate back", id)
        return await self._engine.migrate_back(id, self._origin, reason=reason, dry_run=dry_run)

    async def retry(
        self, id: str, token: int | None = None, *, flags: Flags | None = None, reason: str = ""
    ) -> InstanceView:
        """Try again what an incident stopped; without a token, every incident of the instance."""
        aggregate = await self._instances.read(id, self._origin)
        for node in stuck_tokens(aggregate, token):
            aggregate = await self._engine.retry_incident(id, node, self._origin, flags=flags, reason=reason)
        return await self._view(aggregate)

    async def resolve(
        self, id: str, token: int | None = None, *, data: Mapping[str, Any] | None = None, flags: Flags | None = None,
        error: str = "", reason: str = "",
    ) -> InstanceView:  # fmt: skip
        """End by hand what an incident stopped: as if it had completed with these, or with a business error's code."""
        aggregate = await self._instances.read(id, self._origin)
        node = stuck_tokens(aggregate, token)[0]
        return await self._view(await self._engine.resolve_incident(
            id, node, self._origin, data=data, flags=flags, error=error, reason=reason
        ))  # fmt: skip

    async def erase(self, id: str, reason: str) -> InstanceView:
        """Erase the data of an ended instance by a journalled tombstone; its history stays and still verifies."""
        await self._engine.erase(id, self._origin, reason)
        return await self.get(id)

    def _view(self, aggregate: Aggregate) -> Awaitable[InstanceView]:
        return self._views.instance(aggregate)


def stuck_tokens(aggregate: Aggregate, token: int | None) -> list[int]:
    """The tokens with incidents, or the one named; a rejection when nothing is stuck."""
    if token is not None:
        return [token]
    found = [node.number for node in aggregate.state.nodes.values() if node.incident is not None]
    if not found:
        fact = "it has no open incident"
        raise RejectedError(Rejection("wrong_state", "mend", "instance", id_text(aggregate.id), fact))
    return found
