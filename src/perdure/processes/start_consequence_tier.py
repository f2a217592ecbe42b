"""The consequence tier of a start: a process is as grave as the gravest verb that it can reach, as deployed now.

| a process reaches | by |
|---|---|
| the verb it carries, and what that declares | its call |
| verbs of tasks, events, intakes and compensation, of every subprocess | its jobs |
| the latest version of processes it calls | call activities |
| the latest version of processes that start by a message or signal it throws | events and send tasks |

| what is asked about | worked out |
|---|---|
| a version when it is deployed | with the processes deployed along with it; kept in the version |
| a version at a start | again, with what is deployed by now; never milder than what was kept |
| a version that was deployed before consequences were kept | from its definition, whenever it is asked about |
| a verb that is not loaded | as the gravest |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.process_machine import Version
from perdure.bpmn.model import CallActivity, Event, MessageTrigger, Node, SignalTrigger, Task, nodes
from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.kernel.ports import WaitFound
from perdure.processes.verb_bindings import starts_of
from perdure.sources import Id
from perdure.verb_contract import ConsequenceTier, is_grave, tier_rank
from perdure.verbs import Catalogue, Verb
from perdure.verbs.consequence_tier import UNKNOWN, Consequence, reached_verbs

if TYPE_CHECKING:
    from perdure.processes.definitions import Definitions

MAX_PROCESSES = 10_000
"""Processes that one start is followed through; whatever reaches more counts as the gravest."""
PAGE = 200

StartedBy = Literal["message_start", "signal_start"]
THROWN = ("throw", "end")


class StartReads(Protocol):
    """The look-up of processes that start by a name."""

    async def find_waits(
        self, tenant: str, kind: str, name: str, key: str = "", after: int = 0, most: int = 100
    ) -> list[WaitFound]: ...


class Links(NamedTuple):
    """The names by which a process leads to others."""

    calls: tuple[str, ...] = ()
    throws: tuple[tuple[StartedBy, str], ...] = ()


class Consequences:
    """Of one process of the platform."""

    def __init__(self, definitions: Definitions, store: StartReads, catalogue: Catalogue) -> None:
        self._definitions = definitions
        self._store = store
        self._catalogue = catalogue
        self._links: dict[bytes, Links] = {}

    async def of_verb(self, verb: Verb, origin: Origin) -> Consequence:
        """The consequence of a call: of the verb, of all it declares, and of the processes that carry it."""
        return await _Walk(self, origin).verbs([verb]).found()

    async def of_process(self, process: str, origin: Origin, version: int | None = None) -> Consequence:
        """The consequence of starting a process, in its latest version unless one is named."""
        return await _Walk(self, origin).version(process, version).found()

    async def of_deployment(
        self, deployed: Deployed, origin: Origin, along: Mapping[str, Deployed] | None = None
    ) -> Consequence:
        """The consequence of a process that is about to be deployed, along with others."""
        new = {**(along or {}), deployed.process.id: deployed}
        return await _Walk(self, origin, new).deployed(deployed).found()

    async def begins_unasked(
        self, deployed: Deployed, origin: Origin, along: Mapping[str, Deployed] | None = None
    ) -> bool:
        """Whether a process may begin with nobody to ask: by a start event, or from a process that begins so."""
        if starts_of(deployed):
            return True
        id, new = deployed.process.id, dict(along or {})
        latest = [each.process for each in await self._definitions.latest(origin) if each.is_latest]
        for process in dict.fromkeys([*new, *latest]):
            walk = _Walk(self, origin, new).version(process)
            if process != id and await walk.starts(process) and id in (await walk.walked()):
                return True
        return False

    async def too_grave(
        self, agreed: ConsequenceTier | Literal[""], process: str, origin: Origin, version: int | None = None
    ) -> str:
        """Why a process does not begin from inside an instance; empty when the start of that was agreed to for as much.

        Instances that began before their consequence was kept are not held to one.
        """
        found = await self.of_process(process, origin, version)
        if not agreed or not is_grave(found.tier) or tier_rank(found.tier) <= tier_rank(agreed):
            return ""
        tiers = {name: verb.definition.consequence for name in found.verbs if (verb := self._catalogue.find(name))}
        graver = [name for name in found.verbs if tier_rank(tiers.get(name, UNKNOWN)) > tier_rank(agreed)]
        reaches = f", reaching {', '.join(graver)}," if graver else ""
        return (
            f"'{process}' is {found.tier} by now{reaches} and the instance was started with consent for {agreed}. "
            "A person can retry it and confirm that."
        )

    def links(self, deployed: Deployed, hash: bytes = b"") -> Links:
        known = self._links.get(hash) if hash else None
        if known is None:
            known = links_of(deployed)
            if hash:
                if len(self._links) >= MAX_PROCESSES:
                    self._links.clear()
                self._links[hash] = known
        return known


def links_of(deployed: Deployed) -> Links:
    """The processes that a process calls, and the names of the messages and signals it throws."""
    messages = {each.id: each.name or each.id for each in deployed.messages}
    signals = {each.id: each.name or each.id for each in deployed.signals}
    calls: dict[str, None] = {}
    throws: dict[tuple[StartedBy, str], None] = {}
    for node in nodes(deployed.process.body):
        if isinstance(node, CallActivity):
            calls[node.process] = None
        throws.update(dict.fromkeys(_thrown(node, messages, signals)))
    return Links(tuple(calls), tuple(throws))


def _thrown(node: Node, messages: Mapping[str, str], signals: Mapping[str, str]) -> Iterator[tuple[StartedBy, str]]:
    if isinstance(node, Task) and node.kind == "send" and node.message:
        yield "message_start", messages.get(node.message, node.message)
    if not isinstance(node, Event) or node.position not in THROWN:
        return
    for trigger in node.triggers:
        if isinstance(trigger, MessageTrigger):
            yield "message_start", messages.get(trigger.message, trigger.message)
        elif isinstance(trigger, SignalTrigger):
            yield "signal_start", signals.get(trigger.signal, trigger.signal)


class _Walk:
    """One look at everything that a start can reach, each process and each verb once."""

    def __init__(self, all: Consequences, origin: Origin, new: Mapping[str, Deployed] | None = None) -> None:
        self._all = all
        self._definitions, self._catalogue, self._store = all._definitions, all._catalogue, all._store
        self._origin = origin
        self._new = new or {}
        self._found = Consequence()
        self._waiting: list[tuple[str, int | None]] = []
        self._thrown: dict[tuple[StartedBy, str], None] = {}
        self._seen: set[str] = set()

    def verbs(self, verbs: Iterable[Verb]) -> _Walk:
        for verb in reached_verbs(self._catalogue, verbs):
            self._found = self._found.with_verb(verb.name, verb.definition.consequence)
            if verb.execution.process:
                self.version(verb.execution.process)
        return self

    def version(self, process: str, version: int | None = None) -> _Walk:
        if (process not in self._seen) or version is not None:
            self._seen.add(process)
            self._waiting.append((process, version))
        return self

    def deployed(self, deployed: Deployed, hash: bytes = b"") -> _Walk:
        self._seen.add(deployed.process.id)
        self._bound(deployed)
        links = self._all.links(deployed, hash)
        for process in links.calls:
            self.version(process)
        self._thrown.update(dict.fromkeys(links.throws))
        return self

    def _bound(self, deployed: Deployed) -> None:
        carrier = self._catalogue.find(deployed.verb) if deployed.verb else None
        self.verbs([carrier] if carrier is not None else [])
        for binding in deployed.bindings.values():
            verb = self._catalogue.find(binding.verb, binding.version)
            if verb is None:
                self._found = self._found.with_verb(binding.verb, UNKNOWN)
            else:
                self.verbs([verb])

    async def found(self) -> Consequence:
        await self.walked()
        return self._found

    async def walked(self) -> set[str]:
        """The processes that were reached."""
        told: set[tuple[StartedBy, str]] = set()
        while self._waiting or set(self._thrown) - told:
            while self._waiting:
                await self._enter(*self._waiting.pop(0))
            for thrown in [each for each in self._thrown if each not in told]:
                told.add(thrown)
                for process in await self._started_by(*thrown):
                    self.version(process)
            if len(self._seen) > MAX_PROCESSES:
                self._found = self._found.at_least(UNKNOWN)
                break
        return self._seen

    async def starts(self, process: str) -> bool:
        """Whether something outside makes a process begin."""
        if process in self._new:
            return bool(starts_of(self._new[process]))
        found = await self._chosen(process, None)
        return found is not None and bool(found.starts)

    async def _enter(self, process: str, version: int | None) -> None:
        if version is None and process in self._new:
            self.deployed(self._new[process])
            return
        found = await self._chosen(process, version)
        if found is None:
            return  # nothing begins there: whoever reaches it meets a refusal or an incident
        try:
            definition = await self._definitions.load(process, found.hash, self._origin.tenant)
        except QuarantinedError:
            self._found = self._found.at_least(UNKNOWN)
            return
        self.deployed(definition.deployed, found.hash)
        if found.consequence:
            self._found = self._found.at_least(found.consequence)

    async def _chosen(self, process: str, version: int | None) -> Version | None:
        try:
            return await self._definitions.choose(process, version, self._origin)
        except RejectedError:
            return None

    async def _started_by(self, kind: StartedBy, name: str) -> Sequence[str]:
        found: dict[Id, None] = {}
        after = 0
        while page := await self._store.find_waits(self._origin.tenant, kind, name, after=after, most=PAGE):
            found.update({each.aggregate: None for each in page})
            after = page[-1].number
        states = [await self._definitions.state(id, self._origin) for id in found]
        wanted = kind.removesuffix("_start")
        along = [
            id
            for id, each in self._new.items()
            if any((start.kind, start.text) == (wanted, name) for start in starts_of(each))
        ]
        return [*along, *(each.process for each in states if each is not None)]
