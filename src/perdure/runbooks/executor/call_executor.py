"""The call executor: drives runbooks through the kernel and runs steps that become due for a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from perdure.agent_usage import Budget, Reservation, Used, after, bounds, reservation_at
from perdure.business_calendar import CalendarError
from perdure.durations import parse_business_days
from perdure.errors import (
    DamagedPayloadError,
    FencedError,
    QuarantinedError,
    RejectedError,
    Rejection,
    SchemaViolationError,
    StoreFullError,
)
from perdure.human_tasks import TaskContract, by_calendar
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Kernel, Prepared
from perdure.kernel.ports import Attachments, IndexRow
from perdure.payload import Cargo, digest, digest_text, parse
from perdure.runbooks.executor.agent_policy import AgentPolicy, carried, propose
from perdure.runbooks.executor.agent_questions import answer_at, ask_person
from perdure.runbooks.executor.pinned_verbs import PinnedVerbs
from perdure.runbooks.executor.plan_cache import PlanCache
from perdure.runbooks.executor.plan_decisions import Decisions
from perdure.runbooks.executor.plan_executor import PlanExecutor
from perdure.runbooks.executor.step_launcher import Launcher
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import SETTLED as SETTLED
from perdure.runbooks.machine.state import WAITING, Failure, Pin, Runbook, Step, step_id
from perdure.runbooks.ports import RunbookStore
from perdure.sources import Id, Micros, Sources, id_text
from perdure.verbs import Catalogue, Verb
from perdure.verbs.handlers import Call, Decide, LateCall, ResumptionContext
from perdure.verbs.task_section_reader import filled
from perdure.work.agents.budgets import held
from perdure.work.agents.invocation import DEFAULT, is_decided
from perdure.work.background_tasks import BackgroundTasks, JobName, Work
from perdure.work.failure_classes import MAX_MESSAGE, Failed, traceback_payload
from perdure.work.keyed_lock import NO_TURN, KeyedLock
from perdure.work.process_lease import Lease
from perdure.work.store_retry import retry_until_stored
from perdure.work.verb_router import Bound, Produced, Router

KIND = RunbookMachine.kind
MAX_ENTITY_CONFLICTS = 20
MAX_SERVED = 10_000
BRING_BACK = (
    "Bring its definition and handler back, then `perdure incidents retry`; or `perdure incidents resolve`."
)  # fmt: skip

Claim = Callable[[Aggregate, Sequence[int]], Awaitable[None]]
Carry = Callable[[Verb, Origin], Awaitable[Pin]]
"""Which version of its process carries a durable verb now; a rejection when there is none."""


CompleteErasure = Callable[[Id, Origin], Awaitable[bool]]
"""Erase what an erased aggregate began, again; false while something of it is still ending."""


async def _nothing_begun(id: Id, origin: Origin) -> bool:
    return True


class CallExecutor:
    """Calls verbs, executes leased jobs, and lets others wait for what becomes of a call."""

    def __init__(
        self, kernel: Kernel, store: RunbookStore, catalogue: Catalogue, router: Router, lease: Lease, sources: Sources
    ) -> None:
        self.kernel = kernel
        self.store = store
        self.catalogue = catalogue
        self.router = router
        self.lease = lease
        self._sources = sources
        self.crew = BackgroundTasks()
        self._watchers: dict[bytes, list[asyncio.Future[Aggregate]]] = {}
        self._executing: dict[bytes, list[asyncio.Future[None]]] = {}
        self._turns = KeyedLock()
        self._claims: list[Claim] = []
        self._served: dict[tuple[str, int | None, bytes], Verb | None] = {}
        self.texts = PinnedVerbs(catalogue)
        self._carry: Carry | None = None
        self.documents = PlanCache(store)
        self.launcher = Launcher(self, self.documents, sources)
        self.decisions = Decisions(catalogue, self.documents, self.texts)
        self.plans = PlanExecutor(self)
        self.agent_policy = AgentPolicy(catalogue, self.documents, self.decisions)
        self.complete_erasure: CompleteErasure = _nothing_begun
        kernel.listen(self._on_commit, KIND)
        kernel.hear((e.AttemptStarted,), self._on_started)

    # --- calling -------------------------------------------------------------------------------------------------

    async def call(
        self,
        verb: Verb,
        args: Mapping[str, Any],
        origin: Origin,
        *,
        idempotency_key: str = "",
        waits: bool = True,
    ) -> Aggregate:
        """Ask for a verb; returns once the asking, and what it led to at once, is durable.

        Unless it `waits`, it returns before a handler that it began has ended.
        """
        cargo, bound = self.router.admit(verb, args)
        if idempotency_key:
            check_key("call a verb under", "idempotency key", idempotency_key)
            replay = await self._replay(verb, cargo, origin, idempotency_key)
            if replay is not None:
                return replay
        if not bound.can_run:
            raise RejectedError(_without_handler(verb))
        id = keyed_id(origin.tenant, idempotency_key) if idempotency_key else self._sources.new_id()
        return await self.begin(verb, cargo, origin, id, bound=bound, idempotency_key=idempotency_key, waits=waits)

    async def begin(
        self,
        verb: Verb,
        cargo: Cargo,
        origin: Origin,
        id: Id,
        *,
        bound: Bound | None = None,
        idempotency_key: str = "",
        parent: str = "",
        settles: tuple[str, str] | None = None,
        waits: bool = True,
    ) -> Aggregate:
        """Start a call under a given id; a second start under the same id is the first one again.

        Unless it `waits`, it returns before a handler that it began has ended.
        """
        contested = ""
        if bound is None:
            bound = self.router.bound(verb)
        if verb.is_durable:
            await self._refuse_taken(verb, self.park(verb, cargo.value, id).key, origin, id)
        for _ in range(MAX_ENTITY_CONFLICTS):
            async with self._turns.at(contested) if contested else NO_TURN:
                command, brought = await self._opening(verb, bound, cargo, origin, id, waits)
                if parent or idempotency_key:
                    command = msgspec.structs.replace(command, parent=parent, idempotency_key=idempotency_key)
                if idempotency_key:
                    brought.idempotency = (idempotency_key, self._request(verb, cargo))
                brought.settles = settles
                answer = await self.kernel.start(KIND, id, origin, Prepared(command, brought))
            conflict = answer.conflict
            if conflict is None:
                assert answer.aggregate is not None
                return await self.executed(answer.aggregate) if waits else answer.aggregate
            match conflict.what:
                case "idempotency" | "version" | "inbox":
                    if idempotency_key and (replay := await self._replay(verb, cargo, origin, idempotency_key)):
                        return replay
                    return await self.kernel.read(id, origin)
                case "entity":
                    # Someone changed the record first: read it again and decide again, in turn.
                    contested = f"{origin.tenant}/{conflict.key}"
                case "key":
                    raise RejectedError(self.taken(verb, conflict.key, conflict.holder))
        raise RejectedError(
            Rejection("blocked", "call", "verb", verb.name, "its records kept changing under it", "Try again.")
        )

    async def _opening(
        self, verb: Verb, bound: Bound, cargo: Cargo, origin: Origin, id: Id, waits: bool
    ) -> tuple[c.StartCall, Attachments]:
        brought = Attachments(payloads=[(cargo.hash, cargo.data)], index=index_rows(verb, cargo.value))
        command = c.StartCall(verb.name, verb.version, verb.definition_hash, cargo.hash, worker=self.lease.number)
        carrier = await self.carrier(verb, origin) if verb.execution.process else None
        if not bound.has_step:
            return msgspec.structs.replace(command, outcome=self.park(verb, cargo.value, id, carrier)), brought
        is_lasting = verb.execution.effects == "external" or not waits or bound.is_agent
        if is_lasting and not bound.is_built_in:
            return command, brought
        handed = LateCall(cargo.value, lambda args: self._handed(verb, args, origin, id, 1, 1))
        made = await self.router.run(verb, handed)
        outcome = self._outcome(verb, made, cargo.value, id, brought, carrier)
        return msgspec.structs.replace(command, outcome=outcome, used=made.used), brought

    def _outcome(
        self, verb: Verb, made: Produced | Failed, args: Any, id: Id, brought: Attachments, carrier: Pin | None,
        step: int = 1,
    ) -> c.AttemptOutcome:  # fmt: skip
        if isinstance(made, Failed):
            if made.is_hold:
                return c.Hold(made.code, made.message, made.after_seconds)
            failure, trace = Failure(made.kind, made.code, made.message), traceback_payload(made)
            brought.payloads.extend(trace)
            return c.Fail(failure, verb.execution.retry, made.after_seconds, trace[0][0] if trace else b"")
        if made.doubt:
            return propose(verb, made, self.router.proposer(verb), brought)
        if made.question is not None:
            return ask_person(verb, made, args, self.router.proposer(verb), brought)
        brought.entities.extend(made.entities)
        if made.parks:
            return self.park(verb, args, id, carrier, step)
        brought.payloads.append((made.cargo.hash, made.cargo.data))
        brought.index.extend(index_rows(verb, made.cargo.value))
        return c.Done(made.cargo.hash, made.flags)

    def park(self, verb: Verb, args: Any, id: Id, carrier: Pin | None = None, step: int = 1) -> c.Park:
        execution = verb.execution
        key = ""
        if execution.correlation_key != "$step_id":
            letters = id_text(id)
            key = verb.correlation_key({**args, "step_id": step_id(letters, step), "call_id": letters})
        is_shared = execution.is_shared and bool(key)
        task = filled(execution.task, args) if execution.task is not None and carrier is None else None
        due, task = self._counted(verb, task)
        escalation = execution.escalation or ""
        return c.Park(verb.name, key, execution.timeout_seconds, escalation, carrier, is_shared, task, due)

    def _counted(self, verb: Verb, task: TaskContract | None) -> tuple[int, TaskContract | None]:
        """When the wait of a verb ends and the task it is, business days counted from now."""
        calendars, now = self.router.calendars, self.now()
        asked = parse_business_days(verb.execution.timeout_text)
        try:
            due = calendars.due(asked, now) if asked is not None else 0
            return due, by_calendar(task, calendars.due, now) if task is not None else None
        except CalendarError as error:
            violations = [{"path": "$", "reason": str(error)}]
            told = ("wait for", "verb", verb.name, error.fact, error.hint)
            raise SchemaViolationError(*told, violations=violations) from error

    @staticmethod
    def _handed(
        verb: Verb, args: Any, origin: Origin, id: Id, step: int, attempt: int,
        context: ResumptionContext | None = None,
    ) -> Call:  # fmt: skip
        letters = id_text(id)
        own = step_id(letters, step)
        return Call(
            verb=verb.name, version=verb.version, args=args, call_id=letters, step_id=own, tenant=origin.tenant,
            principal=origin.principal, trace={"traceparent": origin.trace} if origin.trace else None,
            idempotency_key=own, attempt=attempt, context=context, params=verb.execution.params,
            correlation_key=_awaited_key(verb, args, letters, own) if verb.is_durable else "", key=origin.key,
        )  # fmt: skip

    # --- what launching needs ------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The lease this process works under; 0 when it only reads."""
        return self.lease.number

    def now(self) -> Micros:
        return self._sources.now()

    def has_step(self, verb: Verb) -> bool:
        return self.router.has_step(verb)

    def incoming(self, verb: Verb, args: dict[str, Any]) -> Cargo:
        return self.router.incoming(verb, args)

    def index_rows(self, verb: Verb, value: Any) -> list[IndexRow]:
        return index_rows(verb, value)

    @staticmethod
    def index(verb: Verb, values: list[Any]) -> list[IndexRow]:
        """The index rows that a call's data stands for."""
        return [row for value in values for row in index_rows(verb, value)]

    def serves(self, name: str, version: int | None = None, definition: bytes = b"") -> Verb | None:
        """The verb with the text that work is pinned to, when this process has it and what it needs to run."""
        known: Any = self._served.get((name, version, definition), self)
        if known is self:
            verb = self.texts.find(name, version, definition)
            known = verb if verb is not None and self.router.can_run(verb) else None
            if len(self._served) >= MAX_SERVED:
                self._served.clear()
            self._served[(name, version, definition)] = known
        found: Verb | None = known
        return found

    async def learn_texts(self) -> list[bytes]:
        """Read texts that the store keeps beside those loaded here; the hashes of all that it keeps."""
        texts = await self.store.definition_texts()
        wanted = self.texts.wanted(texts)
        for hash in wanted:
            body = await self.store.definition_body(hash)
            if body is not None:
                self.texts.learn(hash, body)
        if wanted:
            self._served.clear()
        return [hash for hash, _, _ in texts]

    def lend(self, verb: str, function: Any) -> None:
        """Let a function run a verb in place of its handler; None gives it back."""
        self.router.lend(verb, function)
        self._served.clear()

    def _request(self, verb: Verb, cargo: Cargo) -> bytes:
        return digest(f"{verb.name}\0{verb.version}\0".encode() + cargo.hash)

    async def _replay(self, verb: Verb, cargo: Cargo, origin: Origin, key: str) -> Aggregate | None:
        known = await self.store.idempotent_start(origin.tenant, key)
        if known is None:
            return None
        id, request = known
        if request != self._request(verb, cargo):
            raise RejectedError(Rejection(
                "already_exists", "call", "verb", verb.name,
                f"the idempotency key '{key}' was used for something else (call {id_text(id)})",
                "Use a new key for a new request.",
            ))  # fmt: skip
        return await self.kernel.read(id, origin)

    async def _refuse_taken(self, verb: Verb, key: str, origin: Origin, id: Id) -> None:
        """A key that another call waits under is refused before a handler has told anyone outside."""
        may_clash = key and self.router.has_step(verb) and not verb.execution.is_shared
        if may_clash and (holder := await self.holder(verb, key, origin, id)) is not None:
            raise RejectedError(self.taken(verb, key, holder))

    async def holder(self, verb: Verb, key: str, origin: Origin, id: Id) -> bytes | None:
        """Another call of the verb that waits under a key."""
        for found in await self.store.find_tokens(origin.tenant, key):
            if found.status == WAITING and found.name == verb.name and found.aggregate != id:
                return found.aggregate
        return None

    def taken(self, verb: Verb, key: str, holder: bytes | None) -> Rejection:
        whose = id_text(holder) if holder else "another call"
        return Rejection(
            "already_exists", "park verb", verb.name, key, f"call {whose} already waits under that key",
            "Complete or cancel that one first, or use another correlation key.",
        )  # fmt: skip

    def carry(self, carry: Carry) -> None:
        """Let processes carry the durable verbs that name one."""
        self._carry = carry

    async def carrier(self, verb: Verb, origin: Origin) -> Pin | None:
        return await self._carry(verb, origin) if self._carry is not None and verb.execution.process else None

    def claim(self, claim: Claim) -> None:
        """Be told of every call that parks after its handler ran: its answer may have come before."""
        self._claims.append(claim)

    # --- executing -----------------------------------------------------------------------------------------------

    def _on_started(self, aggregate: Aggregate, entry: e.AttemptStarted) -> None:
        if entry.worker == self.lease.number and _is_under_way(aggregate.state.steps[entry.step - 1], entry):
            self._spawn(aggregate, entry.step, entry.attempt, entry.worker)

    def _on_commit(self, aggregate: Aggregate, entries: tuple[Any, ...]) -> None:
        watchers = self._watchers.get(aggregate.id)
        if watchers and aggregate.state.status in SETTLED:
            del self._watchers[aggregate.id]
            for watcher in watchers:
                if not watcher.done():
                    watcher.set_result(aggregate)

    def _spawn(self, aggregate: Aggregate, step: int, attempt: int, worker: int) -> None:
        self.submit((aggregate.id, step, attempt, worker), lambda: self._execute(aggregate, step, attempt, worker))

    def submit(self, name: JobName, work: Work) -> None:
        """Run something in the background, once under its name: it counts as a job, whatever kind of work it is."""
        self.crew.submit(name, work)

    async def executed(self, aggregate: Aggregate) -> Aggregate:
        """Wait for the attempt this process began, so that a caller sees what it led to."""
        for step, each in enumerate(aggregate.state.steps, 1):
            frame = each.frame
            task = self.crew.find((aggregate.id, step, frame.attempt, frame.worker)) if frame is not None else None
            if task is not None:
                await self._ended(aggregate.id, task)
                return await self.kernel.read(aggregate.id, Origin(aggregate.tenant))
        return aggregate

    async def _ended(self, id: Id, task: asyncio.Future[Any]) -> None:
        """Until an attempt has ended; it goes on when who waits is told that its result cannot be recorded for now."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def ended(_: object) -> None:
            if not waiter.done():
                waiter.set_result(None)

        task.add_done_callback(ended)
        waiters = self._executing.setdefault(id, [])
        waiters.append(waiter)
        try:
            await waiter
        finally:
            task.remove_done_callback(ended)
            waiters.remove(waiter)
            if not waiters:
                self._executing.pop(id, None)
        if task.cancelled():
            raise asyncio.CancelledError
        if (error := task.exception()) is not None:
            raise error

    def stall(self, id: Id, error: StoreFullError) -> None:
        """Tell who waits for a call that its result is there and the disk has no room for it."""
        letters = id_text(id)
        told = StoreFullError(
            "record what became of", "call", letters, error.fact,
            f"The handler has run, and its result is recorded once there is room. Then: `perdure status {letters}`.",
        )  # fmt: skip
        for waiter in (*self._executing.get(id, ()), *self._watchers.pop(id, ())):
            if not waiter.done():
                waiter.set_exception(told)

    async def _execute(self, aggregate: Aggregate, step: int, attempt: int, worker: int) -> None:
        state: Runbook = aggregate.state
        current = state.steps[step - 1]
        origin = Origin(aggregate.tenant, state.principal, state.trace, behind=state.behind)
        verb = self.serves(current.verb, current.version, current.definition)
        try:
            if not self.lease.is_sure and not await self._holds(worker):
                return  # paused past the lease: another worker has the step, and the handler does not begin here
            if verb is None:
                await retry_until_stored(
                    lambda: self.raise_missing(aggregate.id, step, aggregate.tenant, current), self._sources
                )
                return
            try:
                await self._attempt(verb, aggregate.id, origin, current, step, attempt, worker)
            except DamagedPayloadError as error:
                await self._raise_damaged(aggregate, step, attempt, worker, error)
            except (FencedError, QuarantinedError, RejectedError):
                raise
            except Exception as error:
                await self._raise_unrecorded(aggregate, step, attempt, worker, error)
        except (FencedError, QuarantinedError, RejectedError):
            return  # another worker has taken over, or the call is set aside: both are recorded where they are found

    async def _holds(self, worker: int) -> bool:
        return await retry_until_stored(self.lease.is_held, self._sources) and worker == self.lease.number

    async def _raise_unrecorded(
        self, aggregate: Aggregate, step: int, attempt: int, worker: int, error: Exception
    ) -> None:
        """What cannot be recorded must not leave the job leased to a process that has given up on it."""
        text = (
            f"Attempt {attempt} ran and what it led to could not be recorded ({type(error).__name__}: {error}). "
            "Mend the handler, then `perdure incidents retry`; or `perdure incidents resolve`."
        )
        await self._stop(aggregate, step, attempt, worker, "attempt.unrecorded", text)

    async def _raise_damaged(
        self, aggregate: Aggregate, step: int, attempt: int, worker: int, error: DamagedPayloadError
    ) -> None:
        """Damaged arguments stop the call for a person, and name what differs."""
        text = f"Attempt {attempt} could not begin. {error} Then `perdure incidents retry`."
        await self._stop(aggregate, step, attempt, worker, error.code, text)

    async def _stop(self, aggregate: Aggregate, step: int, attempt: int, worker: int, code: str, text: str) -> None:
        def prepare(current: Aggregate) -> Prepared | Rejection:
            frame = current.state.steps[step - 1].frame
            if frame is None or (frame.attempt, frame.worker) != (attempt, worker):
                return Rejection("wrong_state", "stop", "call", id_text(current.id), "it goes on elsewhere")
            return Prepared(c.RaiseIncident(step, code, text[:MAX_MESSAGE]))

        origin = Origin(aggregate.tenant, "perdure")
        await retry_until_stored(lambda: self.kernel.ask(KIND, aggregate.id, origin, prepare), self._sources)

    async def _attempt(
        self, verb: Verb, id: Id, origin: Origin, current: Step, step: int, attempt: int, worker: int
    ) -> None:
        args = self.documents.input(current.input) if current.links is not None else None
        if args is None:
            data = await retry_until_stored(lambda: self.store.payload(id, current.input), self._sources)
            args = parse(data) if data is not None else {}
        context: ResumptionContext | None = None
        if verb.execution.decision and current.links is not None:
            context = await retry_until_stored(lambda: self._context(id, origin, step), self._sources)
        answer = await retry_until_stored(lambda: answer_at(self.store, id, current), self._sources)
        contested, is_planned = "", current.links is not None
        used: Used | None = None
        for _ in range(MAX_ENTITY_CONFLICTS):
            async with self._turns.at(contested) if contested else NO_TURN:
                handed = self._handed(verb, args, origin, id, step, attempt, context)
                handed._answer = answer
                made = carried(await self._run(verb, handed, id, origin, used, (step, attempt, worker)), used)
                used = made.used
                told = await self._record(verb, made, args, id, origin, step, attempt, worker, is_planned)
            if told.conflict is None:
                await self.claim_early(told)
                return
            contested = f"{origin.tenant}/{told.conflict.key}"
            if told.conflict.what == "key":
                text = self.taken(verb, told.conflict.key, told.conflict.holder).sentence()
                taken = Failed("permanent_contract", "correlation.taken", text)
                await self._record(verb, taken, args, id, origin, step, attempt, worker, is_planned)
                return
        crowded = Failed("transient_infrastructure", "entity.conflict", "its records kept changing under it")
        await self._record(verb, crowded, args, id, origin, step, attempt, worker, is_planned)

    async def _run(
        self, verb: Verb, handed: Call, id: Id, origin: Origin, used: Used | None, place: tuple[int, int, int]
    ) -> Produced | Failed:
        """One run of the handler; an agent is told what it may use, which is reserved, and what it says is vetted."""
        if not self.router.is_agent(verb):
            return await self.router.run(verb, handed)
        before = await retry_until_stored(lambda: self.kernel.read(id, origin), self._sources)
        spent = before.state.spent if used is None else after(before.state.spent, used.uses, used.duration)
        reserved = await self._reserved(verb, handed, before, origin, place)
        if isinstance(reserved, Failed):
            return reserved
        made = await self.router.run(verb, handed, spent=spent, reserved=reserved)
        return await retry_until_stored(lambda: self._vetted(verb, made, id, origin), self._sources)

    async def _reserved(
        self, verb: Verb, handed: Call, before: Aggregate, origin: Origin, place: tuple[int, int, int]
    ) -> Reservation | Failed | None:
        """What the attempt may use, committed before its agent is asked; why it is held where nothing is left."""
        contract = verb.execution.agent or DEFAULT
        if bounds(before.state.ledger, contract.budget) == Budget() or is_decided(handed):
            return None
        command = c.ReserveBudget(*place, contract.budget, contract.attempt)
        id = before.id
        told = await retry_until_stored(lambda: self.kernel.ask(KIND, id, origin, Prepared(command)), self._sources)
        if told.answer != "reserved":
            return held(told.answer)
        aggregate = told.aggregate or await self.kernel.read(id, origin)
        return reservation_at(aggregate.state.ledger, place[0])

    async def _vetted(self, verb: Verb, made: Produced | Failed, id: Id, origin: Origin) -> Produced | Failed:
        return await self.agent_policy.vetted(verb, made, await self.kernel.read(id, origin))

    async def claim_early(self, answer: Answer) -> None:
        """What a step waits for may have come before it began to wait."""
        asking = [entry.step for entry in answer.entries if type(entry) is e.QuestionAsked]
        steps = [entry.step for entry in answer.entries if type(entry) is e.StepParked and entry.step not in asking]
        if answer.aggregate is not None and steps:
            for claim in self._claims:
                await claim(answer.aggregate, steps)

    async def _context(self, id: Id, origin: Origin, step: int) -> ResumptionContext:
        return await self.decisions.context(await self.kernel.read(id, origin), step)

    async def _record(
        self, verb: Verb, made: Produced | Failed, args: Any, id: Id, origin: Origin, step: int, attempt: int,
        worker: int, is_planned: bool,
    ) -> Answer:  # fmt: skip
        brought = Attachments()
        outcome = self._outcome(verb, made, args, id, brought, await self.carrier(verb, origin), step)
        contract = verb.execution.agent
        is_held = isinstance(made, Failed) and made.is_hold
        budget = contract.budget if contract is not None and (made.used is not None or is_held) else None
        wanted = contract.attempt if contract is not None else Budget()
        command = c.RecordAttempt(step, attempt, worker, outcome, used=made.used, budget=budget, wanted=wanted)
        decision: Decide | None = None
        if is_planned and isinstance(made, Produced) and isinstance(outcome, c.Done):
            decision = made.decision
            self.documents.keep(made.cargo.hash, made.cargo.value, len(made.cargo.data))

        async def record() -> Answer:
            if worker != self.lease.number:
                raise FencedError("record an attempt under", "lease", str(worker), "this process has another one now")
            if not is_planned:
                return await self.kernel.ask(KIND, id, origin, Prepared(command, brought))
            return await self.plans.report(id, origin, command, brought, decision)

        # The handler has run: forgetting that because the store is out of reach would leave the job leased for ever.
        return await retry_until_stored(record, self._sources, lambda error: self.stall(id, error))

    async def raise_missing(self, id: Id, step: int, tenant: str, current: Step) -> None:
        """A call whose verb or handler is gone must be seen by a person."""
        what = f"The verb '{current.verb}' version {current.version} this call was made with"
        text = f"{missing_text(self.catalogue, what, current.verb, current.version, current.definition)} {BRING_BACK}"
        await self.kernel.ask(
            KIND, id, Origin(tenant, "perdure"), Prepared(c.RaiseIncident(step, "definition.missing", text))
        )

    # --- waiting -------------------------------------------------------------------------------------------------

    def watch(self, id: Id) -> asyncio.Future[Aggregate]:
        """Resolves when this process commits a settled state of the call."""
        future: asyncio.Future[Aggregate] = asyncio.get_running_loop().create_future()
        self._watchers.setdefault(id, []).append(future)
        return future

    def unwatch(self, id: Id, future: asyncio.Future[Aggregate]) -> None:
        if future.done() and not future.cancelled():
            future.exception()
        watchers = self._watchers.get(id)
        if watchers and future in watchers:
            watchers.remove(future)
            if not watchers:
                del self._watchers[id]

    @property
    def room(self) -> int:
        """The jobs that this process may still take over."""
        return self.crew.room

    @property
    def running(self) -> set[tuple[bytes, int]]:
        """The steps whose attempts this process is executing."""
        return self.crew.running

    def tasks(self) -> list[asyncio.Future[Any]]:
        """The attempts and deliveries this process is busy with."""
        return self.crew.tasks()

    async def finish_jobs(self, seconds: float | None) -> None:
        """Let running attempts, and what follows from them, end, at most so long; others take over the rest."""
        await self.crew.finish(seconds)


def _is_under_way(step: Step, started: e.AttemptStarted) -> bool:
    """Whether an attempt is still to be made: a later command of the same commit may have ended it."""
    frame = step.frame
    return step.status == "running" and frame is not None and frame.attempt == started.attempt


def missing_text(catalogue: Catalogue, what: str, name: str, version: int, definition: bytes) -> str:
    """Why work cannot be served: nothing is loaded, or another text and not the one it is pinned to."""
    loaded = catalogue.find(name, version)
    if loaded is None or not definition or loaded.content_hash == digest_text(definition):
        return f"{what} is not available any more."
    return (
        f"{what} has the text {digest_text(definition)}; loaded is another text, {loaded.content_hash}, and no worker "
        "has the old one with a handler for it."
    )


def _awaited_key(verb: Verb, args: Mapping[str, Any], call: str, step: str) -> str:
    """The key that a durable verb will wait under; empty where its arguments give none, which parking refuses."""
    try:
        return verb.correlation_key({**args, "step_id": step, "call_id": call})
    except SchemaViolationError:
        return ""


def _without_handler(verb: Verb) -> Rejection:
    hint = f'Write @verb("{verb.name}") above a function of a package listed under `handlers`.'
    return Rejection("blocked", "call", "verb", verb.name, "no handler is bound to it in this process", hint)


def keyed_id(tenant: str, idempotency_key: str) -> Id:
    """The id of a call asked for under a key: a handler run again for the same request sees the same id."""
    return Id(digest(f"{tenant}\0{idempotency_key}".encode())[:16])


def index_rows(verb: Verb, data: Any) -> list[IndexRow]:
    """The declared scalars found in the data."""
    names = verb.definition.index
    if not names or not isinstance(data, dict):
        return []
    return [IndexRow(verb.name, name, index_text(data[name])) for name in names if _is_scalar(data.get(name))]


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def index_text(value: Any) -> str:
    """How a scalar is written in the index: the same for everyone who looks."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)[:256].replace("\0", "\ufffd")
