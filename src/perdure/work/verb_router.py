"""The verb router: nothing else executes a verb.

| the verb | what happens | when the intent is committed |
|---|---|---|
| sync, `effects: none` | handler runs, result recorded | with the result |
| sync, `effects: store` | handler stages writes, committed with the result | with the result |
| sync, `effects: external` | handler runs, result recorded | before the handler runs |
| durable without handler | parks | with the parking |
| durable with handler | handler runs once, then parks | as above by its effects |

Whatever a handler raises becomes a failure of a class; what it returns is checked, made canonical
and hashed before anyone sees it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import copy_context
from functools import partial
from typing import Any, NoReturn, Protocol, TypeVar

import msgspec

from perdure.agent_usage import NOTHING, OVER_BUDGET, Meter, Reservation, Spent, Used, is_used_up
from perdure.business_calendar import Calendars
from perdure.errors import InvariantBroken, PayloadTooLargeError, SchemaViolationError, StoreUnavailableError
from perdure.human_tasks import AGENT
from perdure.kernel.ports import EntityWrite
from perdure.payload import NO_CARGO, Cargo, canonical, cargo_of
from perdure.verb_contract import FLAG_NAME, FlagContract, FlagType, check_flags, nature_of
from perdure.verbs.agent_handlers import BreakerRule
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.definition import CALENDAR, CRUD, INSTANT_COMPLETE, PARK, START_PROCESS, same_verb_name
from perdure.verbs.handler_registry import Handler, HandlerRegistry
from perdure.verbs.handlers import SECRET, Call, Decide, Lent, Result
from perdure.verbs.references import BoundedResolver, Bounds, Resolver
from perdure.work.agents.budgets import EXHAUSTED
from perdure.work.agents.circuit_breaker import OPEN, Breakers, record, seconds_to_wait
from perdure.work.agents.graph_runner import Kept
from perdure.work.agents.invocation import Answered, ask, named, uses_of
from perdure.work.agents.ports import GraphThreads
from perdure.work.agents.questions import Question, stored_question
from perdure.work.business_dates import business_date
from perdure.work.event_loop import call_in_loop
from perdure.work.failure_classes import MAX_MESSAGE, Failed, classify
from perdure.work.fair_slots import FairSlots
from perdure.work.secrets import Secrets, VerbSecrets, blotted, holds

log = logging.getLogger("perdure.handlers")
"""Where tracebacks of handlers go: to whoever set up logging, as a worker does, and else nowhere."""
log.addHandler(logging.NullHandler())

MAX_THREADS = 64
"""Handlers in threads at once; one tenant alone has half of them."""

T = TypeVar("T")


class Produced(msgspec.Struct, frozen=True, gc=False):
    """What a handler gave back, checked. `parks` when the verb now waits."""

    cargo: Cargo
    flags: dict[str, str | bool | int]
    entities: tuple[EntityWrite, ...]
    parks: bool
    decision: Decide | None = None
    used: Used | None = None
    doubt: str = ""
    """Why what an agent said is a proposal only."""
    question: Question | None = None
    """What an agent asks a person before it goes on."""


class StagedEntities(Protocol):
    """The records a handler reads and the writes it stages, committed with its result."""

    def writes(self) -> tuple[EntityWrite, ...]: ...
    async def execute(self, verb: Verb, args: dict[str, Any]) -> Any: ...


Entities = Callable[[str, str, Verb, str], StagedEntities]
"""Makes the entities of one call from its tenant, principal, verb and idempotency key."""


Around = Callable[[Call], AbstractAsyncContextManager[None]]
"""What is put around an attempt while somebody traces it; it may change the call's trace."""


class Bound(msgspec.Struct, frozen=True):
    """How a verb is run here, looked up once."""

    handler: Handler | None
    run: Callable[[Call], Awaitable[Any]]
    """Of an agent it is not used: that is asked with what was spent before."""
    parks: bool
    is_agent: bool
    lent: Lent
    fits: Callable[[Any], bool]
    """Whether a result can be recorded as it is."""
    max_bytes: int
    can_run: bool
    """Whether this process has what the verb needs."""
    has_step: bool
    """Whether anything runs before the verb completes or parks."""
    is_built_in: bool

    @property
    def function(self) -> Any:
        return self.handler.function if self.handler is not None else None


class Router:
    """Runs handlers: coroutines on the loop, plain functions in a bounded pool of threads."""

    def __init__(
        self,
        registry: HandlerRegistry,
        entities: Entities,
        *,
        has_threads: bool = True,
        now: Callable[[], int] = lambda: 0,
        threads: GraphThreads | None = None,
        breakers: Breakers | None = None,
    ) -> None:
        """`now` is the clock by which agents are timed; `threads` is where graphs keep their states, if anywhere.

        `breakers` are those that workers share; without them agents have none.
        """
        self._breakers = breakers
        self._kept = Kept(threads, now) if threads is not None else None
        self._registry = registry
        self._entities = entities
        self._pool = ThreadPoolExecutor(MAX_THREADS, "perdure-handler") if has_threads else None
        self._slots = FairSlots(MAX_THREADS)
        self._resolvers: dict[str, Resolver] = {}
        self._now = now
        self._found: dict[str, Handler | None] = {}
        self._lent: dict[str, Handler] = {}
        self._bound: dict[str, Bound] = {}
        self.around: Around | None = None
        self.secrets = Secrets()
        self.calendars = Calendars()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def register(self, scheme: str, resolver: Resolver, bounds: Bounds) -> None:
        """Let calls resolve references of a scheme, within bounds."""
        self._resolvers[scheme] = BoundedResolver(resolver, bounds)
        self._bound.clear()

    def lend(self, verb: str, function: Any) -> None:
        """Let a coroutine function run a verb in place of its handler; None gives it back."""
        if function is None:
            self._lent.pop(same_verb_name(verb), None)
        else:
            self._lent[same_verb_name(verb)] = Handler(verb, function, is_async=True)
        self._found.clear()
        self._bound.clear()

    def handler(self, verb: Verb) -> Handler | None:
        key = verb.content_hash
        if key not in self._found:
            self._found[key] = self._lent.get(same_verb_name(verb.name)) or self._registry.resolve(verb)
        return self._found[key]

    def bound(self, verb: Verb) -> Bound:
        """How this process runs the verb."""
        return self._bound.get(verb.content_hash) or self._bind(verb)

    def admit(self, verb: Verb, args: Mapping[str, Any]) -> tuple[Cargo, Bound]:
        """The arguments of a call, checked and hashed, and how this process runs its verb."""
        return self.incoming(verb, args), self._bound.get(verb.content_hash) or self._bind(verb)

    def can_run(self, verb: Verb) -> bool:
        """Whether this process has what the verb needs."""
        return self.bound(verb).can_run

    def has_step(self, verb: Verb) -> bool:
        """Whether anything runs before the verb completes or parks."""
        return self.bound(verb).has_step

    def is_agent(self, verb: Verb) -> bool:
        """Whether the verb's handler is an agent, and so costs something each time it runs."""
        return self.bound(verb).is_agent

    def proposer(self, verb: Verb) -> str:
        """Who the agent of a verb is, where a person's name is expected."""
        handler = self.handler(verb)
        return named(verb, handler.function) if handler is not None else f"{AGENT}{verb.name}"

    def run(
        self,
        verb: Verb,
        call: Call,
        contracts: Iterable[FlagContract] | None = None,
        is_loose: bool = False,
        spent: Spent | None = None,
        reserved: Reservation | None = None,
    ) -> Coroutine[Any, Any, Produced | Failed]:
        """One attempt. Never raises what the handler raised; cancellation passes through.

        Flags are checked against what the verb promises, and against the contracts of the process it runs for. A sync
        verb that is called by itself sets them for nobody; they are shown with its result.
        """
        attempt = self._attempt(verb, call, contracts, is_loose, spent, reserved)
        return attempt if self.around is None else _within(self.around(call), attempt)

    async def _attempt(
        self,
        verb: Verb,
        call: Call,
        contracts: Iterable[FlagContract] | None,
        is_loose: bool,
        spent: Spent | None,
        reserved: Reservation | None = None,
    ) -> Produced | Failed:
        bound, began = self._bound.get(verb.content_hash) or self._bind(verb), self._now()
        call._lent = bound.lent
        made: Produced | Failed
        try:
            if bound.is_agent and (held := await self._held(verb, bound, call)) is not None:
                return held
            if bound.is_agent:
                result: Any = await ask(
                    bound.function, verb, call, call._metered(), spent or NOTHING, self._kept, reserved
                )
            else:
                result = await bound.run(call)
            made = self._produced(bound, verb, call, result, contracts, is_loose)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled this attempt: something the handler waited for was, and that is the handler's failure.
            made = Failed("transient_infrastructure", "handler.error", f"CancelledError: {error}"[:MAX_MESSAGE])
        except Exception as error:
            made = classify(verb, error)
            if made.code == EXHAUSTED:
                uses = uses_of(verb, bound.function, call._metered())
                made = msgspec.structs.replace(made, code=OVER_BUDGET, is_hold=is_used_up(reserved, uses))
        if bound.is_agent:
            await self._count(verb, bound, call, made)
        if call._secrets:
            made = _without_secrets(made, verb, call._secrets)
        if isinstance(made, Failed) and made.trace:
            log.error(
                "the handler of '%s' failed in call %s, attempt %d\n%s",
                verb.name,
                call.call_id,
                call.attempt,
                made.trace,
            )
        return made if call._meter is None else self._with_use(made, verb, bound, call._meter, began)

    async def _held(self, verb: Verb, bound: Bound, call: Call) -> Failed | None:
        """Why an agent is not asked now: its breaker is open. A person's answer that is the result asks nobody."""
        rule = _breaker_rule(verb)
        if self._breakers is None or rule is None or (call._answer is not None and call._answer.is_result):
            return None
        agent = named(verb, bound.function)
        seconds = await seconds_to_wait(self._breakers, call.tenant, agent, rule, self._now())
        if seconds is None:
            return None
        text = f"The circuit breaker of {agent} is open: too many of its attempts failed. It is tried again by itself."
        return Failed("transient_external", OPEN, text, seconds, is_hold=True)

    async def _count(self, verb: Verb, bound: Bound, call: Call, made: Produced | Failed) -> None:
        rule = _breaker_rule(verb)
        if self._breakers is None or rule is None or (call._answer is not None and call._answer.is_result):
            return
        failed = isinstance(made, Failed) and nature_of(made.kind) == "temporary"
        with suppress(StoreUnavailableError):  # what came of the attempt is recorded without it
            await record(self._breakers, call.tenant, named(verb, bound.function), rule, self._now(), failed=failed)

    def _with_use(
        self, made: Produced | Failed, verb: Verb, bound: Bound, meter: Meter, began: int
    ) -> Produced | Failed:  # fmt: skip
        if not meter.uses and not meter.agent:
            return made
        uses = uses_of(verb, bound.function, meter)
        return msgspec.structs.replace(made, used=Used(uses, max(0, self._now() - began), meter.agent))

    def _produced(
        self, bound: Bound, verb: Verb, call: Call, result: Any, contracts: Iterable[FlagContract] | None,
        is_loose: bool,
    ) -> Produced:  # fmt: skip
        """What a handler gave back, held to the verb's contract."""
        flags: dict[str, Any] = {}
        if type(result) is dict:
            value: Any = result
        else:
            value, flags = _parted(result)
            if flags and not is_loose:
                _check_flags(verb, flags, contracts)
        if type(value) is dict and bound.fits(value):
            writes, cargo = _staged(call), cargo_of(value)
            if len(cargo.data) <= bound.max_bytes:
                return Produced(cargo, flags, writes, False)
        if isinstance(value, Question):
            _staged(call)
            return Produced(NO_CARGO, {}, (), False, question=value)
        if isinstance(value, Answered):
            return self._answered(bound, verb, value, call)
        if isinstance(value, Decide):
            made = self._checked(bound, verb, _decided(verb, value), flags, call)
            return msgspec.structs.replace(made, decision=value)
        return self._checked(bound, verb, value, flags, call)

    def _answered(self, bound: Bound, verb: Verb, answered: Answered, call: Call) -> Produced:
        """What an agent said, held to the verb's contract, whether it counts by itself or is a proposal."""
        decision = answered.decision
        made = self._checked(bound, verb, {} if decision.data is None else decision.data, answered.flags, call)
        kept = decision if verb.execution.decision else None
        return msgspec.structs.replace(made, decision=kept, doubt=answered.doubt)

    def _checked(self, bound: Bound, verb: Verb, value: Any, flags: dict[str, Any], call: Call) -> Produced:
        writes = _staged(call)
        if bound.parks:
            return Produced(NO_CARGO, flags, writes, True)
        return Produced(self.outgoing(verb, value), flags, writes, False)

    def _bind(self, verb: Verb) -> Bound:
        handler = self.handler(verb)
        parks = handler is None or handler.name == PARK or (verb.is_durable and handler.name != INSTANT_COMPLETE)
        fits = _never if parks else verb.output.fits if verb.output is not None else _always
        can_run = (
            handler.name != START_PROCESS if handler is not None else verb.is_durable and verb.execution.handler is None
        )
        bound = Bound(
            handler,
            self._way(verb, handler),
            parks,
            handler is not None and handler.is_agent,
            ({**self._resolvers, SECRET: VerbSecrets(self.secrets, verb.name)}, self._entities, verb),
            fits,
            verb.execution.max_bytes,
            can_run,
            handler is not None and handler.name != PARK,
            handler is not None and handler.built_in,
        )
        self._bound[verb.content_hash] = bound
        return bound

    def _way(self, verb: Verb, handler: Handler | None) -> Callable[[Call], Awaitable[Any]]:
        if handler is None or handler.name == PARK:
            return partial(_at_once, {})
        if handler.name == INSTANT_COMPLETE:
            return partial(_at_once, verb.execution.params.get("result", {}))
        if handler.name == CRUD:
            return partial(_execute, verb)
        if handler.name == CALENDAR:
            return partial(self._business_days, verb)
        if handler.function is None:
            return partial(_refuse_to_run, handler)
        if handler.is_async:
            function: Callable[[Call], Awaitable[Any]] = handler.function
            return function
        return partial(_directly if self._pool is None else self._in_pool, handler.function)

    async def _business_days(self, verb: Verb, call: Call) -> Result:
        return business_date(verb, call.args, self.calendars, self._now())

    async def _in_pool(self, function: Callable[[Call], Any], call: Call) -> Any:
        assert self._pool is not None
        tenant = call.tenant
        if not self._slots.take_at_once(tenant):
            await self._slots.take(tenant)
        loop = asyncio.get_running_loop()
        try:
            running = self._pool.submit(copy_context().run, _in_thread, function, call)
        except BaseException:
            self._slots.give_back(tenant)
            raise
        try:
            return await asyncio.wrap_future(running)
        finally:
            if running.done():
                self._slots.give_back(tenant)
            else:  # cancelled, and its function goes on: the slot is the thread's until that has ended
                running.add_done_callback(partial(self._ended, loop, tenant))

    def _ended(self, loop: asyncio.AbstractEventLoop, tenant: str, done: Future[Any]) -> None:
        call_in_loop(loop, self._slots.give_back, tenant)

    def incoming(self, verb: Verb, args: Mapping[str, Any]) -> Cargo:
        """Arguments checked against the verb's schema and budget, in their stored form."""
        value = verb.check_input(args)
        cargo = cargo_of(value)
        if len(cargo.data) > verb.execution.max_bytes:
            raise _too_large(verb, value, len(cargo.data), "call", "argument")
        return cargo

    def outgoing(self, verb: Verb, value: Any) -> Cargo:
        """A result checked against the verb's schema and budget, in its stored form."""
        value = verb.check_output(value)
        cargo = cargo_of(value)
        if len(cargo.data) > verb.execution.max_bytes:
            raise _too_large(verb, value, len(cargo.data), "record the result of", "field")
        return cargo


def _without_secrets(made: Produced | Failed, verb: Verb, secrets: tuple[str, ...]) -> Produced | Failed:
    """What an attempt came to; a failure when a text that it was given would be kept with it."""
    if isinstance(made, Failed):
        return msgspec.structs.replace(
            made, message=blotted(made.message, secrets), trace=blotted(made.trace, secrets)
        )  # fmt: skip
    kept = [made.cargo.data, msgspec.json.encode([made.flags, made.doubt]), *(each.data for each in made.entities)]
    if made.question is not None:
        kept.append(stored_question(made.question)[1])
    if not holds(kept, secrets):
        return made
    fact = f"What '{verb.name}' returned holds a secret it was given. Return what came of it, never the secret itself."
    return Failed("permanent_contract", "secret.leaked", fact)


def _parted(result: Any) -> tuple[Any, dict[str, Any]]:
    """The data and the flags of what a handler gave back; it may go on using the objects it returned."""
    if isinstance(result, Result):
        return result.data, {**result.flags}
    if isinstance(result, Answered):
        return result, {**result.flags}
    return {} if result is None else result, {}


def _staged(call: Call) -> tuple[EntityWrite, ...]:
    """The writes its handler staged, none most of the time; what is begun afterwards is refused."""
    call._is_over = True
    staged: StagedEntities | None = call._entities
    return () if staged is None else staged.writes()


def _breaker_rule(verb: Verb) -> BreakerRule | None:
    contract = verb.execution.agent
    return contract.breaker or None if contract is not None else None


def _always(value: Any) -> bool:
    return True


def _never(value: Any) -> bool:
    return False


async def _within(around: AbstractAsyncContextManager[None], attempt: Coroutine[Any, Any, T]) -> T:
    try:
        async with around:
            return await attempt
    finally:
        attempt.close()  # what is around it may have failed before it began


async def _at_once(value: Any, call: Call) -> Result:
    return Result(value)


async def _refuse_to_run(handler: Handler, call: Call) -> NoReturn:
    raise InvariantBroken("run", "handler", handler.name, "a process carries its verb, and nothing runs here")


async def _execute(verb: Verb, call: Call) -> Result:
    return Result(await call.entities.execute(verb, call.args))


async def _directly(function: Callable[[Call], Any], call: Call) -> Any:
    return function(call)


def _decided(verb: Verb, decision: Decide) -> Any:
    if not verb.execution.decision:
        fact = "its handler decided and the verb is not declared as a decision"
        hint = "Write decision: true under execution."
        raise SchemaViolationError("record the decision of", "verb", verb.name, fact, hint, violations=[])
    return {} if decision.data is None else decision.data


def _check_flags(verb: Verb, flags: dict[str, Any], contracts: Iterable[FlagContract] | None) -> None:
    promised = verb.definition.contract
    if promised is not None and (extra := [name for name in flags if name not in promised.writes_flags]):
        fact = f"'{verb.name}' does not promise to write {'it' if len(extra) == 1 else 'them'}"
        violations = [{"path": f"$.{name}", "reason": fact} for name in extra]
        hint = "Add the flag to contract.writes_flags of the verb."
        raise SchemaViolationError("set", "flags", ", ".join(extra), fact, hint, violations=violations)
    if contracts is None:
        contracts = verb.execution.flags if verb.is_durable else _contracts_of(flags)
    check_flags(contracts, flags)


def _contracts_of(flags: dict[str, Any]) -> list[FlagContract]:
    """Whatever can be a flag at all; a name that cannot is left out, and so refused."""
    kinds: dict[type, FlagType] = {bool: "boolean", int: "integer"}
    return [
        FlagContract(name, kinds.get(type(value), "string"))
        for name, value in flags.items()
        if FLAG_NAME.fullmatch(name)
    ]


def _in_thread(function: Callable[[Call], Any], call: Call) -> Any:
    try:
        return function(call)
    except StopIteration as error:
        # No future can carry this one: whoever waits for it would wait for ever.
        raise RuntimeError(f"the handler raised StopIteration({error.value!r})") from error


def _too_large(verb: Verb, value: Any, size: int, do: str, noun: str) -> PayloadTooLargeError:
    budget = verb.execution.max_bytes
    fields = value.items() if isinstance(value, dict) else [("$", value)]
    sizes = sorted(((len(canonical(each)), name) for name, each in fields), reverse=True)[:3]
    largest = ", ".join(f"{name} ({length:,} bytes)" for length, name in sizes)
    return PayloadTooLargeError(
        do, "verb", verb.name, f"its data has {size:,} bytes and may have {budget:,}; largest {noun}s: {largest}",
        "Keep big data elsewhere and pass a reference, which a handler fetches with call.resolve(uri).",
        largest=[name for _, name in sizes],
    )  # fmt: skip
