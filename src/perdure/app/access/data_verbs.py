"""Data verbs: the verbs that the data of a thing come from, for every kind of thing.

A key sees and touches a thing only if it reaches every verb that the thing's data come from.

| thing | its data come from |
|---|---|
| call, its journal and its kept answer | its verb: the verb is the door, and its author vouches for its process |
| step of a runbook | its verb, and the steps whose results it refers to |
| runbook, its journal, timeline and diff | all its steps and the verbs that decide about them |
| draft | every verb that one of its revisions names |
| instance, its journal and diagram | all that its process can reach, all that ran in it, and whatever began it |
| human task, wait, incident | the step or the instance it belongs to |
| inside of a call or a runbook: its export, incidents in its processes | the thing, and its carriers |
| process version | all that it can reach |
| process | all its versions |
| document, its versions and content | the verb of documents that does the same: a door as well |
| lifecycle, its definition and task results | the verbs its definition calls or offers (`lifecycles.verbs_of`) |
| message, signal | the instances whose waits it ends, and the processes it begins |
| dead letter | of a completion the verb it names and those under its key; of others nobody knows |
| entry of the feed | the thing it happened to |

Where no verb is known the data may come from any: such a thing is for keys that reach every verb.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import msgspec

from perdure.access.principal import EVERY_VERB
from perdure.app.lists.list_rows import DeadLetterItem
from perdure.app.runtime import Runtime
from perdure.bpmn.machine.aggregate_ids import INSTANCE, PROCESS, child_id
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.process_machine import ProcessState
from perdure.documents.machine.document_machine import DocumentMachine
from perdure.errors import QuarantinedError, RejectedError
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.lifecycles.instances import KIND as LIFECYCLE
from perdure.payload import parse_digest
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.runbooks.executor.completion_inbox import own_tokens
from perdure.runbooks.machine.runbook_machine import carried_as, carried_step
from perdure.runbooks.machine.state import Runbook, Step
from perdure.sources import ID_LENGTH, Id, id_text, parse_id
from perdure.verbs.definition import same_verb_name

ANY = EVERY_VERB[0]
"""Stands among verbs for all of them: only a key that reaches every verb reaches it."""
UNKNOWN = [ANY]
OF_DOCUMENTS = ["document.find"]
MAX_DEPTH = 100
"""Instances that called one another before the first of them is looked for no further."""
COMPLETION = "completion"


class DataVerbs:
    """Of one tenant. Reached as `perdure.data_verbs`."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin

    async def of_id(self, id: str) -> list[str]:
        """The verbs of a call, a runbook, a draft or an instance."""
        return await self.of(await self._runtime.kernel.read(parse_id(id), self._origin))

    async def of(self, aggregate: Aggregate) -> list[str]:
        """The verbs of whatever an id names."""
        if aggregate.kind == INSTANCE:
            return await self.of_instance(aggregate)
        if aggregate.kind == RUNBOOK:
            return await self.of_runbook(aggregate)
        if aggregate.kind == DocumentMachine.kind:
            return OF_DOCUMENTS
        if aggregate.kind == LIFECYCLE:
            return await self._of_lifecycle(aggregate)
        return await self._of_process(aggregate.state) if aggregate.kind == PROCESS else UNKNOWN

    async def _of_lifecycle(self, aggregate: Aggregate) -> list[str]:
        """The verbs of the version that an instance is pinned to."""
        from perdure.app.lifecycles.lifecycle_verbs import LifecycleVerbs  # noqa: PLC0415

        definition = (await self._runtime.lifecycles.material(aggregate)).definition
        return await LifecycleVerbs(self._runtime, self._origin).of(definition)

    async def of_runbook(self, aggregate: Aggregate) -> list[str]:
        """The verbs of a call, of all steps of a runbook, or of all revisions of a draft."""
        state: Runbook = aggregate.state
        if state.course is None and state.draft is not None:
            return await self.of_draft(aggregate)
        return _named(name for step in state.steps for name in _named_by(step)) or UNKNOWN

    async def of_draft(self, aggregate: Aggregate) -> list[str]:
        """The verbs that the revisions of a draft name. An empty draft has no data of anybody."""
        revisions = aggregate.state.draft.revisions if aggregate.state.draft is not None else ()
        found: dict[str, None] = {}
        for revision in dict.fromkeys(revisions):
            data = await self._runtime.store.payload(aggregate.id, revision)
            found.update(dict.fromkeys(self.in_draft(msgspec.json.decode(data)) if data is not None else ()))
        return list(found)

    def in_draft(self, document: Any) -> list[str]:
        """The verbs that a document of a draft names, and those it was handed results of, by their whole names."""
        entries = document.get("entries", ()) if isinstance(document, dict) else ()
        named = [entry.get(name) for entry in entries for name in ("verb", "alternative")]
        if isinstance(document, dict) and isinstance(document.get("handoff"), dict):
            named += document["handoff"].get("verbs", ())
        catalogue = self._runtime.catalogue
        return _named(found.name if (found := catalogue.find(name)) is not None else name for name in named if name)

    def of_step(self, aggregate: Aggregate, number: int) -> list[str]:
        """The verb of a step, and the verbs of those whose results come into it, one through the other."""
        steps = aggregate.state.steps
        waiting, seen = [number], set[int]()
        while waiting:
            at = waiting.pop()
            if at in seen or not 1 <= at <= len(steps):
                continue
            seen.add(at)
            if (links := steps[at - 1].links) is not None:
                either = [each for several in links.either for each in several]
                waiting += [*links.needs, *either, links.undoes, links.decides]
        return _named(steps[at - 1].verb for at in sorted(seen)) or UNKNOWN

    async def of_call(self, id: str, verb: str) -> list[str]:
        """The verbs of a view of a call: of the step that it shows, where it is part of a runbook."""
        aggregate = await self._named(id)
        if aggregate is None or aggregate.kind != RUNBOOK:
            return [verb] if aggregate is None and verb else UNKNOWN
        numbers = [number for number, step in enumerate(aggregate.state.steps, 1) if step.verb == verb]
        return _named(name for number in numbers for name in self.of_step(aggregate, number)) or UNKNOWN

    async def of_steps(self, id: str, numbers: Sequence[int]) -> list[list[str]]:
        """The verbs of some steps of a runbook, in their order."""
        aggregate = await self._runtime.kernel.read(parse_id(id), self._origin)
        return [self.of_step(aggregate, number) if aggregate.state.steps[number - 1].verb else [] for number in numbers]

    async def of_instance(self, aggregate: Aggregate) -> list[str]:
        """The verbs that the process of an instance can reach, that ran in it, and of whatever began it."""
        found: dict[str, None] = {}
        for _ in range(MAX_DEPTH):
            definition = await self._runtime.instances.loaded(aggregate)
            found.update(dict.fromkeys(await self.of_deployed(definition.deployed)))
            found.update(dict.fromkeys((await self._runtime.pasts.of(aggregate)).verbs))
            kind, _, place = aggregate.state.parent.partition(":")
            if not place:
                return list(found) or UNKNOWN
            letters, number = carried_step(place)
            began = await self._read(parse_id(letters))
            if began is None:
                return UNKNOWN
            if kind != "node":
                return _named([*found, *self.of_step(began, number)])
            aggregate = began
        return UNKNOWN

    async def of_deployed(self, deployed: Deployed) -> list[str]:
        """The verbs that a process can reach as it is deployed."""
        consequence = await self._runtime.definitions.consequences.of_deployment(deployed, self._origin)
        return _named([deployed.verb, *consequence.verbs]) or UNKNOWN

    async def of_version(self, process: str, hash: bytes) -> list[str]:
        """The verbs that one version of a process can reach."""
        definition = await self._runtime.definitions.load(process, hash, self._origin.tenant)
        return await self.of_deployed(definition.deployed)

    async def _of_process(self, state: ProcessState) -> list[str]:
        found = [await self.of_version(state.process, each.hash) for each in state.versions]
        return _named(name for names in found for name in names) or UNKNOWN

    async def of_processes(self, ids: Iterable[Id]) -> list[str]:
        """The verbs that processes can reach in the versions that would begin now."""
        found: dict[str, None] = {}
        for id in ids:
            state: ProcessState = (await self._runtime.kernel.read(id, self._origin)).state
            if (version := state.latest()) is not None:
                found.update(dict.fromkeys(await self.of_version(state.process, version.hash)))
        return list(found)

    async def inside(self, aggregate: Aggregate) -> list[str]:
        """The verbs of a thing, and of the instances that carry its steps, down to the last."""
        found = dict.fromkeys(await self.of(aggregate))
        if aggregate.kind == RUNBOOK:
            async for names in self._carried(aggregate):
                found.update(dict.fromkeys(names))
        return list(found)

    async def inside_id(self, id: str) -> list[str]:
        """The same by its id."""
        return await self.inside(await self._runtime.kernel.read(parse_id(id), self._origin))

    async def _carried(self, aggregate: Aggregate) -> AsyncIterator[list[str]]:
        for number, step in enumerate(aggregate.state.steps, 1):
            if step.carrier is not None:
                yield await self.of_carrier(aggregate, number)

    async def of_carrier(self, aggregate: Aggregate, number: int) -> list[str]:
        """The verbs of the instance that carries a step, of one that has not begun those of its process; else none."""
        step: Step = aggregate.state.steps[number - 1]
        if (pin := step.carrier) is None:
            return []
        place = f"step:{carried_as(id_text(aggregate.id), number, step)}"
        instance = await self._read(child_id(aggregate.tenant, place))
        if instance is not None:
            return await self.of_instance(instance)
        return await self.of_version(pin.process, pin.definition)

    async def of_carried(self, process: str, definition: str, instance: str) -> list[str]:
        """The verbs of a carrier by its process, the digest of its definition and its instance, if that has begun."""
        found = await self._named(instance)
        if found is not None and found.kind == INSTANCE:
            return await self.of_instance(found)
        return await self.of_version(process, parse_digest(definition))

    async def of_place(self, aggregate: Aggregate, number: int | None) -> list[str]:
        """The verbs of a task, a wait or an incident at a step or a token; without a number, of all of them."""
        if aggregate.kind != RUNBOOK:
            return await self.of(aggregate)
        return self.of_step(aggregate, number) if number is not None else await self.inside(aggregate)

    async def of_incident(self, aggregate: Aggregate, number: int | None) -> list[str]:
        """The verbs of whatever a retry would touch: an incident that is not the step's own is inside its process."""
        steps = aggregate.state.steps if aggregate.kind == RUNBOOK else ()
        is_own = number is not None and 1 <= number <= len(steps) and steps[number - 1].carrier is None
        if aggregate.kind == RUNBOOK and not is_own:
            return await self.inside(aggregate)
        return await self.of_place(aggregate, number)

    async def under_key(self, key: str, verb: str = "") -> list[str]:
        """The verbs of what waits or waited under a key of the tenant; of one verb's waits alone where one is named."""
        aggregate = await self._named(key.partition(":")[0])
        if aggregate is not None and aggregate.kind == INSTANCE:
            return await self.of_instance(aggregate)
        steps = [self.of_step(owner, step) async for owner, step in self._waits(key, verb)]
        return _named([*(name for names in steps for name in names), *await self._shared(key, verb)])

    async def answered_under(self, key: str, verb: str = "") -> list[str]:
        """The verbs that an answer under a key is the result of; of a task of an instance the one it carries."""
        aggregate = await self._named(key.partition(":")[0])
        if aggregate is not None and aggregate.kind == INSTANCE:
            return await self.answered(aggregate)
        steps = [str(owner.state.steps[step - 1].verb) async for owner, step in self._waits(key, verb)]
        return _named([*steps, *await self._shared(key, verb)])

    async def answered(self, aggregate: Aggregate) -> list[str]:
        """The verbs of a call or of the steps of a runbook; the one that an instance carries, if it carries one."""
        if aggregate.kind == INSTANCE:
            return _named([(await self._runtime.instances.loaded(aggregate)).deployed.verb])
        return _named(step.verb for step in aggregate.state.steps) if aggregate.kind == RUNBOOK else []

    async def _waits(self, key: str, verb: str) -> AsyncIterator[tuple[Aggregate, int]]:
        """The calls and runbooks that wait or waited under a key, each with its step."""
        check_key("wait under", "key", key)
        aggregate = await self._named(key.partition(":")[0])
        if aggregate is not None and aggregate.kind == RUNBOOK:
            for each in own_tokens(aggregate, key):
                yield aggregate, each.step
        for token in await self._runtime.store.find_tokens(self._origin.tenant, key):
            if verb and same_verb_name(token.name) != same_verb_name(verb):
                continue  # named ones end no other waits
            if (owner := await self._read(Id(token.aggregate))) is not None:
                yield owner, token.step

    async def _shared(self, key: str, verb: str) -> list[str]:
        """The verbs whose shared waits an answer under a key ends."""
        fan_out, tenant = self._runtime.intake.fan_out, self._origin.tenant
        return [each.name for each in fan_out.verbs(verb) if await fan_out.upto([each.name], key, tenant)]

    async def of_letter(self, letter: DeadLetterItem) -> list[str]:
        """The verb that a completion names and those that waited under its key; of anything else nobody knows."""
        named = letter.message.get("verb") if isinstance(letter.message, dict) else None
        if letter.kind != COMPLETION or not isinstance(named, str) or not named:
            return UNKNOWN
        verb = self._runtime.catalogue.find(named)
        return _named([verb.name if verb is not None else named, *await self.under_key(letter.key, named)])

    async def _named(self, letters: str) -> Aggregate | None:
        """The call, runbook or instance of an id; None where that is none."""
        if len(letters) != ID_LENGTH:
            return None
        try:
            return await self._read(parse_id(letters))
        except RejectedError:
            return None

    async def _read(self, id: Id) -> Aggregate | None:
        try:
            return await self._runtime.kernel.read(id, self._origin)
        except (QuarantinedError, RejectedError):
            return None


def _named_by(step: Step) -> Sequence[str]:
    alternative = step.links.alternative if step.links is not None else None
    return (step.verb, alternative.verb) if alternative is not None else (step.verb,)


def _named(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name]
