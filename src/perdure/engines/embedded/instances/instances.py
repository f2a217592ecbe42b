"""Instances of the embedded engine: started once, asked with their plan and payloads at hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from perdure.bpmn.machine.aggregate_ids import INDEX, INSTANCE, child_id
from perdure.bpmn.machine.commands import StartInstance
from perdure.bpmn.machine.process_machine import Version
from perdure.bpmn.machine.state import Instance
from perdure.engine import StartRequest, Until
from perdure.engines.embedded.ports import EngineStore
from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Prepared
from perdure.kernel.ports import Attachments, IndexRow, Unit
from perdure.payload import canonical, digest
from perdure.processes.definitions import chosen
from perdure.processes.instance_reader import InstanceReader, missing_instance
from perdure.processes.known_values import MissingAnswers
from perdure.processes.payloads import MissingPayload, budget_of
from perdure.processes.plan_cache import Definition, MissingPlan
from perdure.processes.trail_references import trail_ref
from perdure.runbooks.executor.call_executor import CallExecutor, keyed_id
from perdure.sources import Id, Sources, id_text
from perdure.verb_contract import ConsequenceTier, check_flags
from perdure.verbs import Call, Result

MAX_LOADS = 100

Make = Callable[[Aggregate], Prepared | Rejection] | Prepared
"""The command for an instance, or what makes it for the instance as it is now; that may be called several times."""
GivenUp = Callable[[Id, Origin], Awaitable[bool]]
"""Whether nothing comes any more of a start that was given up; what an engine outside has begun is cancelled there."""
Hear = Callable[[Answer | BaseException], None]
"""Is told what an instance answered, or why it did not."""


class Instances:
    """Everything that is asked of an instance goes through `ask`."""

    def __init__(self, conductor: CallExecutor, store: EngineStore, reader: InstanceReader, sources: Sources) -> None:
        self.kernel = conductor.kernel
        self.store = store
        self.reader = reader
        self.conductor = conductor
        self.sources = sources
        self.definitions = reader.definitions
        self.payloads = reader.payloads
        self.machine = reader.machine
        self.followers = reader.followers
        self.read, self.read_or_recall = reader.read, reader.read_or_recall
        self.loaded, self.definition, self.known_definition = reader.loaded, reader.definition, reader.known_definition
        self.data, self.history = reader.data, reader.history
        self.answers, self._load_answers = reader.answers, reader.load_answers
        self._served: dict[bytes, bool] = {}
        self.given_up: list[GivenUp] = []

    # --- starting ------------------------------------------------------------------------------------------------

    async def start(
        self,
        request: StartRequest,
        origin: Origin,
        *,
        id: Id | None = None,
        brought: Attachments | None = None,
        message_id: str = "",
        is_pinned: bool = False,
        until: Until = "committed",
    ) -> Aggregate:
        """Begin an instance; under one id, key or parent it begins once, however often it is asked for.

        It is followed `until` it has come that far.
        """
        definitions, name = self.definitions, request.process
        process = definitions.seen(name, origin) or await definitions.find(name, origin)
        version = chosen(process, name, request.version, is_pinned=is_pinned)
        definition = definitions.plans.find(version.hash) or await definitions.load(name, version.hash, origin.tenant)
        deployed = definition.deployed
        flags = dict(request.flags) if request.flags else {}
        if flags and not deployed.is_loose:
            check_flags(deployed.flags, flags)
        request = _named(request, definition)
        if definition.contract is not None:
            flags |= definition.contract.flags(request.data or {}, definition.plan.initial_flags())
        verb = self.conductor.catalogue.find(deployed.verb) if deployed.verb else None
        id = id or self._id(request, origin)
        data = dict(request.data) if request.data else {}
        trail = trail_ref(id, request.parent)
        head = self.payloads.seal_first(id, name, version.number, verb, data, self.sources.now(), trail)
        attached = brought or Attachments()
        attached.payloads.append(head)
        attached.index.append(_by_process(name))
        if request.business_key:
            attached.index.append(IndexRow(INDEX, "business_key", request.business_key[:256]))
        if request.idempotency_key:
            attached.idempotency = (request.idempotency_key, _request(request))
        agreed = request.agreed or await self._consequence(definition, version, origin)
        command = StartInstance(
            definition=version.hash, process=name, process_version=version.number, head=head[0], flags=flags,
            start=request.start, message_id=message_id, parent=request.parent, business_key=request.business_key,
            idempotency_key=request.idempotency_key, worker=self.worker(definition),
            agreed=agreed,
        )  # fmt: skip
        prepared = Prepared(command, attached)
        if until == "committed":
            answer: Answer | None = await self.reader.commands.start(INSTANCE, id, origin, prepared)
        else:
            answer = await self.followers.start(id, origin, prepared, until)
        if answer is None:
            return await self.read_until(id, origin, until)
        if answer.conflict is None:
            assert answer.aggregate is not None
            return answer.aggregate
        if attached.settles is not None:
            await self.settle(origin.tenant, Attachments(settles=attached.settles))
        return await self.followers.follow(await self._started_before(request, origin, id), until)

    async def _consequence(self, definition: Definition, version: Version, origin: Origin) -> ConsequenceTier:
        """The consequence of a start now; where a process leads to no other, that of its deployment still holds."""
        consequences = self.definitions.consequences
        if version.consequence and not any(consequences.links(definition.deployed, version.hash)):
            return version.consequence
        found = await consequences.of_deployment(definition.deployed, origin)
        return found.at_least(version.consequence).tier if version.consequence else found.tier

    def _id(self, request: StartRequest, origin: Origin) -> Id:
        if request.idempotency_key:
            check_key("start a process under", "idempotency key", request.idempotency_key)
            return keyed_id(origin.tenant, f"instance\0{request.idempotency_key}")
        if request.parent:
            return child_id(origin.tenant, request.parent)
        return self.sources.new_id()

    async def _started_before(self, request: StartRequest, origin: Origin, id: Id) -> Aggregate:
        if request.idempotency_key:
            known = await self.store.idempotent_start(origin.tenant, request.idempotency_key)
            if known is None or known[1] != _request(request):
                holder = f" ({id_text(known[0])})" if known is not None else ""
                raise RejectedError(Rejection(
                    "already_exists", "start", "process", request.process,
                    f"the idempotency key '{request.idempotency_key}' was used for something else{holder}",
                    "Use a new key for a new request.",
                ))  # fmt: skip
            id = known[0]
        return await self.read(id, origin)

    # --- asking --------------------------------------------------------------------------------------------------

    def worker(self, definition: Definition) -> int:
        """Our lease when this process serves everything the definition binds, so that jobs start in the same commit."""
        served = self._served.get(definition.hash)
        if served is None:
            served = self._served[definition.hash] = self._serves(definition)
        return self.conductor.lease.number if served else 0

    def worker_of(self, aggregate: Aggregate) -> int:
        """The same for the definition of an instance, which need not be in memory once that is known of it."""
        served = self._served.get(aggregate.state.definition)
        if served is None:
            return self.worker(self.definition(aggregate))
        return self.conductor.lease.number if served else 0

    def _serves(self, definition: Definition) -> bool:
        bindings = definition.deployed.bindings.values()
        return all(self.conductor.serves(each.verb, each.version, each.definition) is not None for each in bindings)

    def put(self, id: Id, origin: Origin, make: Make, hear: Hear) -> None:
        """Put a command to an instance, and be told. What is not simply an answer is for `ask` to judge."""
        self.reader.commands.put(INSTANCE, id, origin, make, hear)

    async def ask(
        self, id: Id, origin: Origin, make: Make, told: Answer | BaseException | None = None
    ) -> Answer:  # fmt: skip
        """Put a command to an instance. `make` may ask for payloads and plans as if all were in memory.

        `told` is what `put` led to, when it was put to the instance already.
        """
        for _ in range(MAX_LOADS):
            try:
                if isinstance(told, BaseException):
                    raise told
                return told or await self.reader.commands.ask(INSTANCE, id, origin, make)
            except RejectedError as error:
                raise missing_instance(error) from None
            except MissingPayload as missing:
                await self.payloads.open(id, missing.hash)
            except MissingAnswers as missing:
                await self._load_answers(missing.aggregate, missing.asked)
            except MissingPlan as missing:
                state: Instance = (await self.read(id, origin)).state
                await self.definitions.load(state.process, missing.hash, origin.tenant)
            told = None
        raise InvariantBroken("ask", "instance", id_text(id), "its payloads kept leaving memory")

    async def ask_until(self, id: Id, origin: Origin, make: Make, until: Until) -> Answer:
        """The same, and follow the instance until it has come that far."""
        try:
            answer = await self.followers.ask(id, origin, make, until)
        except RejectedError as error:
            raise missing_instance(error) from None
        except (MissingPayload, MissingPlan, MissingAnswers):
            asked = await self.ask(id, origin, make)
            if asked.conflict is not None or asked.aggregate is None:
                return asked
            return Answer(await self.followers.follow(asked.aggregate, until), asked.answer)
        if answer is None:
            return Answer(await self.read_until(id, origin, until), "")
        return answer

    def lend(self, types: Sequence[str], function: Callable[[Call], Awaitable[Result]] | None) -> None:
        """Let a function run the jobs of some types in place of their handlers; None gives them back."""
        for type in types:
            self.conductor.lend(type, function)
        self._served.clear()

    def budget(self, definition: Definition) -> int:
        """How large the payload of an instance may be: as its verb says."""
        verb = definition.deployed.verb
        return budget_of(self.conductor.catalogue.find(verb) if verb else None)

    async def settle(self, tenant: str, settles: Attachments) -> None:
        """Close a notice that led to nothing, or whose effect was committed before."""
        await self.store.commit(Unit(tenant, None, attachments=[settles]))

    async def read_until(self, id: Id, origin: Origin, until: Until) -> Aggregate:
        """An instance when it has come that far."""
        return await self.followers.follow(await self.read(id, origin), until)


def _named(request: StartRequest, definition: Definition) -> StartRequest:
    """In the contract profile the template names the instance, and an instance of one name begins once."""
    if definition.contract is None or request.parent:
        return request
    name = definition.contract.name(request.data or {}, request.process)
    return replace(
        request, business_key=request.business_key or name, idempotency_key=request.idempotency_key or name
    )  # fmt: skip


@lru_cache(1024)
def _by_process(process: str) -> IndexRow:
    return IndexRow(INDEX, "process", process)


def _request(request: StartRequest) -> bytes:
    what = [request.process, request.version, _plain(request.data), _plain(request.flags), request.start]
    return digest(canonical(what))


def _plain(value: Mapping[str, Any] | None) -> dict[str, Any]:
    return dict(value or {})
