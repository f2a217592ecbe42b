"""The check of a deployment: models, verbs and carrier code against everything that runs; nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.deployments.carrier_builds import carrier_impact
from perdure.app.deployments.parked_groups import grouped
from perdure.app.deployments.pinned_texts import Pinned, Serving, Text
from perdure.app.deployments.process_versions import ProcessVersion
from perdure.app.deployments.running_work import RunningWork
from perdure.app.deployments.state_verdicts import Effort, StateVerdicts
from perdure.app.deployments.views import GRAVEST, DeploymentImpact, ProcessImpact, StateImpact, VerbImpact, gravest
from perdure.engine import Judged
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.payload import digest, digest_text
from perdure.processes.plan_cache import Definition, definition_of
from perdure.sources import id_text
from perdure.verbs import Verb
from perdure.verbs.definition import VerbDefinition

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

MAX_STATES_SHOWN = 200
_read_verb = msgspec.json.Decoder(VerbDefinition).decode


class DeploymentCheck:
    """One check for one tenant."""

    def __init__(
        self, runtime: Runtime, origin: Origin, reaches: Callable[[Iterable[str]], bool], *,
        processes: Collection[str] | None, mapping: Mapping[str, str], states: int, seconds: float,
    ) -> None:  # fmt: skip
        """Of verbs and `processes` that the principal does not reach nothing is told; None reaches every process."""
        self._reaches, self._processes = reaches, processes
        self._runtime, self._origin = runtime, origin
        self._mapping, self._states, self._seconds = mapping, states, seconds
        self._work = RunningWork(runtime, origin)
        self._bounds: list[str] = []

    async def of_models(self, judged: Sequence[Judged], serving: Serving) -> DeploymentImpact:
        """The impact of models that may be deployed."""
        targets = [(definition_of(each.deployed, digest(each.data)), each) for each in judged]
        running = await self._running()
        processes = []
        for definition, each in targets:
            number = each.known.version if each.known is not None else 0
            of_process = [one for one in running if one.state.process == definition.deployed.process.id]
            processes.append(await self._process(definition, number, of_process))
        return await self._impact(processes, running, serving)

    async def of_latest(self, serving: Serving) -> DeploymentImpact:
        """The impact of what is deployed already on instances of other versions."""
        running = await self._running()
        found = []
        for process in sorted({each.state.process for each in running}):
            of_process = [each for each in running if each.state.process == process]
            target = await self._latest(process)
            if target is not None:
                found.append(await self._process(*target, of_process))
        return await self._impact(found, running, serving)

    async def _running(self) -> list[Aggregate]:
        found = await self._work.instances()
        return [each for each in found if self._processes is None or each.state.process in self._processes]

    async def _latest(self, process: str) -> tuple[Definition, int] | None:
        aggregate = await self._runtime.definitions.find(process, self._origin)
        version = aggregate.state.latest() if aggregate is not None else None
        if version is None:
            return None  # every version is retired: nothing else could carry them
        return await self._runtime.definitions.load(process, version.hash, self._origin.tenant), version.number

    async def _process(self, target: Definition, number: int, running: Sequence[Aggregate]) -> ProcessImpact:
        versions = await self._versions(running)
        catalogue, tenant = self._runtime.catalogue, self._origin.tenant
        can_migrate = self._runtime.engine.capabilities.migrate
        refusal = "" if can_migrate else f"the engine '{self._runtime.engine.name}' lets no instance migrate"
        now = self._runtime.sources.now()

        def work() -> list[StateImpact]:
            effort = Effort(self._states, self._seconds)
            made = {hash: ProcessVersion(each, at, catalogue) for hash, (each, at) in versions.items()}
            goal = made.get(target.hash) or ProcessVersion(target, number, catalogue)
            verdicts = StateVerdicts(goal, self._mapping, now, effort)
            return [verdicts.of(each, refusal=refusal) for each in grouped(running, made, goal)]

        states = await self._runtime.computations.run(tenant, work) if running else []
        return self._process_view(target, number, states)

    def _process_view(self, target: Definition, number: int, states: list[StateImpact]) -> ProcessImpact:
        process = target.deployed.process.id
        ordered = sorted(
            states, key=lambda each: (GRAVEST.index(each.verdict), bool(each.bound), -each.instances, each.version)
        )  # fmt: skip
        undecided = sum(each.instances for each in states if each.bound)
        if undecided:
            self._bounds.append(f"of {undecided:,} instances of '{process}' a bound left it undecided")
        if len(states) > MAX_STATES_SHOWN:
            self._bounds.append(f"of the {len(states):,} states of '{process}' the first {MAX_STATES_SHOWN} are shown")
        return ProcessImpact(
            process=process, version=number, hash=digest_text(target.hash), is_deployed=number > 0,
            verdict=gravest([each.verdict for each in states]), instances=sum(each.instances for each in states),
            states=ordered[:MAX_STATES_SHOWN],
        )  # fmt: skip

    async def _versions(self, running: Iterable[Aggregate]) -> dict[bytes, tuple[Definition, int]]:
        """The definitions that instances are on, with their numbers."""
        found: dict[bytes, tuple[Definition, int]] = {}
        for each in running:
            state: Any = each.state
            if state.definition not in found:
                definition = await self._runtime.definitions.load(state.process, state.definition, self._origin.tenant)
                found[state.definition] = definition, state.process_version
        return found

    async def _impact(
        self, processes: list[ProcessImpact], running: Sequence[Aggregate], serving: Serving
    ) -> DeploymentImpact:  # fmt: skip
        verbs = await self._verbs(running, serving)
        hosts = await self._runtime.engine.host_builds(running)
        carriers = [carrier_impact(each) for each in hosts.builds]
        bounds = [*self._bounds, *self._work.bounds, *hosts.unknown]
        for kind, count in self._work.damaged.items():
            bounds.append(f"damaged: {count:,} {'instances' if kind == 'instance' else 'calls and runbooks'}, not read")
        verdicts = [*(each.verdict for each in processes), *(each.verdict for each in verbs)]
        verdicts += [each.verdict for each in carriers]
        return DeploymentImpact(
            verdict=gravest(verdicts), is_decided=not bounds, processes=processes, verbs=verbs, carriers=carriers,
            bounds=bounds,
        )  # fmt: skip

    async def _verbs(self, running: Sequence[Aggregate], serving: Serving) -> list[VerbImpact]:
        """What becomes of every text of a verb that running work is pinned to."""
        pinned = Pinned()
        for each in await self._work.runbooks():
            pinned.add_runbook(id_text(each.id), each.state)
        versions = await self._versions(running)
        for hash, (definition, _) in versions.items():
            ids = [id_text(each.id) for each in running if each.state.definition == hash]
            pinned.add_instances(definition.deployed, ids[:5], len(ids))
        if serving.is_empty and pinned.texts:
            self._bounds.append(
                "no verb is declared here, so that texts which running work is pinned to were not judged"
            )
            return []
        found = pinned.impacts(serving, await self._kept(pinned.texts, serving))
        impacts = [each for each in found if self._reaches([each.verb])]
        return sorted(impacts, key=lambda each: (GRAVEST.index(each.verdict), each.verb, each.version))

    async def _kept(self, texts: Iterable[Text], serving: Serving) -> dict[Text, Verb]:
        """The texts among these that the store keeps, of verbs that are loaded with another one."""
        found: dict[Text, Verb] = {}
        for text in texts:
            loaded = serving.find(text)
            if loaded is None or loaded.hash == digest_text(text.hash):
                continue
            body = await self._runtime.store.definition_body(text.hash)
            if body is not None and (verb := _verb(body)) is not None:
                found[text] = verb
        return found


def own_serving(runtime: Runtime) -> Serving:
    """The verbs and handlers of this process; one that only reads has no handlers, and takes them for granted."""
    runs = (lambda verb: True) if runtime.role == "reader" else runtime.router.can_run
    return Serving.of_process(runtime.catalogue, runs)


def _verb(body: bytes) -> Verb | None:
    """The verb of a kept text; None when this release cannot read it."""
    try:
        return Verb(_read_verb(body))
    except (msgspec.MsgspecError, ValueError):
        return None
