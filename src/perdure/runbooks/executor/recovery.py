"""Recovery: a worker takes over calls, timers and messages of processes that are gone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec

from perdure.errors import (
    EngineUnavailableError,
    FencedError,
    InvariantBroken,
    PayloadIntegrityError,
    PayloadTooLargeError,
    PerdureError,
    QuarantinedError,
    RejectedError,
    Rejection,
    SchemaViolationError,
    StoreFullError,
    StoreUnavailableError,
)
from perdure.journal import Origin
from perdure.journal.facts import FACT_CHANGED
from perdure.journal.notice_routes import OverRoute, Route, StepRoute, read_route
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import PENDING, Attachments, Unit
from perdure.payload import Cargo, digest, parse
from perdure.runbooks.executor.call_executor import KIND, CallExecutor, index_rows
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.decide import ESCALATION_STUCK
from perdure.runbooks.machine.runbook_machine import CHILD_ENDED, ESCALATION, ESCALATION_OVER, token_key
from perdure.runbooks.machine.state import WAITING, Failure, Runbook, has_step, short
from perdure.sources import SECOND, Id, Micros, Sources, derive_id, id_text
from perdure.verbs import Verb
from perdure.verbs.definition import same_verb_name
from perdure.work.ports import Duties, JobFound, TimerFound

PAGE = 500
MOST_PASSED_OVER = 2_000
"""Jobs of tenants with enough under way that one pass looks at."""
PLATFORM = "perdure"
MISSING = "definition.missing"
MAX_TOLD = 10_000
OF_ALL = (FencedError, InvariantBroken, StoreFullError, StoreUnavailableError)
"""What hinders every notice: the round ends, and whoever began it decides what to do."""
log = logging.getLogger("perdure")


Deliver = Callable[[str, str, str, Id], Awaitable[bool]]
"""Acts on a notice (tenant, message id, kind, aggregate); False when it has to wait."""
Ended = Callable[[str, str, Aggregate], Awaitable[bool]]
"""Is told of a call that has ended, under the id of its notice."""


def _nothing() -> None:
    pass


class Recovery:
    """Each duty is idempotent and bounded; several workers may do the same one at once."""

    def __init__(self, conductor: CallExecutor, sources: Sources) -> None:
        self._conductor = conductor
        self._kernel = conductor.kernel
        self._store = conductor.store
        self._sources = sources
        self._served: dict[int, Verb | None] = {}
        self._serving: list[int] = []
        """The definitions this process says it can run."""
        self._idle_jobs: set[tuple[bytes, int]] = set()
        self._taken_over: dict[tuple[bytes, int], str] = {}
        self._next_job: tuple[bytes, int] = (b"", 0)
        self._others: dict[str, Duties] = {}
        self._deliveries: dict[str, Deliver] = {}
        self._parents: dict[str, Ended] = {}
        self._told: set[tuple[str, str]] = set()
        self.wake: Callable[[], None] = _nothing
        """Called when there is something to take over or to deliver."""
        self._kernel.hear((e.Escalated, e.StepReady), self._on_due)
        self._kernel.hear((e.StepCompleted, e.StepFailed, e.CallCancelled), self._on_over)

    def _on_due(self, aggregate: Aggregate, entry: e.Entry) -> None:
        self.wake()

    def _on_over(self, aggregate: Aggregate, entry: e.Entry) -> None:
        if aggregate.state.parent:
            self.wake()

    def join(self, kind: str, duties: Duties) -> None:
        """Look after the aggregates of another kind as well."""
        self._others[kind] = duties

    def receive(self, kinds: Iterable[str], deliver: Deliver) -> None:
        """Hand notices of these kinds to someone else."""
        self._deliveries.update(dict.fromkeys(kinds, deliver))

    def adopt(self, parent: str, ended: Ended) -> None:
        """Tell someone else of the end of calls whose parent begins with a word."""
        self._parents[parent] = ended

    async def _other(self, id: Id, origin: Origin) -> Duties | None:
        """Who looks after an aggregate; None when it is a call."""
        return self._others.get((await self._kernel.recall(id, origin)).kind) if self._others else None

    async def fire(self, timer: TimerFound) -> None:
        """A timer is due. A retry is leased to this process only when it can run the verb."""
        origin = Origin(timer.tenant, PLATFORM)
        try:
            if (other := await self._other(timer.aggregate, origin)) is not None:
                await other.fire(timer)
                return
            worker = self._conductor.lease.number
            if timer.kind == "retry" and await self._serves(timer.aggregate, timer.step, origin) is None:
                worker = 0
            command = c.FireTimer(timer.step, timer.kind, timer.due, worker)
            await self._kernel.ask(KIND, timer.aggregate, origin, Prepared(command, due=timer.due))
        except (RejectedError, QuarantinedError, FencedError):
            return

    async def take_over(self) -> int:
        """Jobs nobody holds: ready ones, and those of workers that are gone. Returns how many were leased.

        A tenant is given jobs while those taken over for it are fewer than there is room for; the next pass goes on
        behind the jobs that were passed over, so that none of another tenant stays behind them.
        """
        running = self._conductor.running
        self._taken_over = {name: tenant for name, tenant in self._taken_over.items() if name in running}
        held, leased, passed_over = Counter(self._taken_over.values()), 0, 0
        while page := await self._store.open_jobs(PAGE, self._next_job):
            for job in page:
                if (room := self._conductor.room) <= 0:
                    return leased
                if held[job.tenant] >= room:
                    passed_over += 1
                elif await self._lease(job):
                    leased += 1
                    held[job.tenant] += 1
                    self._taken_over[job.aggregate, job.step] = job.tenant
            self._next_job = (page[-1].aggregate, page[-1].step)
            if passed_over >= MOST_PASSED_OVER:
                return leased
        self._next_job = (b"", 0)
        return leased

    async def take_up_forgotten(self) -> int:
        """Jobs leased to this process that it does not run, because the store was away when they began or ended.

        One that is seen so twice in a row is no longer about to begin. Returns how many were leased anew.
        """
        running = self._conductor.running
        idle = {(job.aggregate, job.step): job async for job in self._own_jobs() if job[:2] not in running}
        forgotten = [job for name, job in idle.items() if name in self._idle_jobs - self._conductor.running]
        self._idle_jobs = set(idle)
        return sum([await self._lease(job) for job in forgotten])

    async def _own_jobs(self) -> AsyncIterator[JobFound]:
        after = (b"", 0)
        while page := await self._store.jobs_of_worker(self._conductor.lease.number, after, PAGE):
            for job in page:
                yield job
            after = (page[-1].aggregate, page[-1].step)

    async def _lease(self, job: JobFound) -> bool:
        origin = Origin(job.tenant, PLATFORM)
        try:
            if (other := await self._other(job.aggregate, origin)) is not None:
                return await other.lease(job)
            if job.worker == 0 and (await self._kernel.recall(job.aggregate, origin)).state.course is not None:
                return await self._conductor.launcher.launch(job.aggregate, job.step, job.tenant)
            if job.definition not in self._served:
                self._served[job.definition] = await self._serves(job.aggregate, job.step, origin)
            verb = self._served[job.definition]
            if verb is None:
                return False  # another worker may have it; if none does, the check of definitions raises an incident
            command = c.LeaseJob(job.step, self._conductor.lease.number, job.worker, verb.execution.redelivery)

            def make(aggregate: Aggregate) -> Prepared | Rejection:
                if job.worker == self._conductor.lease.number and job[:2] in self._conductor.running:
                    fact = "this process has begun it since"
                    return Rejection("wrong_state", "take up", "job", f"{id_text(job.aggregate)}:{job.step}", fact)
                return Prepared(command)

            answer = await self._kernel.ask(KIND, job.aggregate, origin, make)
        except (RejectedError, QuarantinedError):
            return False
        return answer.answer == "leased"

    async def _serves(self, id: Id, step: int, origin: Origin) -> Verb | None:
        """The verb of a job, when this process can run it under the same name and version."""
        current = (await self._kernel.recall(id, origin, has_step(step))).state.steps[step - 1]
        return self._conductor.serves(current.verb, current.version, current.definition)

    async def deliver(self) -> int:
        """Messages between aggregates. Returns how many were acted on; the others wait and hold nobody up."""
        done, after = 0, 0
        while page := await self._store.pending_messages(after, PAGE):
            for after, tenant, message_id, kind, aggregate in page:  # noqa: B007
                try:
                    if kind == ESCALATION:
                        done += await self._escalate(tenant, message_id, aggregate)
                    elif kind == CHILD_ENDED:
                        done += await self._child_ended(tenant, message_id, aggregate)
                    elif kind == ESCALATION_OVER:
                        done += await self._escalation_over(tenant, message_id, aggregate)
                    elif (deliver := self._deliveries.get(kind)) is not None:
                        done += await deliver(tenant, message_id, kind, aggregate)
                    elif kind == FACT_CHANGED:  # nothing of this platform waits for facts
                        await self._settle(tenant, message_id)
                except (QuarantinedError, RejectedError, EngineUnavailableError):
                    continue
                except OF_ALL:
                    raise
                except PerdureError as error:
                    self._tell_waiting(tenant, message_id, error)
        return done

    def _tell_waiting(self, tenant: str, message_id: str, error: PerdureError) -> None:
        """Said once for each notice: it is tried in every round."""
        if (tenant, message_id) not in self._told:
            if len(self._told) >= MAX_TOLD:
                self._told.clear()
            self._told.add((tenant, message_id))
            log.warning("notice '%s' of tenant '%s' waits and is tried again: %s", message_id, tenant, error)

    async def _escalate(self, tenant: str, message_id: str, aggregate: Id) -> bool:
        """Start the escalation's verb, once; where there is none, a person completes the escalation's token."""
        origin = Origin(tenant, PLATFORM)
        parent = await self._kernel.read(aggregate, origin)
        state: Runbook = parent.state
        route = await self._route(tenant, message_id, ESCALATION)
        assert isinstance(route, StepRoute)
        number = route.step
        step = state.steps[number - 1]
        token = next((each for each in step.tokens if each.escalates and each.status == WAITING), None)
        verb = self._conductor.serves(token.name) if token is not None else None
        if token is None or verb is None:
            if token is not None and await self._is_served(token.name):
                return False  # by another worker, which will see the message as well
            await self._settle(tenant, message_id)
            return True
        id = escalation_id(state.started_at, message_id, tenant)
        try:
            data = await self._store.payload(aggregate, step.input)
            args = _escalation_args(verb, parse(data) if data else {}, id_text(aggregate), step.verb)
            cargo = self._conductor.router.incoming(verb, args)
            await self._begin(verb, cargo, origin, id, message_id, token_key(id_text(aggregate), number, token))
        except (SchemaViolationError, PayloadTooLargeError, PayloadIntegrityError, RejectedError) as error:
            await self._stuck(aggregate, number, tenant, message_id, f"The escalation could not be started. {error}")
        return True

    async def _escalation_over(self, tenant: str, message_id: str, aggregate: Id) -> bool:
        """The step was ended in another way: the call its escalation began has nothing left to do."""
        origin = Origin(tenant, PLATFORM)
        route = await self._route(tenant, message_id, ESCALATION_OVER)
        assert isinstance(route, OverRoute)
        begun = await self._store.message(tenant, route.begun_by)
        if begun is not None and begun.status == PENDING:
            return False  # it is settled first, and then nothing is begun any more
        parent = await self._kernel.read(aggregate, origin)
        child = escalation_id(parent.state.started_at, route.begun_by, tenant)
        brought = Attachments(settles=(tenant, message_id))
        try:
            await self._kernel.ask(KIND, child, origin, Prepared(c.Cancel("what it was for has ended"), brought))
        except RejectedError:  # it has ended by itself, or a person had it
            await self._settle(tenant, message_id)
        return True

    async def _route(self, tenant: str, message_id: str, kind: str) -> Route | None:
        """The subject of a notice, as its row keeps it."""
        message = await self._store.message(tenant, message_id)
        return read_route(kind, message_id, message.body if message is not None else None)

    async def _is_served(self, name: str) -> bool:
        """Whether a live worker says that it can run a verb of that name."""
        wanted = same_verb_name(name)
        return any(same_verb_name(each) == wanted for each in await self._store.served_names())

    async def _begin(self, verb: Verb, cargo: Cargo, origin: Origin, id: Id, message_id: str, parent: str) -> None:
        settles = (origin.tenant, message_id)
        await self._conductor.begin(verb, cargo, origin, id, parent=parent, settles=settles, waits=False)
        await self._settle(origin.tenant, message_id)

    async def _stuck(self, aggregate: Id, step: int, tenant: str, message_id: str, text: str) -> None:
        """A person must see it; while they look at something else of that call, the message waits."""

        def prepare(current: Aggregate) -> Prepared | Rejection:
            if current.state.steps[step - 1].incident is not None:
                return Rejection("blocked", "escalate", "call", id_text(current.id), "it has an open incident")
            command = c.RaiseIncident(step, ESCALATION_STUCK, text)
            return Prepared(command, Attachments(settles=(tenant, message_id)))

        await self._kernel.ask(KIND, aggregate, Origin(tenant, PLATFORM), prepare)

    async def _child_ended(self, tenant: str, message_id: str, aggregate: Id) -> bool:
        """What a call was started for has ended: its parent's token ends with the same outcome."""
        origin = Origin(tenant, PLATFORM)
        child = await self._kernel.read(aggregate, origin)
        state: Runbook = child.state
        if (ended := self._parents.get(state.parent.partition(":")[0])) is not None:
            return await ended(tenant, message_id, child)
        tokens = await self._store.find_tokens(tenant, state.parent)
        waiting = next((token for token in tokens if token.status == WAITING), None)
        if waiting is None:
            await self._settle(tenant, message_id)
            return True
        asked = (await self._kernel.read(waiting.aggregate, origin)).state.steps[waiting.step - 1]
        verb = self._conductor.texts.find(asked.verb, asked.version, asked.definition)
        if verb is None:
            return False  # who has the verb can tell whether the result fits it
        brought = Attachments(settles=(tenant, message_id))
        try:
            result, failure = await self._outcome(verb, child, brought)
        except (SchemaViolationError, PayloadTooLargeError, PayloadIntegrityError) as error:
            text = f"The result of the escalation does not fit. {error}"
            await self._stuck(waiting.aggregate, waiting.step, tenant, message_id, text)
            return True
        command = c.Complete(waiting.step, waiting.token, result, failure, False, message_id)
        await self._kernel.ask(KIND, waiting.aggregate, origin, Prepared(command, brought))
        return True

    async def _outcome(self, verb: Verb, child: Aggregate, brought: Attachments) -> tuple[bytes | None, Failure | None]:
        """What a child's end means to its parent's verb; the data it needs is attached."""
        step = child.state.steps[0]
        if child.state.status != "completed" or step.result is None:
            cancelled = Failure("permanent_business", "escalation.cancelled", "The escalation was cancelled.")
            return None, step.error or cancelled
        data = await self._store.payload(child.id, step.result)
        if data is None:
            return None, Failure("permanent_business", "escalation.erased", "The escalation's data has been erased.")
        cargo = self._conductor.router.outgoing(verb, parse(data))
        brought.payloads.append((cargo.hash, cargo.data))
        brought.index.extend(index_rows(verb, cargo.value))
        return cargo.hash, None

    async def _settle(self, tenant: str, message_id: str) -> None:
        await self._store.commit(Unit(tenant, None, attachments=[Attachments(settles=(tenant, message_id))]))

    async def erase_old(self, keep_seconds: float, most: int = PAGE) -> int:
        """Retention: the data of calls that ended long ago is erased, their history stays."""
        before: Micros = self._sources.now() - int(keep_seconds * SECOND)
        erased = 0
        for kind in (KIND, *self._others):
            for id, tenant in await self._store.ended(before, most, kind):
                try:
                    erased += await self.erase(id, Origin(tenant, PLATFORM), "retention") == "erased"
                except (QuarantinedError, RejectedError):
                    continue  # a damaged one stays for a person to look at
        return erased

    async def erase(self, id: Id, origin: Origin, reason: str) -> str:
        if (other := await self._other(id, origin)) is not None:
            return await other.erase(id, origin.tenant, origin.principal, reason)
        prepared = Prepared(c.Erase(reason), Attachments(erases=True))
        answer = (await self._kernel.ask(KIND, id, origin, prepared)).answer
        await self._store.erase_around(origin.tenant, id, is_recent=origin.principal != PLATFORM)
        return answer

    async def publish_definitions(self, *, serves: bool = True) -> None:
        """Keep every loaded definition by its hash, and say which of them this process can run, if it `serves`."""
        known = set(await self._conductor.learn_texts())
        self._served.clear()
        served = []
        for verb in self._conductor.catalogue.every_version():
            hash = verb.definition_hash
            if hash not in known:
                body = msgspec.json.encode(verb.definition)
                await self._store.add_definition(hash, short(hash), verb.name, verb.version, body)
            if self._conductor.router.can_run(verb):
                served.append(short(hash))
        self._serving = served
        if serves:
            await self._store.serve(self._conductor.lease.number, served)

    async def check_definitions(self) -> int:
        """Calls that wait for a definition no live worker has become incidents. Returns how many.

        A definition whose text the store keeps and whose handler is here is served by this process from now on.
        """
        raised, unserved = 0, await self._store.unserved()
        if not unserved:
            return 0
        await self._learn(unserved)
        for definition, _, _ in unserved:
            if definition in self._serving:
                continue
            after = 0
            while page := await self._store.parked_by_definition(definition, after, PAGE):
                for id, step, tenant, _ in page:
                    raised += await self._raise_missing(id, step, tenant)
                after = page[-1][3]
            for id, step, tenant in await self._store.jobs_by_definition(definition, PAGE):
                raised += await self._raise_missing(id, step, tenant)
        return raised

    async def _learn(self, unserved: Iterable[tuple[int, str, int]]) -> None:
        """Say of definitions that nobody serves which of them this process can run after all."""
        await self._conductor.learn_texts()
        found = [
            definition
            for definition, name, version in unserved
            if (verb := self._conductor.texts.find_short(name, version, definition)) is not None
            and self._conductor.router.can_run(verb)
        ]
        if found:
            self._served.clear()
            self._serving = list(dict.fromkeys([*self._serving, *found]))
            await self._store.serve(self._conductor.lease.number, self._serving)

    async def _raise_missing(self, id: Id, step: int, tenant: str) -> bool:
        try:
            if (other := await self._other(id, Origin(tenant))) is not None:
                return await other.miss(id, step, tenant)
            aggregate = await self._kernel.read(id, Origin(tenant))
        except (RejectedError, QuarantinedError):
            return False
        current = aggregate.state.steps[step - 1]
        if current.incident is not None or self._conductor.serves(current.verb, current.version, current.definition):
            return False
        await self._conductor.raise_missing(id, step, tenant, current)
        return True

    async def heal_definitions(self) -> int:
        """Incidents about missing definitions that this worker serves are retried by themselves."""
        healed, after = 0, (0, b"")
        while page := await self._store.incidents_by_code(MISSING, PAGE, after):
            for id, step, tenant, _ in page:
                healed += await self._heal(id, step, Origin(tenant, PLATFORM))
            after = (page[-1][3], page[-1][0])
        return healed

    async def _heal(self, id: Id, step: int, origin: Origin) -> bool:
        def prepare(current: Aggregate) -> Prepared | Rejection:
            # Another incident may have taken its place, and that one is not ours to retry.
            incident = current.state.steps[step - 1].incident
            if incident is None or incident.code != MISSING:
                return Rejection("wrong_state", "heal", "call", id_text(current.id), "it misses nothing")
            return Prepared(c.RetryIncident(step, self._conductor.lease.number))

        try:
            if (other := await self._other(id, origin)) is not None:
                return await other.heal(id, step, origin.tenant)
            if await self._serves(id, step, origin) is None:
                return False
            await self._kernel.ask(KIND, id, origin, prepare)
        except (RejectedError, QuarantinedError):
            return False
        return True


def escalation_id(started_at: Micros, message_id: str, tenant: str) -> Id:
    """The id of the call an escalation begins: the same however often the message is acted on."""
    return derive_id(started_at, digest(f"{message_id}\0{tenant}".encode()))


def _escalation_args(verb: Verb, args: Mapping[str, Any], call: str, name: str) -> dict[str, Any]:
    """What the escalation's verb declares of: the call's own arguments, and which call it is about."""
    offered = {**args, "call_id": call, "verb": name, "reason": "timed_out"}
    return {field: offered[field] for field in verb.input.properties if field in offered}
