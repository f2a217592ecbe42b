"""Processes, instances and tasks as every surface uses them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from perdure.app.access.data_verbs import DataVerbs
from perdure.app.calls.views import CarrierView, EventView, engine_wait_view
from perdure.app.facade.instances import InstanceDesk
from perdure.app.facade.performer import Performer
from perdure.app.instances.replay import replay_instance
from perdure.app.instances.views import (
    InstanceView,
    bare_view,
    carrier_view,
    instance_events,
    instance_view,
    known_look,
    look_of,
)
from perdure.app.processes.contract_binding import bound_contract, own_policies, profile_of
from perdure.app.processes.model_review import DeployedView, Proposed, Review, deployment_view, refused, unreadable
from perdure.app.processes.project_models import load_model, policies_beside, policies_of
from perdure.app.quarantine_views import QUARANTINED, damaged_carrier, quarantined
from perdure.app.runtime import Runtime
from perdure.bpmn.contract.policies import PolicyCatalogue
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.deployed_process import Deployed, Profile
from perdure.bpmn.machine.process_machine import ProcessState
from perdure.bpmn.machine.state import ENDED
from perdure.bpmn.model import Model
from perdure.engine import Deployment, Flags, Judged, ProcessVersion, Until
from perdure.errors import DefinitionError, QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.payload import parse_digest
from perdure.processes.plan_cache import Definition
from perdure.runbooks.machine.runbook_machine import carried_as
from perdure.runbooks.machine.state import ENDED as ENDED_STEPS
from perdure.runbooks.machine.state import Pin
from perdure.sources import Id, id_text, parse_id
from perdure.verbs import Verb
from perdure.verbs.consequence_tier import Consequence

if TYPE_CHECKING:
    from perdure.app.processes.contract_view import ContractView
    from perdure.app.processes.views import ProcessView, ReviewedProcess
    from perdure.app.worst_case import WorstCase
    from perdure.bpmn.svg import Marks

POLL_SECONDS = 1.0


class ProcessStart(NamedTuple):
    """A process that would begin: its definition, the verb it carries, and everything it can reach."""

    process: str
    hash: str
    verb: str
    consequence: Consequence


class Processes:
    """What is deployed. Reached as `perdure.processes`."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._engine = runtime.engine
        self._kernel = runtime.kernel
        self._definitions = runtime.definitions
        self._consequences = runtime.definitions.consequences
        self._origin = origin
        self._reviews = runtime.reviews
        self._computations = runtime.computations
        self._data_verbs = DataVerbs(runtime, origin)
        self._catalogue = runtime.catalogue

    async def deploy(
        self, model: str | Path | Model, *, process: str = "", profile: Profile | None = None,
        policies: str | Path | None = None,
    ) -> Deployment:  # fmt: skip
        """Check and store a process of a model file. The same content again is the same version.

        `profile` is by default that of the process: contract when it has a `workflowDefinition`, else hollow.
        `policies` is the catalogue of the contract profile, by default `policies.yaml` beside the model.
        """
        found = model if isinstance(model, Model) else load_model(Path(model))
        catalogue = policies_of(Path(policies)) if policies is not None else None
        own = profile or profile_of(found, process)
        if catalogue is None and not isinstance(model, Model) and own == "contract":
            catalogue = policies_beside(Path(model))
        deployed = self._resolved(found, process, own, catalogue)
        return await self._engine.deploy(found, self._origin, process=process, profile=own, deployed=deployed)

    def _resolved(
        self, model: Model, process: str, profile: Profile, policies: PolicyCatalogue | None
    ) -> Deployed | None:  # fmt: skip
        return bound_contract(model, process, profile, policies, self._catalogue)

    async def deploy_all(
        self, models: Sequence[Model], *, process: str = "", profile: Profile | None = None,
        policies: PolicyCatalogue | None = None,
    ) -> Sequence[Deployment]:  # fmt: skip
        """Check every executable process of several models, or the one named; refused is all of it or nothing.

        `profile` is by default that of each process: contract when it has a `workflowDefinition`, else hollow.
        `policies` are by default those beside the file of each model.
        """
        judged = await self.judge_all(models, process=process, profile=profile, policies=policies, beside=True)
        return [await self._engine.enter(each, self._origin) for each in judged]

    async def judge_all(
        self, models: Sequence[Model], *, process: str = "", profile: Profile | None = None,
        policies: PolicyCatalogue | None = None, beside: bool = False,
    ) -> list[Judged]:  # fmt: skip
        """The same checks with nothing deployed; DefinitionError has every problem of every process.

        With `beside`, policies are looked for beside the files of the models: files of whoever asks, not of a server.
        """
        judge = self._engine.judge
        along = {each.id for model in models for each in model.definitions.executable() if process in ("", each.id)}
        judged, problems = [], []
        for model in models:
            for id in [process] if process else [each.id for each in model.definitions.executable()] or [""]:
                own = profile or profile_of(model, id)
                try:
                    catalogue = policies or (own_policies(model) if beside and own == "contract" else None)
                    deployed = self._resolved(model, id, own, catalogue)
                    judged.append(
                        await judge(model, self._origin, process=id, profile=own, along=along, deployed=deployed)
                    )
                except DefinitionError as error:
                    problems.extend(error.problems)
        if problems:
            raise DefinitionError(problems)
        return await self._weighed(judged)

    async def read_model(self, xml: str, file: str) -> Model:
        """The model of a text; ModelError says where it is none."""
        from perdure.bpmn.xml import read_model  # noqa: PLC0415  only who brings models needs it

        return await self._computations.run(self._origin.tenant, partial(read_model, xml.encode(), file))

    async def _weighed(self, judged: Sequence[Judged]) -> list[Judged]:
        """The same with everything that each can reach, once all of them are deployed."""
        along = {each.deployed.process.id: each.deployed for each in judged}
        return [
            replace(each, consequence=await self._consequences.of_deployment(each.deployed, self._origin, along))
            for each in judged
        ]

    async def check(self, xml: str, *, process: str = "", profile: Profile | None = None) -> Review:
        """What lint and a proof say of a model; nothing is deployed. What is no model says so in its findings."""
        return (await self._reviews.fresh(self._origin.tenant, xml, process, profile))[1]

    async def propose(
        self, xml: str, *, process: str = "", profile: Profile | None = None, policies: PolicyCatalogue | None = None
    ) -> Proposed:  # fmt: skip
        """Judge every executable process of a model, or the one named; `enter` deploys them."""
        model, review = await self._reviews.fresh(self._origin.tenant, xml, process, profile)
        if model is None:
            return Proposed((), review, tuple(map(unreadable, review.findings)))
        judged, problems = [], []
        judge = self._engine.judge
        along = [process] if process else [each.id for each in model.definitions.executable()]
        for id in along or [""]:
            own = profile or profile_of(model, id)
            try:
                deployed = self._resolved(model, id, own, policies)
                judged.append(await judge(model, self._origin, process=id, profile=own, along=along, deployed=deployed))
            except DefinitionError as error:
                problems.extend(error.problems)
            except RejectedError as error:
                problems.append(refused(id, error.rejection))
        weighed = await self._weighed(judged)
        together = {each.deployed.process.id: each.deployed for each in judged}
        unasked = [
            id
            for id, deployed in together.items()
            if await self._consequences.begins_unasked(deployed, self._origin, together)
        ]
        return Proposed(tuple(weighed), review, tuple(problems), tuple(unasked))

    async def enter(self, proposed: Proposed) -> DeployedView:
        """Deploy what was judged, for the tenant alone: others keep what they have. All of it or nothing."""
        if proposed.problems:
            raise DefinitionError(list(proposed.problems))
        made = [await self._engine.enter(each, self._origin) for each in proposed.judged]
        return DeployedView([deployment_view(each) for each in made], proposed.review.findings, proposed.review.proofs)

    async def list(self) -> Sequence[ProcessVersion]:
        """Every process in its latest version."""
        return await self._with_consequences(await self._definitions.latest(self._origin))

    async def get(self, process: str, version: int | None = None) -> ProcessView:
        """One version in full, the latest unless one is named."""
        from perdure.app.processes.views import process_view  # noqa: PLC0415  writes and draws models

        found, deployed = await self._deployed(process, version)
        diagram = await self._definitions.diagram(process, parse_digest(found.hash), self._origin)
        consequence = await self._consequences.of_process(process, self._origin, found.version)
        engine = self._engine.place(process, self._origin.tenant).name
        work = partial(process_view, found, deployed, consequence, diagram, engine)
        return await self._computations.run(self._origin.tenant, work)

    async def worst_case(self, process: str, version: int | None = None) -> WorstCase:
        """What one instance of a version may do at most: calls of models, money, writes, people's tasks."""
        from perdure.app.worst_case import worst_case  # noqa: PLC0415  who plans needs it

        found, deployed = await self._deployed(process, version)
        work = partial(worst_case, process, found.version, deployed, self._catalogue.find)
        return await self._computations.run(self._origin.tenant, work)

    async def contract(self, process: str, version: int | None = None) -> ContractView:
        """What a version of the contract profile agrees with those who program its steps."""
        from perdure.app.processes.contract_view import contract_view  # noqa: PLC0415  the contract profile alone

        return contract_view(*await self._deployed(process, version))

    async def show(self, process: str, version: int | None = None) -> ReviewedProcess:
        """The same with what lint and a proof say of it."""
        from perdure.app.processes.views import reviewed  # noqa: PLC0415  writes and draws models

        view = await self.get(process, version)
        profile: Any = view.profile
        return reviewed(view, await self._reviews.of(self._origin.tenant, view.hash, view.xml, process, profile))

    async def verb(self, process: str, version: int | None = None) -> str:
        """The verb that a process carries; empty of none."""
        return (await self._deployed(process, version))[1].verb

    async def verbs(self, process: str, version: int | None = None) -> Sequence[str]:
        """Every verb that a version can reach, of the latest unless one is named."""
        return await self._data_verbs.of_deployed((await self._deployed(process, version))[1])

    async def verbs_of_all(self, process: str) -> Sequence[str]:
        """Every verb that a version of a process can reach."""
        found = [await self.verbs(process, each.version) for each in await self.versions(process)]
        return list(dict.fromkeys(name for names in found for name in names))

    async def start_of(self, process: str, version: int | None = None) -> ProcessStart:
        """A process as it would begin now, with everything that it can reach."""
        found, deployed = await self._deployed(process, version)
        consequence = await self._consequences.of_process(process, self._origin, found.version)
        return ProcessStart(process, found.hash, deployed.verb, consequence)

    async def start_under(self, definition: Definition) -> ProcessStart:
        """A process as it would begin now under one definition, whatever became of its version."""
        deployed = definition.deployed
        consequence = await self._consequences.of_deployment(deployed, self._origin)
        return ProcessStart(deployed.process.id, definition.digest, deployed.verb, consequence)

    async def started(self, processes: Sequence[Id]) -> Sequence[ProcessStart]:
        """Processes as they would begin now, those that begin no more left out."""
        found: list[ProcessStart] = []
        for id in processes:
            state: ProcessState = (await self._kernel.read(id, self._origin)).state
            if (version := state.latest()) is not None:
                found.append(await self.start_of(state.process, version.number))
        return found

    async def consequence_of_verb(self, verb: Verb) -> Consequence:
        """Everything that a call of a verb can reach, with the processes that would carry it now."""
        return await self._consequences.of_verb(verb, self._origin)

    async def _with_consequences(self, versions: Sequence[ProcessVersion]) -> Sequence[ProcessVersion]:
        """The same; the consequence of one that was deployed before it was kept is worked out from its definition."""
        return [
            replace(
                each,
                consequence=each.consequence
                or (await self._consequences.of_process(each.process, self._origin, each.version)).tier,
                engine=self._engine.place(each.process, self._origin.tenant).name,
            )
            for each in versions
        ]

    async def _deployed(self, process: str, version: int | None) -> tuple[ProcessVersion, Deployed]:
        versions = await self._definitions.versions(process, self._origin)
        wanted = [each for each in versions if (each.is_latest if version is None else each.version == version)]
        found = wanted[0] if wanted else versions[-1] if version is None else None
        if found is None:
            fact = f"it has no version {version}"
            raise RejectedError(Rejection("not_found", "show", "process", process, fact))
        definition = await self._definitions.load(process, parse_digest(found.hash), self._origin.tenant)
        return found, definition.deployed

    async def versions(self, process: str) -> Sequence[ProcessVersion]:
        """Every version of a process, oldest first."""
        return await self._with_consequences(await self._definitions.versions(process, self._origin))

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

    async def shown(self, id: Id, origin: Origin, *, has_data: bool = True) -> InstanceView:
        """An instance as it is now; a damaged one is `quarantined`."""
        try:
            return await self.instance(await self._instances.read(id, origin), has_data=has_data)
        except QuarantinedError as error:
            return quarantined(InstanceView(id_text(id), "", 0, "", QUARANTINED, "", tenant=origin.tenant), error)

    async def instance(self, aggregate: Aggregate, *, has_data: bool = True) -> InstanceView:
        """An instance; of a damaged one only what its state says."""
        try:
            definition = await self._instances.loaded(aggregate)
            data = await self._instances.data(aggregate) if has_data else None
            look = look_of(aggregate.state, definition, await self._pasts.of(aggregate))
        except QuarantinedError as error:
            return quarantined(bare_view(aggregate), error)
        named, link = await self._engine_of(aggregate)
        view = instance_view(aggregate, look, data, named, link)
        return quarantined(view, self._runtime.store.set_aside.find(aggregate.id))

    async def _engine_of(self, aggregate: Aggregate) -> tuple[str, str]:
        """The name of the engine of an instance, and the address of the instance there."""
        engine = self._runtime.engine
        return (await engine.carrier(aggregate.id)).name, await engine.link(aggregate)

    def at_hand(self, aggregate: Aggregate) -> InstanceView | None:
        """The same when everything it shows is in memory; None when it is not."""
        engine = self._runtime.engine.carrier_at_hand(aggregate.id)
        past = self._pasts.known(aggregate) if engine is not None else None
        data = self._instances.known_data(aggregate) if past is not None else None
        if engine is None or past is None or data is None:
            return None
        look = known_look(aggregate.state, past)
        if look is None:
            definition = self._instances.known_definition(aggregate)
            if definition is None:
                return None
            look = look_of(aggregate.state, definition, past)
        return instance_view(aggregate, look, data, engine.name)

    async def as_of(self, aggregate: Aggregate, at: int) -> InstanceView:
        """As it was after so many records; its data too, unless they were erased since."""
        then = await replay_instance(self._runtime, aggregate, at)
        definition = await self._instances.loaded(then.aggregate)
        data = None if aggregate.state.erased_at else await self._instances.data(then.aggregate)
        look = look_of(then.aggregate.state, definition, then.past)
        return instance_view(then.aggregate, look, data, *await self._engine_of(aggregate))

    async def carrier(self, call: Aggregate, step: int, pin: Pin) -> CarrierView:
        """The process of a call's step; one that is about to begin has not come far."""
        id = child_id(call.tenant, f"step:{carried_as(id_text(call.id), step, call.state.steps[step - 1])}")
        digest = f"sha256:{pin.definition.hex()}"
        try:
            aggregate = await self._instances.read(id, Origin(call.tenant))
            definition = await self._instances.loaded(aggregate)
            past, status = await self._pasts.of(aggregate), call.state.steps[step - 1].status
            ended = status if status in ENDED_STEPS else ""
            engine, link = await self._engine_of(aggregate)
            view = carrier_view(aggregate, definition, past, engine, ended, link)
            view = replace(view, task_link=self._runtime.task_list.of_instance(aggregate))
        except RejectedError:
            found = await self._runtime.store.engine_waits.read(call.id, step)
            waits = engine_wait_view(found) if found is not None else None
            engine = self._awaited(pin.process, call.tenant, waits.engine if waits is not None else "")
            told = waits.text if waits is not None else "starting"
            return CarrierView(pin.process, pin.version, digest, "", "starting", told, engine=engine, waits_for=waits)
        except QuarantinedError as error:
            return damaged_carrier(CarrierView(pin.process, pin.version, digest, id_text(id), "", ""), error)
        return damaged_carrier(view, self._runtime.store.set_aside.find(id))

    def _awaited(self, process: str, tenant: str, url: str) -> str:
        """The engine that an instance is about to begin on: the one that was asked, else the one that is chosen."""
        asked = next((each.name for each in self._runtime.engine.engines if url and each.url == url), "")
        return asked or self._runtime.engine.place(process, tenant).name


class InstanceOperations(InstanceDesk):
    """Running and ended processes. Reached as `perdure.instances`; ids are the letters people see.

    Acts take `seen`, the `sequence` of the view that was looked at: what has changed since is left alone.
    """

    def __init__(self, performer: Performer, runtime: Runtime, origin: Origin, views: Views) -> None:
        super().__init__(performer)
        self._runtime = runtime
        self._instances = runtime.instances
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
        aggregate = await self._runtime.engine.start(
            process, self._origin, version=version, data=data, flags=flags, start=start, business_key=business_key,
            idempotency_key=idempotency_key, until=until if timeout_seconds is None else "committed",
        )  # fmt: skip
        if timeout_seconds is not None:
            aggregate = await self._instances.followers.follow(aggregate, until, timeout_seconds)
        return self._views.at_hand(aggregate) or await self._views.instance(aggregate)

    async def verb(self, id: str) -> str:
        """The verb that an instance carries; empty of none."""
        aggregate = await self._instances.read(id, self._origin)
        return (await self._instances.loaded(aggregate)).deployed.verb

    async def drawing(self, id: str) -> tuple[Model, Marks]:
        """The model an instance runs, and what a picture of it shows: tokens, counts, incidents, the way taken."""
        from perdure.app.processes.views import marks_of, model_of  # noqa: PLC0415  writes and draws models

        aggregate = await self._instances.read(id, self._origin)
        definition = await self._instances.loaded(aggregate)
        history = await self._instances.history(aggregate.id, self._origin)
        process = definition.deployed.process.id
        diagram = await self._runtime.definitions.diagram(process, definition.hash, self._origin)
        return model_of(definition.deployed, diagram), marks_of(aggregate.state, history)

    async def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """The instance's journal, oldest first; with `follow`, what is still to come as well until it ends."""
        instance = parse_id(id, "instance")
        store, codec = self._runtime.store, self._instances.machine.records
        aggregate = await self._instances.read(instance, self._origin)
        after = min(after, aggregate.version)
        while True:
            async for row in store.history(aggregate, after):
                after = row.sequence
                for event in instance_events(row.sequence, codec.decode(row.body)):
                    yield event
            if not follow or (aggregate.state.status in ENDED and after >= aggregate.version):
                return
            await self._runtime.driver.changed(POLL_SECONDS)
            aggregate = await self._instances.read(instance, self._origin)
