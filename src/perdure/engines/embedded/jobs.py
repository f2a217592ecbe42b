"""Jobs: a sub-verb runs with the data it declares, and what it returns is merged onto the head in one commit.

| what goes wrong | what becomes of the job |
|---|---|
| the payload's bytes, hash or envelope do not agree | incident at once, naming what differs |
| the data does not fit the sub-verb's schema | incident at once |
| the sub-verb is durable, or not one the verb lists | incident at once: a process composes sync verbs |
| two branches changed one path | incident at once, naming both verbs |
| the handler fails | as its class and the pinned policy say |
| the job was interrupted meanwhile | the result is recorded as discarded, nothing of it is kept |
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from perdure.bpmn.machine.commands import JobDone, JobFault, LeaseJob, RaiseIncident, RecordJob
from perdure.bpmn.machine.definition import Binding, Deployed
from perdure.bpmn.machine.entries import JobStarted
from perdure.bpmn.machine.places import iteration_of, place_of
from perdure.bpmn.machine.state import Failure, Instance, Job, Node
from perdure.engines.embedded.instances import Instances
from perdure.engines.embedded.merging import Change, seen_from
from perdure.engines.embedded.payloads import Sealed, budget_of
from perdure.engines.embedded.plans import Definition
from perdure.errors import (
    FencedError,
    MergeConflictError,
    PayloadIntegrityError,
    PayloadTooLargeError,
    QuarantinedError,
    RejectedError,
    SchemaViolationError,
)
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import Envelope, canonical, value_of
from perdure.runbooks.conductor import MAX_ENTITY_CONFLICTS
from perdure.sources import Id, id_text, iso
from perdure.usage import Budget, Spent
from perdure.verbs import Verb
from perdure.verbs.definition import same_verb_name
from perdure.verbs.handlers import Call
from perdure.work.agents.budgets import UNSURE
from perdure.work.crew import JobName
from perdure.work.patience import insist
from perdure.work.ports import JobFound
from perdure.work.router import MAX_MESSAGE, Failed, Produced, Router, classify
from perdure.work.turns import Turns

PLATFORM = "perdure"
MISSING = "definition.missing"
MAX_WORKS = 10_000

CONTAINERS = (dict, list)

Made = Produced | Failed

log = logging.getLogger("perdure")


class Work(msgspec.Struct, frozen=True, gc=False):
    """What a type of job stands for under a definition: its verb, why that is refused, what the payload may weigh.

    `is_ample`: arguments taken from a payload within its budget are within the verb's.
    """

    verb: Verb | None
    refusal: Failed | None = None
    budget: int = 0
    is_ample: bool = False
    is_agent: bool = False


class Leased(msgspec.Struct, frozen=True, gc=False):
    """A job this process holds: everything its execution needs, as of the commit that leased it."""

    name: JobName
    id: Id
    aggregate: Aggregate
    node: Node
    job: Job
    definition: Definition
    work: Work
    origin: Origin
    key: str


class Jobs:
    """Runs what is leased to this process, and takes over what nobody holds."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances
        self._conductor = instances.conductor
        self._turns = Turns()
        self._works: dict[tuple[bytes, str, str], Work] = {}
        instances.kernel.hear((JobStarted,), self._on_started)

    def _on_started(self, aggregate: Aggregate, started: JobStarted) -> None:
        if started.worker == self._conductor.lease.number:
            # By its commit: an attempt that was cut off and is leased again has the same number.
            name = (aggregate.id, started.number, aggregate.version, started.worker)
            self._conductor.crew.enqueue(name, self._execute, name, aggregate, started)

    # --- executing -----------------------------------------------------------------------------------------------

    async def _execute(self, name: JobName, aggregate: Aggregate, started: JobStarted) -> None:
        """Run a job and hand its result over. The job goes on until that is settled."""
        state: Instance = aggregate.state
        node = state.nodes.get(started.number)
        job = node.job if node is not None else None
        if node is None or job is None or job.attempt != started.attempt or job.worker != started.worker:
            return  # ended again by a later command of the same commit
        try:
            definition = self._instances.known_definition(aggregate) or await self._definition(aggregate)
            work = self._work(definition, job)
            origin = Origin(aggregate.tenant, state.principal, state.trace)
            key = node.job_key(id_text(aggregate.id))
            leased = Leased(name, aggregate.id, aggregate, node, job, definition, work, origin, key)
            if work.verb is None:
                await self._insist_on_missing(leased)
            else:
                self._hand_over(leased, work.refusal or await self._attempt(leased, work.verb))
        except Exception as error:
            await self._give_up(aggregate, node, job, error)

    async def _insist_on_missing(self, leased: Leased) -> None:
        def raise_it() -> Awaitable[None]:
            return self.raise_missing(leased.id, leased.node, leased.origin, leased.definition)

        await insist(raise_it, self._instances.sources)

    async def _give_up(self, aggregate: Aggregate, node: Node, job: Job, error: Exception) -> None:
        """See to what a job ended with, unless nothing is left to do for this process."""
        if isinstance(error, FencedError | QuarantinedError) or is_gone(error):
            return  # another worker has taken over, or the instance is set aside: recorded where it is found
        with suppress(FencedError, QuarantinedError):
            await self._raise_unrecorded(aggregate, node, job, error)

    async def _definition(self, aggregate: Aggregate) -> Definition:
        return await insist(lambda: self._instances.loaded(aggregate), self._instances.sources)

    def _work(self, definition: Definition, job: Job) -> Work:
        """Looked up once: what a definition binds, and the verbs a process knows, never change."""
        name = (definition.hash, job.type, job.purpose)
        work = self._works.get(name)
        if work is None:
            if len(self._works) >= MAX_WORKS:
                self._works.clear()
            work = self._works[name] = self._looked_up(definition, job)
        return work

    def _looked_up(self, definition: Definition, job: Job) -> Work:
        binding = definition.binding(job.type)
        verb = self._conductor.serves(binding.verb, binding.version) if binding is not None else None
        if verb is None:
            return Work(None)
        carrying = definition.deployed.verb
        carrier = self._conductor.catalogue.find(carrying) if carrying else None
        budget = budget_of(carrier)
        is_ample = verb.execution.max_bytes >= budget and not verb.input.has_defaults
        is_agent = self._conductor.router.is_agent(verb)
        return Work(verb, self._refused(definition.deployed, job, verb, carrier), budget, is_ample, is_agent)

    @staticmethod
    def _refused(deployed: Deployed, job: Job, verb: Verb, carrier: Verb | None) -> Failed | None:
        """What the worker refuses to run, whatever was deployed."""
        if verb.is_durable:
            text = f"'{verb.name}' is durable, and a process composes sync verbs only. Hand over by a message instead."
            return Failed("permanent_contract", "job.nested", text)
        allowed = carrier.execution.sub_verbs if carrier is not None else ()
        if allowed and job.purpose == "work":
            names = {same_verb_name(name) for name in (*allowed, *deployed.compensation.values())}
            if same_verb_name(verb.name) not in names:
                text = f"'{verb.name}' is not a sub-verb of '{deployed.verb}'. List it under `sub_verbs`."
                return Failed("permanent_contract", "job.forbidden", text)
        return None

    async def _attempt(self, leased: Leased, verb: Verb) -> Made:
        try:
            data, is_ample = self._seen(leased), leased.work.is_ample
            if data is None:
                data, is_ample = await self._gathered(leased), is_ample and not leased.job.message
            args = checked_args(self._conductor.router, verb, declared(verb, data), is_ample=is_ample)
        except (SchemaViolationError, PayloadTooLargeError, PayloadIntegrityError) as error:
            return classify(verb, error)
        call, spent = self._handed(leased, verb, args), None
        if leased.work.is_agent:
            spent = await self._spent(leased)
        deployed = leased.definition.deployed
        return sure(await self._conductor.router.run(verb, call, deployed.flags, deployed.is_loose, spent))

    async def _spent(self, leased: Leased) -> Spent | None:
        """What the agents of the process have used so far."""
        current = await insist(lambda: self._instances.read(leased.id, leased.origin), self._instances.sources)
        state: Instance = current.state
        return state.spent

    def _seen(self, leased: Leased) -> dict[str, Any] | None:
        """The data as the job sees it, where that is one payload in memory."""
        job, state = leased.job, leased.aggregate.state
        if job.message and job.purpose == "intake":
            return None
        head = self._instances.payloads.find(leased.id, job.base or state.head)
        return None if head is None else seen_from(head.data, place_of(state, leased.node))

    async def _gathered(self, leased: Leased) -> dict[str, Any]:
        """The same from the store; an intake sees what arrived lie over it."""
        job, state = leased.job, leased.aggregate.state
        data = seen_from((await self._payload(leased.id, job.base or state.head)).data, place_of(state, leased.node))
        if job.purpose == "intake" and job.message:
            return {**data, **(await self._payload(leased.id, job.message)).data}
        return data

    async def _payload(self, id: Id, hash: bytes) -> Envelope:
        return await insist(lambda: self._instances.payloads.open(id, hash), self._instances.sources)

    @staticmethod
    def _handed(leased: Leased, verb: Verb, args: dict[str, Any]) -> Call:
        origin, parent, key = leased.origin, leased.aggregate.state.parent, leased.key
        call, step = id_text(leased.id), key
        if parent and parent.startswith("step:"):
            step = parent.removeprefix("step:")
            call = step.partition(":")[0]
        return Call(
            verb=verb.name, version=verb.version, args=args, call_id=call, step_id=step, tenant=origin.tenant,
            principal=origin.principal, trace={"traceparent": origin.trace} if origin.trace else None,
            idempotency_key=key, attempt=leased.job.attempt,
            iteration=iteration_of(leased.aggregate.state, leased.node),
        )  # fmt: skip

    # --- recording -----------------------------------------------------------------------------------------------

    def _hand_over(self, leased: Leased, made: Made) -> None:
        """Ask for the result to be recorded, and wait for it without a task: nearly always that is all."""
        self._require_lease(leased)
        asked = self._instances.put(leased.id, leased.origin, partial(self._recording, leased, made))
        asked.add_done_callback(partial(self._settled, leased, made))
        self._conductor.crew.entrust(leased.name, asked)

    def _settled(self, leased: Leased, made: Made, asked: asyncio.Future[Answer]) -> None:
        if asked.cancelled() or (asked.exception() is None and asked.result().conflict is None):
            self._conductor.crew.dismiss(leased.name)
        else:
            self._conductor.crew.go_on(leased.name, self._go_on(leased, made, asked))

    async def _go_on(self, leased: Leased, made: Made, asked: asyncio.Future[Answer]) -> None:
        """The record met something unusual: what was asked is asked again, or the job is done again."""
        try:
            await self._record_in_turn(leased, await self._record(leased, made, asked))
        except Exception as error:
            await self._give_up(leased.aggregate, leased.node, leased.job, error)

    async def _record_in_turn(self, leased: Leased, answer: Answer) -> None:
        verb = leased.work.verb
        assert verb is not None
        for _ in range(MAX_ENTITY_CONFLICTS - 1):
            if answer.conflict is None:
                return
            async with self._turns.at(f"{leased.origin.tenant}/{answer.conflict.key}"):
                answer = await self._record(leased, await self._attempt(leased, verb))
        if answer.conflict is not None:
            crowded = Failed("transient_infrastructure", "entity.conflict", "its records kept changing under it")
            await self._record(leased, crowded)

    async def _record(self, leased: Leased, made: Made, asked: asyncio.Future[Answer] | None = None) -> Answer:
        make = partial(self._recording, leased, made)

        def record() -> Awaitable[Answer]:
            nonlocal asked
            first, asked = asked, None
            if first is None:
                self._require_lease(leased)
            return self._instances.ask(leased.id, leased.origin, make, first)

        # The handler has run: forgetting that because the store is out of reach would leave the job leased for ever.
        return await insist(record, self._instances.sources)

    def _require_lease(self, leased: Leased) -> None:
        if leased.job.worker != self._conductor.lease.number:
            fact = "this process has another one now"
            raise FencedError("record a job under", "lease", str(leased.job.worker), fact)

    def _recording(self, leased: Leased, made: Made, aggregate: Aggregate) -> Prepared:
        outcome, brought = self._outcome(aggregate, leased, made)
        job = leased.job
        command = RecordJob(
            node=leased.node.number, attempt=job.attempt, job_worker=job.worker, outcome=outcome,
            worker=self._instances.worker_of(aggregate), used=made.used, budget=budget_for(leased.work.verb, made),
        )  # fmt: skip
        return Prepared(command, brought)

    def _outcome(self, aggregate: Aggregate, leased: Leased, made: Made) -> tuple[JobDone | JobFault, Attachments]:
        if not isinstance(made, Produced):
            return JobFault(Failure(made.kind, made.code, made.message), made.after_seconds), Attachments()
        state: Instance = aggregate.state
        current = state.nodes.get(leased.node.number)
        if current is None or current.job is None or current.job.attempt != leased.job.attempt:
            return JobDone(state.head), Attachments()  # interrupted meanwhile: the machine discards it
        try:
            head = self._merged(aggregate, current, leased, made)
        except (MergeConflictError, PayloadTooLargeError, SchemaViolationError) as error:
            return JobFault(Failure("permanent_contract", error.code, str(error)[:MAX_MESSAGE])), Attachments()
        return JobDone(head[0], made.flags), Attachments(payloads=[head], entities=[*made.entities])

    def _merged(self, aggregate: Aggregate, node: Node, leased: Leased, made: Produced) -> Sealed:
        payloads, state, verb = self._instances.payloads, aggregate.state, leased.work.verb
        assert verb is not None
        patch = made.cargo.value
        if not isinstance(patch, dict):
            fact = f"it returned a {type(patch).__name__}, and a process merges objects"
            raise SchemaViolationError("merge the result of", "verb", verb.name, fact, violations=[])
        base = payloads.held(aggregate.id, leased.job.base) if leased.job.base not in (b"", state.head) else None
        at, by = iso(self._instances.sources.now()) or "", leased.job.by or state.principal
        change = Change(patch, verb.name, leased.key, at, by, place_of(state, node), base)
        return payloads.seal_change(aggregate.id, state.head, change, leased.work.budget)

    async def raise_missing(self, id: Id, node: Node, origin: Origin, definition: Definition) -> None:
        """A job whose verb or handler is gone must be seen by a person."""
        verb = definition.type_of(node)
        text = (
            f"The verb '{verb}' that the task '{node.element}' is pinned to is not available any more. "
            "Bring its definition and handler back, then `perdure incidents retry`; or `perdure incidents resolve`."
        )
        job = node.job
        command = RaiseIncident(
            node=node.number, code=MISSING, text=text, attempt=job.attempt if job is not None else 0,
            job_worker=job.worker if job is not None else 0,
        )  # fmt: skip
        await self._instances.ask(id, Origin(origin.tenant, PLATFORM), Prepared(command))

    async def _raise_unrecorded(self, aggregate: Aggregate, node: Node, job: Job, error: Exception) -> None:
        """What cannot be done or recorded must not leave the job leased to a process that has given up on it."""
        text = (
            f"Attempt {job.attempt} of '{job.type}' could not begin, or what it led to could not be recorded "
            f"({type(error).__name__}: {error}). Mend the cause, then `perdure incidents retry`."
        )
        command = RaiseIncident(
            node=node.number, code="attempt.unrecorded", text=text[:MAX_MESSAGE], attempt=job.attempt,
            job_worker=job.worker,
        )  # fmt: skip
        origin = Origin(aggregate.tenant, PLATFORM)
        await insist(lambda: self._instances.ask(aggregate.id, origin, Prepared(command)), self._instances.sources)

    # --- taking over ---------------------------------------------------------------------------------------------

    async def lease(self, found: JobFound) -> bool:
        """Take a job that is ready or whose worker is gone; True when it is ours now."""
        origin = Origin(found.tenant, PLATFORM)
        try:
            aggregate = await self._instances.read_or_recall(found.aggregate, origin)
            definition = await self._instances.loaded(aggregate)
            node = aggregate.state.nodes.get(found.step)
            if node is None or node.job is None:
                aggregate = await self._instances.read(found.aggregate, origin)
                definition = await self._instances.loaded(aggregate)
                node = aggregate.state.nodes.get(found.step)
            if node is None or node.job is None:
                return False
            binding = definition.binding(definition.type_of(node))
            if binding is None:
                await self.raise_missing(found.aggregate, node, origin, definition)
                return False
            if self._conductor.serves(binding.verb, binding.version) is None:
                return False  # another worker may have it; if none does, the check of definitions raises an incident
            begun = await self._begun_as(aggregate, node.job) if found.worker else binding
            command = LeaseJob(
                node=found.step, worker=self._conductor.lease.number, abandoned=found.worker,
                redelivery=begun.redelivery if begun is not None else "incident",
            )  # fmt: skip
            return (await self._instances.ask(found.aggregate, origin, Prepared(command))).answer == "leased"
        except QuarantinedError:
            return False
        except RejectedError as error:
            if is_gone(error):
                return False
            log.warning("the job %s of instance %s cannot be taken up: %s", found.step, id_text(found.aggregate), error)
            raise

    async def _begun_as(self, aggregate: Aggregate, job: Job) -> Binding | None:
        """What a job under way is pinned to: the instance may have been migrated since a worker took it."""
        state: Instance = aggregate.state
        for hash in (state.definition, *(past[0] for past in reversed(state.past))):
            definition = await self._instances.definitions.stored(state.process, hash, aggregate.tenant)
            binding = definition.binding(job.type) if definition is not None else None
            if definition is not None and job.definition in (0, definition.plan.definition(job.type)) and binding:
                return binding
        return None


def is_gone(error: Exception) -> bool:
    """Whether the instance itself is not there: the one rejection that leaves nothing to do for a job of it."""
    return isinstance(error, RejectedError) and (error.rejection.code, error.rejection.thing) == (
        "not_found",
        "instance",
    )


def sure(made: Made) -> Made:
    """What an agent is not sure of is a business error of its job: the model says who is asked then."""
    if isinstance(made, Failed) or not made.doubt:
        return made
    text = f"What was said does not count by itself: {made.doubt}. Model a boundary error event for '{UNSURE}'."
    return Failed("permanent_business", UNSURE, text, used=made.used)


def budget_for(verb: Verb | None, made: Made) -> Budget | None:
    """What the agents of the process may use, where this was one of them."""
    if verb is None or made.used is None:
        return None
    contract = verb.execution.agent
    return contract.budget if contract is not None else None


def declared(verb: Verb, data: dict[str, Any]) -> dict[str, Any]:
    """The fields of the data that a verb's input schema names; all of them when it names none."""
    names = verb.input.properties
    if not names:
        return dict(data)
    args: dict[str, Any] = {}
    for name in names:
        if name in data:
            args[name] = data[name]
    return args


def checked_args(router: Router, verb: Verb, args: dict[str, Any], *, is_ample: bool = False) -> dict[str, Any]:
    """The arguments as the verb's schema accepts them; one that declares no argument takes what there is.

    They are the handler's own: changing them in place changes nothing of the payload they come from. `is_ample` when
    they are of a payload, and what fits into that fits the verb.
    """
    for value in args.values():
        if isinstance(value, CONTAINERS):
            data = router.incoming(verb, args).data if verb.input.properties else canonical(args)
            own: dict[str, Any] = value_of(data)
            return own
    if not verb.input.properties:
        return args
    # Those of a payload are under their declared names already: `declared` has looked for no others.
    checked: dict[str, Any] = verb.input.check(args) if is_ample else router.incoming(verb, args).value
    return checked
