"""Definitions: processes are deployed, versions chosen, and plans loaded by their hash."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any

import msgspec

from perdure.bpmn.diagram_selection import diagram_of
from perdure.bpmn.machine.aggregate_ids import PROCESS, process_id
from perdure.bpmn.machine.deployed_process import Deployed, Profile
from perdure.bpmn.machine.process_machine import (
    Deploy,
    ProcessState,
    Redrawn,
    SetStatus,
    Version,
    VersionStatus,
    start_fault,
)
from perdure.bpmn.model import CallActivity, Diagram, Model, nodes
from perdure.cron import next_cron
from perdure.engine import Check, Deployment, Judged, ProcessVersion
from perdure.errors import DefinitionError, InvariantBroken, Problem, QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel, Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import canonical, digest, digest_text
from perdure.processes.plan_cache import Definition, MissingPlan, Plans, definition_of
from perdure.processes.ports import ProcessReads
from perdure.processes.start_consequence_tier import Consequences
from perdure.processes.verb_bindings import Carried, bind, carried_by, carrier_of, choose_process, starts_of
from perdure.sources import Id, iso
from perdure.typed_reading import read_json
from perdure.verb_contract import is_grave
from perdure.verbs import Catalogue
from perdure.verbs.consequence_tier import Consequence, consequence_of

MAX_PROCESSES = 1000
Run = Callable[[str, Callable[[], Sequence[Problem]]], Awaitable[Sequence[Problem]]]
"""Runs a check on behalf of a tenant."""


async def _at_once(tenant: str, work: Callable[[], Sequence[Problem]]) -> Sequence[Problem]:
    return work()


class Definitions:
    """What is deployed. `checks` are lint and proof, handed in by whoever puts the platform together."""

    def __init__(
        self,
        kernel: Kernel,
        store: ProcessReads,
        catalogue: Catalogue,
        plans: Plans,
        checks: Sequence[Check] = (),
        run: Run = _at_once,
    ) -> None:
        """Checks take a while, and are run by `run`."""
        self._kernel = kernel
        self._store = store
        self._catalogue = catalogue
        self.plans = plans
        self.consequences = Consequences(self, store, catalogue)
        self._checks = tuple(checks)
        self._run = run
        self._fresh: dict[bytes, Aggregate] = {}
        self.find_model: Callable[[str, Origin], Awaitable[None]] | None = None
        """Deploys a process of the project for a tenant that has none of that name yet."""

    async def deploy(
        self, model: Model, origin: Origin, *, process: str = "", profile: Profile = "hollow", contract: Any = None,
        deployed: Deployed | None = None,
    ) -> Deployment:  # fmt: skip
        """Check, bind, store. The same content again is the same version."""
        judged = await self.judge(
            model, origin, process=process, profile=profile, contract=contract, deployed=deployed
        )  # fmt: skip
        return await self.enter(judged, origin)

    async def judge(
        self, model: Model, origin: Origin, *, process: str = "", profile: Profile = "hollow", contract: Any = None,
        deployed: Deployed | None = None, along: Collection[str] = (),
    ) -> Judged:  # fmt: skip
        """Check and bind, and store nothing yet; refuses by DefinitionError what must not be deployed.

        `along` are the ids of the processes that are about to be deployed with it.
        """
        if deployed is None:
            chosen = choose_process(model.definitions, process)
            carried = self._carried(chosen.id, contract)
            deployed = bind(model.definitions, chosen, profile, carried, self._catalogue)
        data = canonical(deployed.content)
        known = await self._known(deployed.process.id, digest(data), origin)
        if known is not None:
            return Judged(deployed, data, drawing_of(model, deployed), known=known)
        others = {*along, *await self._called(deployed, origin)}
        findings = tuple(await self._findings(model, deployed, contract, others, origin.tenant))
        return Judged(deployed, data, drawing_of(model, deployed), findings)

    async def enter(self, judged: Judged, origin: Origin) -> Deployment:
        """Store what was let through, and nothing else: judging takes a while, and others deploy meanwhile."""
        hash, process = digest(judged.data), judged.deployed.process.id
        if digest(canonical(judged.deployed.content)) != hash:
            raise InvariantBroken("deploy", "process", process, "it was changed while it was judged")
        known = await self._known(process, hash, origin) if judged.known is not None else None
        if known is not None and not await self._is_redrawn(process, hash, judged.drawing, origin):
            return known
        definition = definition_of(judged.deployed, hash)
        found = judged.consequence or await self.consequences.of_deployment(judged.deployed, origin)
        state, is_new = await self._record(definition, judged, found, origin)
        version = state.with_hash(hash)
        assert version is not None
        self.plans.keep(definition)
        tier = version.consequence or found.tier
        return known or Deployment(process, version.number, digest_text(hash), judged.findings, is_new, tier)

    async def _known(self, process: str, hash: bytes, origin: Origin) -> Deployment | None:
        """The version with that content, if it is active: what was let through once is not judged again."""
        aggregate = await self.find(process, origin)
        state: ProcessState | None = aggregate.state if aggregate is not None else None
        version = state.with_hash(hash) if state is not None else None
        if state is None or version is None or version.status != "active":
            return None
        latest = state.latest()
        findings: tuple[Problem, ...] = ()
        if latest is not None and latest.number != version.number:
            reason = f"it is version {version.number}, and version {latest.number} stays what new instances take"
            hint = f"Retire version {latest.number} to go back."
            findings = (Problem("process.not_latest", "", 0, 0, process, reason, hint, "warning"),)
        return Deployment(process, version.number, digest_text(hash), findings, False, version.consequence)

    async def _drawn(self, process: str, hash: bytes, origin: Origin) -> bytes:
        """How a version is drawn, by its hash; empty when it is not, or not deployed."""
        aggregate = await self.find(process, origin)
        version = aggregate.state.with_hash(hash) if aggregate is not None else None
        return version.diagram if version is not None else b""

    async def _is_redrawn(self, process: str, hash: bytes, drawing: bytes, origin: Origin) -> bool:
        drawn = await self._drawn(process, hash, origin)
        instead = await self._replaceable(process, hash, drawing, origin)
        return bool(drawing) and digest(drawing) != drawn and instead in (None, drawn)

    async def _replaceable(self, process: str, hash: bytes, drawing: bytes, origin: Origin) -> bytes | None:
        """What a drawing may replace, None for whatever there is: one that draws nothing replaces no other."""
        if not drawing or not _decoded(drawing).is_blank():
            return None
        known = await self.diagram(process, hash, origin)
        return await self._drawn(process, hash, origin) if known is not None and known.is_blank() else b""

    async def diagram(self, process: str, hash: bytes, origin: Origin) -> Diagram | None:
        """The drawing a version was deployed with; None when it came without one."""
        drawn = await self._drawn(process, hash, origin)
        data = await self._store.payload(process_id(origin.tenant, process), drawn) if drawn else None
        return _decoded(data) if data is not None else None

    async def _called(self, deployed: Deployed, origin: Origin) -> list[str]:
        """Of the processes that are called, those that would begin now."""
        calls = {node.process: None for node in nodes(deployed.process.body) if isinstance(node, CallActivity)}
        found = [await self.find(process, origin) for process in calls]
        return [each.state.process for each in found if each is not None and each.state.latest() is not None]

    async def _findings(
        self, model: Model, deployed: Deployed, contract: Any, others: Collection[str], tenant: str
    ) -> list[Problem]:  # fmt: skip
        """What the checks say, each asked only when those before it found no error; an error refuses the process."""
        found = [*_start_problems(deployed, model.file), *self._unlisted(deployed, model.file)]
        for check in (None, *self._checks):
            if check is not None:
                # Looking at every way through a process takes a while, and others need not wait for it.
                found.extend(await self._run(tenant, partial(check, model, deployed, contract, others)))
            if errors := [problem for problem in found if problem.severity == "error"]:
                raise DefinitionError(errors)
        return found

    def _unlisted(self, deployed: Deployed, file: str) -> list[Problem]:
        """The grave verbs of a hollow process that no verb carries: nothing lists them."""
        if deployed.profile != "hollow" or deployed.verb:
            return []
        found = []
        for binding in deployed.bindings.values():
            verb = self._catalogue.find(binding.verb, binding.version)
            if verb is not None and is_grave(consequence_of(self._catalogue, verb).tier):
                reason = f"it calls '{verb.name}', which is grave, and no verb carries it that lists that"
                hint = f"Let a verb carry it (execution.process: {deployed.process.id}) that lists it in sub_verbs."
                found.append(Problem("process.unlisted", file, 0, 0, deployed.process.id, reason, hint))
        return found

    def _carried(self, process: str, contract: Any) -> Carried | None:
        if contract is not None:
            named = self._catalogue.find(contract.verb)
            known = carried_by(named) if named is not None else Carried()
            return msgspec.structs.replace(
                known, verb=contract.verb, flags=contract.flags, compensation=dict(contract.compensation)
            )  # fmt: skip
        verb = carrier_of(process, self._catalogue)
        return carried_by(verb) if verb is not None else None

    async def _record(
        self, definition: Definition, judged: Judged, found: Consequence, origin: Origin
    ) -> tuple[ProcessState, bool]:
        deployed = definition.deployed
        id = process_id(origin.tenant, deployed.process.id)
        content = judged.data if judged.known is None else b""  # else it is there
        payloads = [(digest(data), data) for data in (content, judged.drawing) if data]
        command = Deploy(
            process=deployed.process.id, hash=definition.hash, starts=starts_of(deployed), verb=deployed.verb,
            diagram=digest(judged.drawing) if judged.drawing else b"", consequence=found.tier,
            instead=await self._replaceable(deployed.process.id, definition.hash, judged.drawing, origin),
        )  # fmt: skip
        prepared = Prepared(command, Attachments(payloads=payloads))
        try:
            answer = await self._kernel.ask(PROCESS, id, origin, prepared)
        except RejectedError as error:
            if error.rejection.code != "not_found":
                raise
            answer = await self._kernel.start(PROCESS, id, origin, prepared)
            if answer.conflict is not None:  # someone else deployed it first at the same moment
                answer = await self._kernel.ask(PROCESS, id, origin, prepared)
        assert answer.aggregate is not None
        return answer.aggregate.state, any(not isinstance(entry, Redrawn) for entry in answer.entries)

    async def state(self, id: Id, origin: Origin) -> ProcessState | None:
        """A process by its id; None when it is not there or cannot be read."""
        try:
            state: ProcessState = (await self._kernel.read(id, origin)).state
        except (QuarantinedError, RejectedError):
            return None
        return state

    async def find(self, process: str, origin: Origin) -> Aggregate | None:
        """The process as it is stored now; those who ask in one turn of the loop share one look."""
        id = process_id(origin.tenant, process)
        known = self._fresh.get(id)
        if known is None:
            try:
                known = self._fresh[id] = await self._kernel.read(id, origin, keeps=True)
            except RejectedError:
                return None
            asyncio.get_running_loop().call_soon(self._fresh.pop, id, None)
        return known

    def seen(self, process: str, origin: Origin) -> Aggregate | None:
        """The process as somebody found it in this turn of the loop; None when nobody did."""
        return self._fresh.get(process_id(origin.tenant, process))

    async def choose(self, process: str, version: int | None, origin: Origin, do: str = "start") -> Version:
        """The version that an instance would take if it began now; `do` says what for."""
        return chosen(await self.find(process, origin), process, version, do=do)

    async def choose_or_bring(self, process: str, origin: Origin) -> Version:
        """The same for a verb that is called now: a process of the project is deployed for the tenant first."""
        found = await self.find(process, origin)
        if found is None and self.find_model is not None:
            await self.find_model(process, origin)
            found = await self.find(process, origin)
        return chosen(found, process, None)

    async def load(self, process: str, hash: bytes, tenant: str) -> Definition:
        """A deployed process by its hash, from memory or from the store."""
        definition = await self.stored(process, hash, tenant)
        if definition is None:
            raise InvariantBroken("load", "process", process, f"nothing is stored under {digest_text(hash)}")
        return definition

    async def stored(self, process: str, hash: bytes, tenant: str) -> Definition | None:
        """The same; None when the process has no such definition."""
        try:
            return self.plans.definition(hash)
        except MissingPlan:
            data = await self._store.payload(process_id(tenant, process), hash)
        if data is None:
            return None
        definition = definition_of(read_json(data, Deployed), hash)
        self.plans.keep(definition)
        return definition

    async def latest(self, origin: Origin) -> list[ProcessVersion]:
        """The latest version of every process."""
        machine = self._kernel.machine(PROCESS)
        found: list[ProcessVersion] = []
        for row in await self._store.aggregates(origin.tenant, PROCESS, most=MAX_PROCESSES):
            state: ProcessState = machine.decode(row.state)
            views = version_views(state)
            found.append(next((view for view in views if view.is_latest), views[-1]))
        return sorted(found, key=lambda each: each.process)

    async def versions(self, process: str, origin: Origin) -> list[ProcessVersion]:
        aggregate = await self.find(process, origin)
        if aggregate is None:
            raise RejectedError(Rejection("not_found", "find", "process", process, "it is not deployed"))
        return version_views(aggregate.state)

    async def retire(self, process: str, version: int, origin: Origin, *, reason: str = "") -> None:
        """Let no instance begin under a version any more; running ones go on."""
        await self._set_status(process, version, "retired", origin, reason)

    async def deprecate(self, process: str, version: int, origin: Origin, *, reason: str = "") -> None:
        """Let instances begin under a version only when asked for by its number."""
        await self._set_status(process, version, "deprecated", origin, reason)

    async def _set_status(self, process: str, version: int, status: VersionStatus, origin: Origin, reason: str) -> None:
        await self.versions(process, origin)  # refuses one that is not deployed
        command = SetStatus(number=version, status=status, reason=reason)
        await self._kernel.ask(PROCESS, process_id(origin.tenant, process), origin, Prepared(command))


def chosen(
    found: Aggregate | None, process: str, version: int | None, *, is_pinned: bool = False, do: str = "start"
) -> Version:
    """The version a new instance takes: the one asked for unless it is retired, else the latest active one.

    What was pinned before a version was retired still begins under it.
    """
    if found is None:
        hint = "Deploy it first: `perdure deploy MODEL`."
        raise RejectedError(Rejection("not_found", do, "process", process, "it is not deployed", hint))
    state: ProcessState = found.state
    taken = state.latest() if version is None else state.number(version)
    if taken is None:
        fact = "every version of it is retired" if version is None else f"it has no version {version}"
        raise RejectedError(Rejection("not_found", do, "process", process, fact))
    if taken.status == "retired" and not is_pinned:
        fact = f"version {taken.number} is retired"
        raise RejectedError(Rejection("wrong_state", do, "process", process, fact))
    return taken


def drawing_of(model: Model, deployed: Deployed) -> bytes:
    """The bytes of what the model draws of a process: no part of its content, kept beside it."""
    diagram = diagram_of(model, deployed.process)
    return canonical(msgspec.to_builtins(diagram)) if diagram is not None else b""


def _decoded(drawing: bytes) -> Diagram:
    return read_json(drawing, Diagram)


def version_views(state: ProcessState) -> list[ProcessVersion]:
    latest = state.latest()
    return [
        ProcessVersion(
            state.process, each.number, digest_text(each.hash), each.status, iso(each.deployed_at), each.by, each.verb,
            latest is not None and each.number == latest.number, each.consequence,
        )
        for each in state.versions
    ]  # fmt: skip


def _start_problems(deployed: Deployed, file: str) -> list[Problem]:
    return [
        Problem("process.start_timer", file, 0, 0, start.event, fault, "Write e.g. R/PT10M, P1D or 0 9 * * MON.")
        for start in starts_of(deployed)
        if (fault := start_fault(start, next_cron))
    ]
