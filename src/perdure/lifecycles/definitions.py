"""Deployed lifecycles: versions are entered once, chosen by number, and loaded by their hash."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from perdure.errors import DefinitionError, InvariantBroken, Problem, RejectedError, Rejection
from perdure.identifiers import Id
from perdure.journal import Origin
from perdure.kernel.kernel import Kernel, Prepared
from perdure.kernel.ports import Attachments
from perdure.lifecycles.content import content_of, definition_of
from perdure.lifecycles.lifecycle_reader import LifecycleFile
from perdure.lifecycles.machine.definition import Lifecycle
from perdure.lifecycles.machine.definition_machine import (
    DeployLifecycle,
    LifecycleDefinitionMachine,
    LifecycleVersion,
    LifecycleVersions,
    RetireLifecycle,
    definition_id,
)
from perdure.lifecycles.ports import LifecycleStore
from perdure.payload import digest, digest_text
from perdure.verbs.near_names import did_you_mean

KIND = LifecycleDefinitionMachine.kind
MAX_CACHED = 1000
MAX_LISTED = 1000
Check = Callable[[LifecycleFile], Sequence[Problem]]
Findings = tuple[Problem, ...]
MOST_FINDINGS = 100
"""The findings that are told of one lifecycle, errors first."""


class Deployed(msgspec.Struct, frozen=True):
    """A version that was deployed now or before, with what lint says to it."""

    lifecycle: str
    number: int
    hash: str
    is_new: bool
    findings: tuple[Problem, ...] = ()


class Chosen(msgspec.Struct, frozen=True):
    """A version with its content."""

    definition: Lifecycle
    hash: bytes
    number: int


class LifecycleDefinitions:
    """Of one process. Definitions never change, so that they are kept in memory by their hash."""

    def __init__(self, kernel: Kernel, store: LifecycleStore) -> None:
        self._kernel = kernel
        self._store = store
        self.check: Check | None = None
        """Lint, handed in by whoever puts the platform together."""
        self._known: dict[bytes, Lifecycle] = {}
        self.project: dict[str, LifecycleFile] = {}
        """Lifecycles of the project, which a tenant gets when it first asks for one."""

    def findings(self, file: LifecycleFile) -> Findings:
        """What the check of the platform says of a file: pure, and long for a large one."""
        found = self.check(file) if self.check is not None else ()
        return tuple(sorted(found, key=lambda each: each.severity != "error")[:MOST_FINDINGS])

    async def deploy(self, file: LifecycleFile, origin: Origin, findings: Findings | None = None) -> Deployed:
        """Check and enter a version, unless it was checked; the same content again is the same version."""
        definition, content = file.definition, content_of(file.definition)
        hash = digest(content)
        findings = self.findings(file) if findings is None else findings
        if errors := [each for each in findings if each.severity == "error"]:
            raise DefinitionError(errors)
        id = definition_id(origin.tenant, definition.name)
        command = DeployLifecycle(
            lifecycle=definition.name,
            hash=hash,
            label=definition.label,
            event=definition.trigger.event if definition.trigger is not None else "",
        )
        prepared = Prepared(command, Attachments(payloads=[(hash, content)]))
        state = await self._versions(definition.name, origin)
        known = state.with_hash(hash) if state is not None else None
        is_new = known is None or known.status != "active"
        if is_new:
            state = await self._enter(id, prepared, origin, is_first=state is None)
        assert state is not None
        version = state.with_hash(hash)
        assert version is not None
        self._keep(hash, definition)
        return Deployed(definition.name, version.number, digest_text(hash), is_new, findings)

    async def _enter(self, id: Id, prepared: Prepared, origin: Origin, *, is_first: bool) -> LifecycleVersions:
        answer = await (self._kernel.start if is_first else self._kernel.ask)(KIND, id, origin, prepared)
        if answer.conflict is not None:  # somebody else deployed it first at the same moment
            answer = await self._kernel.ask(KIND, id, origin, prepared)
        assert answer.aggregate is not None
        state: LifecycleVersions = answer.aggregate.state
        return state

    async def retire(self, lifecycle: str, number: int, origin: Origin, reason: str = "") -> LifecycleVersions:
        """Let no instance begin under a version any more; running ones go on."""
        await self.versions(lifecycle, origin)
        id = definition_id(origin.tenant, lifecycle)
        answer = await self._kernel.ask(KIND, id, origin, Prepared(RetireLifecycle(number=number, reason=reason)))
        assert answer.aggregate is not None
        state: LifecycleVersions = answer.aggregate.state
        return state

    async def versions(self, lifecycle: str, origin: Origin) -> LifecycleVersions:
        """All versions; what the project brings along is deployed for a tenant that asks for it first."""
        found = await self._versions(lifecycle, origin)
        if found is None and lifecycle in self.project:
            await self.deploy(self.project[lifecycle], origin)
            found = await self._versions(lifecycle, origin)
        if found is None:
            hint = did_you_mean(lifecycle, self.project) or "See `perdure lifecycles definitions`."
            raise RejectedError(Rejection("not_found", "find", "lifecycle", lifecycle[:80], "it is not deployed", hint))
        return found

    async def _versions(self, lifecycle: str, origin: Origin) -> LifecycleVersions | None:
        try:
            state: LifecycleVersions = (await self._kernel.read(definition_id(origin.tenant, lifecycle), origin)).state
        except RejectedError:
            return None
        return state

    async def choose(self, lifecycle: str, number: int | None, origin: Origin, do: str = "start") -> Chosen:
        """The version asked for unless it is retired; else the latest active one."""
        state = await self.versions(lifecycle, origin)
        version = state.latest() if number is None else state.number(number)
        if version is None:
            fact = "every version of it is retired" if number is None else f"it has no version {number}"
            raise RejectedError(Rejection("not_found", do, "lifecycle", lifecycle, fact))
        if version.status == "retired":
            fact = f"version {version.number} is retired"
            raise RejectedError(Rejection("wrong_state", do, "lifecycle", lifecycle, fact))
        return await self.chosen(lifecycle, version, origin)

    async def chosen(self, lifecycle: str, version: LifecycleVersion, origin: Origin) -> Chosen:
        return Chosen(await self.load(lifecycle, version.hash, origin.tenant), version.hash, version.number)

    async def load(self, lifecycle: str, hash: bytes, tenant: str) -> Lifecycle:
        """A definition by its hash, from memory or from the store."""
        known = self._known.get(hash)
        if known is None:
            content = await self._store.payload(definition_id(tenant, lifecycle), hash)
            if content is None:
                fact = f"nothing is stored under {digest_text(hash)}"
                raise InvariantBroken("load", "lifecycle", lifecycle, fact)
            known = definition_of(content, hash)
            self._keep(hash, known)
        return known

    async def all(self, origin: Origin) -> list[LifecycleVersions]:
        """Every lifecycle of a tenant, by name."""
        machine = self._kernel.machine(KIND)
        rows = await self._store.aggregates(origin.tenant, KIND, most=MAX_LISTED)
        return sorted((machine.decode(row.state) for row in rows), key=lambda each: str(each.lifecycle))

    def _keep(self, hash: bytes, definition: Lifecycle) -> None:
        if len(self._known) >= MAX_CACHED:
            self._known.clear()
        self._known[hash] = definition
