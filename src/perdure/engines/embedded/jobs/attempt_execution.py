"""Attempts: a sub-verb runs with the data it declares, and what it returns is merged onto the head in one commit.

| what goes wrong | what becomes of the job |
|---|---|
| the payload's bytes, hash or envelope do not agree, or it is missing | incident at once, naming what differs |
| the head it is to be merged onto is damaged | incident at once; the result is not kept |
| the data does not fit the sub-verb's schema | incident at once |
| the sub-verb is durable, or not one the verb lists | incident at once: a process composes sync verbs |
| two branches changed one path that has no merge rule | incident at once, naming both verbs |
| a field does not fit the schema of the durable verb | incident at once, naming the sub-verb |
| the handler fails | as its class and the pinned policy say |
| the time that its policy gives it is over | the attempt is cut off, and it fails as `transient_external` |
| the job was interrupted meanwhile | the result is recorded as discarded, nothing of it is kept |
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import msgspec

from perdure.agent_usage import Budget, Reservation, bounds, reservation_at
from perdure.bpmn.machine.commands import JobAsks, JobDone, JobFault, JobHolds, RaiseIncident, RecordJob, ReserveBudget
from perdure.bpmn.machine.deployed_process import WorkLimits
from perdure.bpmn.machine.jobs import due_by
from perdure.bpmn.machine.result_paths import iteration_of, place_of
from perdure.bpmn.machine.state import ROOT, Failure, Flags, Instance, Job, Node, Place
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.jobs.job_arguments import checked_args, taken
from perdure.engines.embedded.jobs.job_bindings import JobBinding, JobBindings
from perdure.engines.embedded.jobs.missing_handlers import PLATFORM, raise_missing
from perdure.errors import (
    DamagedPayloadError,
    FencedError,
    MergeConflictError,
    PayloadIntegrityError,
    PayloadTooLargeError,
    QuarantinedError,
    RejectedError,
    SchemaViolationError,
    StoreFullError,
)
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import Held, parse
from perdure.processes.contract_state import ContractState
from perdure.processes.payload_merge import Change, nested, seen_from
from perdure.processes.wait_schemas import declared
from perdure.runbooks.executor.call_executor import MAX_ENTITY_CONFLICTS
from perdure.sources import SECOND, id_text, iso, parse_id
from perdure.typed_reading import read_json
from perdure.verbs import Verb
from perdure.verbs.handlers import Call, LateCall, PersonAnswer
from perdure.verbs.task_section_reader import filled
from perdure.work.agents.budgets import UNSURE, held
from perdure.work.agents.invocation import DEFAULT, is_decided
from perdure.work.agents.questions import UNASKED, Question, answer_to, stored_question, task_of, unasked
from perdure.work.background_tasks import BackgroundTasks, JobName
from perdure.work.failure_classes import MAX_MESSAGE, Failed, classify, traceback_payload
from perdure.work.keyed_lock import KeyedLock
from perdure.work.process_lease import Lease
from perdure.work.store_retry import retry_until_stored
from perdure.work.verb_router import Produced, Router

Made = Produced | Failed

OUT_OF_TIME = "job.out_of_time"
"""The code of an attempt that was cut off by the policy of the contract profile."""
UNKNOWN = JobBinding(None)
NOTHING = Failed("transient_infrastructure", "handler.error", "it has not been run")


class Workshop(msgspec.Struct, frozen=True, eq=False):
    """What all attempts of a process need."""

    instances: Instances
    crew: BackgroundTasks
    lease: Lease
    router: Router
    works: JobBindings
    turns: KeyedLock


class Attempt(msgspec.Struct, eq=False):
    """A job this process holds, as of the commit that leased it, until what became of it is recorded."""

    shop: Workshop
    name: JobName
    aggregate: Aggregate
    node: Node
    job: Job
    origin: Origin
    key: str
    work: JobBinding = UNKNOWN
    made: Made = NOTHING
    step_key: str = ""
    """The key its handler sees, where the model says which."""
    headers: dict[str, str] = {}
    asked_with: dict[str, Any] = {}
    """The arguments of its agent."""

    # --- executing -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run the job and hand its result over. The job goes on until that is settled."""
        try:
            if not self.shop.lease.is_sure and not await self._is_held():
                return  # paused past the lease: another worker has the job, and the handler does not begin here
            work = self.shop.works.find(self.aggregate.state.definition, self.job) or await self._looked_up()
            self.work, verb = work, work.verb
            if verb is None:
                await self._insist_on_missing()
            else:
                self._hand_over(await self._attempt(work, verb))
        except Exception as error:
            await self._give_up(error)

    async def _is_held(self) -> bool:
        lease, sources = self.shop.lease, self.shop.instances.sources
        return await retry_until_stored(lease.is_held, sources) and self.job.worker == lease.number

    def _attempt(self, work: JobBinding, verb: Verb) -> Coroutine[Any, Any, Made]:
        """At once where the arguments can be taken as they are from a payload in memory, as they nearly always can."""
        shop, job, names = self.shop, self.job, work.names
        if names is not None and not job.message and (self.node.parent == ROOT or not self._place):
            head = shop.instances.payloads.find(self.aggregate.id, job.base or self.aggregate.state.head)
            args = taken(names, head.data) if head is not None else None
            if args is not None and (not names or verb.input.fits(args)):
                return shop.router.run(verb, LateCall(args, self.handed), work.flags, work.is_loose)
        return self._attempt_step_by_step(work, verb)

    async def _attempt_step_by_step(self, work: JobBinding, verb: Verb) -> Made:
        """The same for whatever comes: what is not in memory, does not fit, is refused, or an agent does."""
        if work.refusal is not None:
            return work.refusal
        router, is_ample = self.shop.router, work.is_ample
        try:
            data = self._seen()
            if data is None:
                data, is_ample = await self._gathered(), is_ample and not self.job.message
            if work.contract is not None and self.job.purpose == "work":
                failed = self._render_key(work.contract, data)
                if failed is not None:
                    return failed
                data, is_ample = work.contract.request(self.node.element, data), False
            args = checked_args(router, verb, declared(verb, data), is_ample=is_ample)
        except DamagedPayloadError:
            raise
        except (SchemaViolationError, PayloadTooLargeError, PayloadIntegrityError) as error:
            return classify(verb, error)
        run = partial(self._asked if work.is_agent else self._run, work, verb, args)
        limits = self._limits(work)
        return await (run() if limits is None else self._in_time(limits, run))

    async def _run(self, work: JobBinding, verb: Verb, args: dict[str, Any]) -> Made:
        return await self.shop.router.run(verb, self.handed(args), work.flags, work.is_loose)

    async def _asked(self, work: JobBinding, verb: Verb, args: dict[str, Any]) -> Made:
        """The same of an agent: it knows what was spent, what it may use and what people answered."""
        call, self.asked_with = self.handed(args), args
        call._answer = await self._answer()
        state = await self._state()
        reserved = None if is_decided(call) else await self._reserved(verb, state)
        if isinstance(reserved, Failed):
            return reserved
        return await self.shop.router.run(verb, call, work.flags, work.is_loose, state.spent, reserved)

    def _limits(self, work: JobBinding) -> WorkLimits | None:
        """How long it may take, where the policy of its element says so."""
        step = work.contract.steps.get(self.node.element) if work.contract is not None else None
        return step.limits if step is not None and self.job.purpose == "work" else None

    async def _in_time(self, limits: WorkLimits, run: Callable[[], Coroutine[Any, Any, Made]]) -> Made:
        """The attempt, cut off when its own time or that of all attempts is over. A thread is left to its end, and
        what it returns then is not looked at."""
        together = limits.schedule_to_close_seconds
        left = (due_by(self.node, together) - self.shop.instances.sources.now()) / SECOND
        seconds = limits.start_to_close_seconds
        if not self.job.before and left < seconds:
            seconds = left
        if seconds <= 0:
            return Failed("transient_external", OUT_OF_TIME, f"no attempt began within {together:g} s")
        try:
            async with asyncio.timeout(seconds):
                return await run()
        except TimeoutError:
            return Failed("transient_external", OUT_OF_TIME, f"the attempt was cut off after {seconds:.3g} s")

    def _render_key(self, contract: ContractState, state: dict[str, Any]) -> Failed | None:
        """The key by which the outside counts the step once, from the data it sees; why there is none."""
        step, id = contract.steps.get(self.node.element), id_text(self.aggregate.id)
        if step is None or step.key is None:
            return None
        element = self.job.began_as or self.node.element
        given = {
            "process_instance_id": id, "process_run_id": id, "step_id": element,
            "step_instance_id": f"{element}/{self.job.run}",
        }  # fmt: skip
        text = step.key.render(state, given)
        if isinstance(text, str):
            self.step_key, self.headers = text, step.headers
            return None
        words = f"The idempotency key of '{element}' has no text: {text.path or 'it is empty'}."
        return Failed("permanent_contract", text.failure, words)

    async def _looked_up(self) -> JobBinding:
        instances, aggregate = self.shop.instances, self.aggregate
        definition = instances.known_definition(aggregate)
        if definition is None:
            definition = await retry_until_stored(lambda: instances.loaded(aggregate), instances.sources)
        return self.shop.works.look_up(definition, self.job)

    async def _insist_on_missing(self) -> None:
        instances, aggregate = self.shop.instances, self.aggregate

        async def raise_it() -> None:
            definition = await instances.loaded(aggregate)
            await raise_missing(instances, aggregate.id, self.node, self.origin, definition)

        await retry_until_stored(raise_it, instances.sources)

    async def _answer(self) -> PersonAnswer | None:
        """What a person answered to the last question of the agent."""
        job, instances, id = self.job, self.shop.instances, self.aggregate.id
        if not job.answer:
            return None

        async def read() -> tuple[bytes | None, bytes | None]:
            return await instances.store.payload(id, job.question), await instances.store.payload(id, job.answer)

        asked, answered = await retry_until_stored(read, instances.sources)
        if asked is None or answered is None:
            return None
        question, told = read_json(asked, Question), parse(answered)
        if not question.is_proposal:
            return PersonAnswer(question.key, answer_to(question, told))
        return PersonAnswer(question.key, told, True, question.flags if told == question.proposal else {})

    async def _state(self) -> Instance:
        """The instance as it is now: what its agents have used so far, and what they may use."""
        instances, id = self.shop.instances, self.aggregate.id
        state: Instance = (await retry_until_stored(lambda: instances.read(id, self.origin), instances.sources)).state
        return state

    async def _reserved(self, verb: Verb, state: Instance) -> Reservation | Failed | None:
        """What the attempt may use, committed before its agent is asked; why it is held where nothing is left."""
        contract, instances, number = verb.execution.agent or DEFAULT, self.shop.instances, self.node.number
        if bounds(state.ledger, contract.budget) == Budget():
            return None
        command = ReserveBudget(
            node=number, attempt=self.job.attempt, job_worker=self.job.worker, budget=contract.budget,
            wanted=contract.attempt,
        )  # fmt: skip
        id, origin = self.aggregate.id, self.origin
        told = await retry_until_stored(lambda: instances.ask(id, origin, Prepared(command)), instances.sources)
        if told.answer != "reserved":
            return held(told.answer)
        found = told.aggregate.state if told.aggregate is not None else await self._state()
        return reservation_at(found.ledger, number)

    @property
    def _place(self) -> Place:
        return place_of(self.aggregate.state, self.node)

    def _seen(self) -> dict[str, Any] | None:
        """The data as the job sees it, where that is one payload in memory."""
        job, state = self.job, self.aggregate.state
        if job.message and job.purpose == "intake":
            return None
        head = self.shop.instances.payloads.find(self.aggregate.id, job.base or state.head)
        return None if head is None else seen_from(head.data, self._place)

    async def _gathered(self) -> dict[str, Any]:
        """The same from the store; an intake sees what arrived lie over it."""
        job, state = self.job, self.aggregate.state
        data = seen_from((await self._payload(job.base or state.head)).data, self._place)
        if job.purpose == "intake" and job.message:
            return {**data, **(await self._payload(job.message)).data}
        return data

    async def _payload(self, hash: bytes) -> Held:
        instances, id = self.shop.instances, self.aggregate.id
        return await retry_until_stored(lambda: instances.payloads.open(id, hash), instances.sources)

    def handed(self, args: dict[str, Any]) -> Call:
        """What its handler is given."""
        verb, origin, parent, key = self.work.verb, self.origin, self.aggregate.state.parent, self.key
        assert verb is not None
        call, step = id_text(self.aggregate.id), key
        if parent and parent.startswith("step:"):
            step = parent.removeprefix("step:")
            call = step.partition(":")[0]
        return Call(
            verb=verb.name, version=verb.version, args=args, call_id=call, step_id=step, tenant=origin.tenant,
            principal=origin.principal, trace={"traceparent": origin.trace} if origin.trace else None,
            idempotency_key=self.step_key or key, attempt=self.job.attempt,
            iteration=iteration_of(self.aggregate.state, self.node), params=verb.execution.params, headers=self.headers,
            owner=id_text(self.aggregate.id),
        )  # fmt: skip

    # --- recording -----------------------------------------------------------------------------------------------

    def _hand_over(self, made: Made) -> None:
        """Ask for the result to be recorded, and wait for it without a task: nearly always that is all."""
        shop, self.made = self.shop, made
        if self.job.worker != shop.lease.number:
            self._refuse_lease()
        shop.instances.put(self.aggregate.id, self.origin, self.recording, self.told)
        shop.crew.hand_over(self.name)

    def told(self, answer: Answer | BaseException) -> None:
        """What the instance answered to the record."""
        if (type(answer) is Answer and answer.conflict is None) or isinstance(answer, asyncio.CancelledError):
            self.shop.crew.release(self.name)
        else:
            self.shop.crew.go_on(self.name, lambda: self._go_on(answer))

    async def _go_on(self, answer: Answer | BaseException) -> None:
        """The record met something unusual: what was asked is asked again, or the job is done again."""
        try:
            await self._record_in_turn(await self._record(answer))
        except Exception as error:
            await self._give_up(error)

    async def _record_in_turn(self, answer: Answer) -> None:
        work, verb, turns = self.work, self.work.verb, self.shop.turns
        assert verb is not None
        for _ in range(MAX_ENTITY_CONFLICTS - 1):
            if answer.conflict is None:
                return
            async with turns.at(f"{self.origin.tenant}/{answer.conflict.key}"):
                self.made = await self._attempt(work, verb)
                answer = await self._record()
        if answer.conflict is not None:
            self.made = Failed("transient_infrastructure", "entity.conflict", "its records kept changing under it")
            await self._record()

    async def _record(self, told: Answer | BaseException | None = None) -> Answer:
        instances = self.shop.instances

        def record() -> Awaitable[Answer]:
            nonlocal told
            first, told = told, None
            if first is None and self.job.worker != self.shop.lease.number:
                self._refuse_lease()
            return instances.ask(self.aggregate.id, self.origin, self.recording, first)

        # The handler has run: forgetting that because the store is out of reach would leave the job leased for ever.
        return await retry_until_stored(record, instances.sources, self._stall)

    def _stall(self, error: StoreFullError) -> None:
        """Tell who waits for the call that this instance carries."""
        kind, _, call = self.aggregate.state.parent.partition(":")
        if kind == "step":
            self.shop.instances.conductor.stall(parse_id(call.partition(":")[0]), error)

    def _refuse_lease(self) -> NoReturn:
        fact = "this process has another one now"
        raise FencedError("record a job under", "lease", str(self.job.worker), fact)

    def recording(self, aggregate: Aggregate) -> Prepared:
        """The command that records what was made, for the instance as it is then; asked for as often as it takes."""
        made, job, number, instances = self.made, self.job, self.node.number, self.shop.instances
        state: Instance = aggregate.state
        node = state.nodes.get(number)
        outcome: JobDone | JobFault | JobAsks | JobHolds
        if type(made) is Produced and (made.question is not None or made.doubt):
            outcome, brought = self._asking(made)
        elif type(made) is Failed and made.is_hold:
            outcome, brought = JobHolds(made.code, made.message, made.after_seconds), Attachments()
        elif type(made) is not Produced:
            kept = traceback_payload(made) if type(made) is Failed else []
            outcome, brought = JobFault(*_fault(made), kept[0][0] if kept else b""), Attachments(kept)
        elif node is None or node.job is None or node.job.attempt != job.attempt:
            outcome, brought = JobDone(state.head), Attachments()  # interrupted meanwhile: the machine discards it
        else:
            try:
                head = instances.payloads.seal_change(
                    aggregate.id, state.head, self._change(aggregate, node, made.cargo.value), self.work.budget
                )
                flags = self._with_mirrors(aggregate, head[0], made.flags)
                outcome, brought = JobDone(head[0], flags), Attachments([head])
                if made.entities:
                    brought.entities.extend(made.entities)
            except (MergeConflictError, PayloadTooLargeError, SchemaViolationError) as error:
                failure = Failure("permanent_contract", error.code, str(error)[:MAX_MESSAGE])
                outcome, brought = JobFault(failure), Attachments()
        used = made.used
        command = RecordJob(
            node=number, attempt=job.attempt, job_worker=job.worker, outcome=outcome,
            worker=instances.worker_of(aggregate), used=used,
            budget=self.work.agent_budget if used is not None or type(outcome) is JobHolds else None,
            wanted=self.work.agent_attempt,
        )  # fmt: skip
        return Prepared(command, brought)

    def _asking(self, made: Produced) -> tuple[JobAsks | JobFault, Attachments]:
        """What an agent asks a person, or proposes to one; a failure where nothing says whom."""
        verb, router = self.work.verb, self.shop.router
        assert verb is not None
        by, task = router.proposer(verb), task_of(verb.execution.agent)
        unsure = _fault(made)[0] if made.doubt else None
        if task is None:
            fault = unsure or Failure("permanent_contract", UNASKED, unasked(verb.name))
            return JobFault(fault), Attachments()
        task = filled(task, self.asked_with)
        question = made.question
        if question is None:
            form = verb.definition.output_schema or {"type": "object"}
            key, proposal = f"proposal/{self.job.attempt}", made.cargo.value
            question = Question(key, by, "", form, proposal=proposal, flags=dict(made.flags), why=made.doubt)
        kept = stored_question(question)
        asks = JobAsks(
            kept[0], by, task.assignee, ", ".join(task.groups), ", ".join(task.users), task.due, task.four_eyes,
            task.ladder, task.agents is True, unsure,
        )  # fmt: skip
        return asks, Attachments([kept])

    def _with_mirrors(self, aggregate: Aggregate, head: bytes, flags: Flags) -> Flags:
        """The flags with those that follow the data, in the contract profile."""
        if self.work.contract is None:
            return flags
        data = self.shop.instances.payloads.held(aggregate.id, head).data
        return {**flags, **self.work.contract.flags(data, aggregate.state.flags)}

    def _change(self, aggregate: Aggregate, node: Node, patch: Any) -> Change:
        job, verb, instances = self.job, self.work.name, self.shop.instances
        state: Instance = aggregate.state
        if not isinstance(patch, dict):
            fact = f"it returned a {type(patch).__name__}, and a process merges objects"
            raise SchemaViolationError("merge the result of", "verb", verb, fact, violations=[])
        if self.work.contract is not None:
            seen = instances.payloads.held(aggregate.id, job.base or state.head).data
            patch = self.work.contract.change(node.element, seen, patch)
        place = () if node.parent == ROOT else place_of(state, node)
        if self.work.carrier is not None:
            self.work.carrier.check_carried(nested(patch, place) if place else patch, verb)
        base = job.base
        before = instances.payloads.held(self.aggregate.id, base) if base and base != state.head else None
        at = iso(instances.sources.now()) or ""
        return Change(patch, verb, self.key, at, job.by or state.principal, place, before, self.work.merge)

    # --- giving up -----------------------------------------------------------------------------------------------

    async def _give_up(self, error: Exception) -> None:
        """See to what a job ended with, unless nothing is left to do for this process."""
        is_damaged = isinstance(error, DamagedPayloadError)
        if (isinstance(error, FencedError | QuarantinedError) and not is_damaged) or is_gone(error):
            return  # another worker has taken over, or the instance is set aside: recorded where it is found
        with suppress(FencedError, QuarantinedError):
            await self._raise_unrecorded(error)

    async def _raise_unrecorded(self, error: Exception) -> None:
        """What cannot be done or recorded must not leave the job leased to a process that has given up on it."""
        job, instances, id = self.job, self.shop.instances, self.aggregate.id
        text = (
            f"Attempt {job.attempt} of '{job.type}' could not begin, or what it led to could not be recorded "
            f"({type(error).__name__}: {error}). Mend the cause, then `perdure incidents retry`."
        )
        code = error.code if isinstance(error, DamagedPayloadError) else "attempt.unrecorded"
        command = RaiseIncident(
            node=self.node.number, code=code, text=text[:MAX_MESSAGE], attempt=job.attempt, job_worker=job.worker
        )  # fmt: skip
        origin = Origin(self.aggregate.tenant, PLATFORM)
        await retry_until_stored(lambda: instances.ask(id, origin, Prepared(command)), instances.sources)


def is_gone(error: Exception) -> bool:
    """Whether the instance itself is not there: the one rejection that leaves nothing to do for a job of it."""
    return isinstance(error, RejectedError) and (error.rejection.code, error.rejection.thing) == (
        "not_found",
        "instance",
    )


def _fault(made: Made) -> tuple[Failure, float | None]:
    """Why it failed. What an agent is not sure of is a business error of its job: the model says who is asked then."""
    if isinstance(made, Failed):
        return Failure(made.kind, made.code, made.message), made.after_seconds
    text = f"What was said does not count by itself: {made.doubt}. Model a boundary error event for '{UNSURE}'."
    return Failure("permanent_business", UNSURE, text), None
