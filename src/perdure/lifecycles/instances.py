"""Lifecycle instances on the kernel: started once per subject, looked at, moved and ended.

| what happens | what becomes of it |
|---|---|
| facts change while they are read | the round or the row version moved on: they are read again |
| facts change before a move is committed | a notice is there that was not when they were read: they are read again |
| a crash before a commit | nothing happened; the notice that asked for it is still pending |
| a crash after a commit | the next notice is pending and is acted on by whoever looks first |
| two start for one subject | one holds the lock of the subject; the other is given that instance |
| a task result comes twice, or late | the inbox knows it, or its task is over: nothing changes |
| a definition's fact kind is unknown here | the notice waits for a worker that knows it |
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec

from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.identifiers import Id, id_text, parse_id
from perdure.journal import Origin
from perdure.journal.facts import fact_kind
from perdure.journal.notice_routes import PREFIX, FactEvent
from perdure.kernel.kernel import Aggregate, Answer, Kernel, Prepared
from perdure.kernel.ports import APPLIED, Attachments, Conflict, Grounds, InboxRow, IndexRow
from perdure.lifecycles.definitions import Chosen, LifecycleDefinitions
from perdure.lifecycles.kept_facts import kept_facts, read_kept
from perdure.lifecycles.machine import commands as c
from perdure.lifecycles.machine.judgements import STALE, UNANNOUNCED, names_of, needed_facts
from perdure.lifecycles.machine.lifecycle_machine import LifecycleMachine
from perdure.lifecycles.machine.state import Instance, instance_letters
from perdure.lifecycles.ports import LifecycleStore
from perdure.lifecycles.task_results import RESULT, TaskResult, check_result, with_cargo
from perdure.payload import canonical, digest, parse
from perdure.sources import Micros, Sources
from perdure.work.facts import Facts
from perdure.work.keyed_lock import KeyedLock

KIND = LifecycleMachine.kind
INDEX = "perdure:lifecycle"
"""The verb under which instances are indexed: the field is the lifecycle, the value its subject."""
PLATFORM = "perdure"
MAX_LOOKS = 64
"""How often facts are read again because the instance went on meanwhile."""
MAX_CONTEXT_BYTES = 65_536
SUBJECT = "subject"
TASK_RESULT = "task_result"


class Begun(msgspec.Struct, frozen=True):
    """An instance, and whether it began now."""

    aggregate: Aggregate
    is_new: bool


class ResultReceipt(msgspec.Struct, frozen=True):
    """What became of a task result: counted now, or known before, or too late."""

    answer: Literal["accepted", "known", "over"]
    aggregate: Aggregate


CargoCheck = Callable[[str, str], Awaitable[None]]
"""Takes a tenant and the reference of a task result's cargo."""


class LifecycleInstances:
    """Commands to instances. Every method ends when its effect is durable."""

    def __init__(
        self,
        kernel: Kernel,
        store: LifecycleStore,
        machine: LifecycleMachine,
        definitions: LifecycleDefinitions,
        facts: Facts,
        sources: Sources,
    ) -> None:
        self.kernel = kernel
        self.store = store
        self.machine = machine
        self.definitions = definitions
        self.facts = facts
        self._sources = sources
        self._turns = KeyedLock()
        self.check_cargo: CargoCheck | None = None
        """Refuses a reference to a document that the tenant has not."""
        self._heard: set[str] = set()
        """Tenants in which everybody who changes records is known to tell of it."""

    # --- reading -------------------------------------------------------------------------------------------------

    async def read(self, id: str | Id, origin: Origin) -> Aggregate:
        """An instance as stored; another tenant's is not found."""
        place = parse_id(id, "lifecycle") if isinstance(id, str) else id
        try:
            found = await self.kernel.read(place, origin)
        except RejectedError as error:
            if error.rejection.code != "not_found":
                raise
            raise _missing(id_text(place)) from None
        if found.kind != KIND:
            raise _missing(id_text(place))
        return found

    async def newest(self, lifecycle: str, subject: str, origin: Origin) -> Aggregate | None:
        """The newest instance of a lifecycle for a subject, whether it is over or not."""
        rows = await self.store.indexed(origin.tenant, INDEX, lifecycle, subject, most=1)
        return await self.read(rows[0].id, origin) if rows else None

    async def material(self, aggregate: Aggregate) -> c.Material:
        state: Instance = aggregate.state
        definition = await self.definitions.load(state.lifecycle, state.hash, aggregate.tenant)
        data = await self.store.payload(aggregate.id, state.context) if state.context else None
        return c.Material(definition, state.hash, parse(data) if data is not None else {}, state.context)

    async def view(self, aggregate: Aggregate) -> c.View:
        """Everything that the guards of an instance look at, read after the instance was."""
        state: Instance = aggregate.state
        material = await self.material(aggregate)
        names = names_of(id_text(aggregate.id), state.lifecycle, state.subject, material.context)
        keys = needed_facts(self.machine.table, material.definition, state.state, names)
        told = tuple(key for key in keys if fact_kind(key) not in UNANNOUNCED)
        heard = await self.store.fact_news(aggregate.tenant, told) if told else frozenset()
        facts = await self.facts.read(aggregate.tenant, keys)
        kept = kept_facts(self.machine.table, material.definition, state.state, names, facts)
        return c.View(material, state.round, facts, digest(kept) if kept else b"", kept, told, heard)

    async def last_facts(self, aggregate: Aggregate) -> dict[str, Any]:
        """What is kept of the facts that were last looked at in the present state."""
        hash = aggregate.state.facts
        return read_kept(await self.store.payload(aggregate.id, hash) if hash else None)

    # --- beginning -----------------------------------------------------------------------------------------------

    async def start(
        self,
        lifecycle: str,
        subject: str,
        context: Mapping[str, Any],
        origin: Origin,
        number: int | None = None,
        cause: FactEvent | None = None,
        id: Id | None = None,
    ) -> Begun:
        """Start an instance, or find the one that is active for the subject; `id` where an event began it, once."""
        chosen = await self.definitions.choose(lifecycle, number, origin)
        if forged := next((name for name in context if name.startswith(RESULT)), None):
            fact, hint = f"its context has '{forged[:80]}'", "What came of a task is told by its result alone."
            raise RejectedError(Rejection("invalid", "start", "lifecycle", lifecycle, fact, hint))
        data = canonical(dict(context))
        if len(data) > MAX_CONTEXT_BYTES:
            fact = f"its context has {len(data):,} bytes of at most {MAX_CONTEXT_BYTES:,}"
            raise RejectedError(Rejection("invalid", "start", "lifecycle", lifecycle, fact))
        if origin.tenant not in self._heard:
            # A commit that began before the first definition was there may still change a record without a notice.
            await self.store.await_record_writers()
            self._heard.add(origin.tenant)
        answer = await self._begin(chosen, subject, context, data, origin, cause, id or self._sources.new_id())
        if answer.conflict is None:
            assert answer.aggregate is not None
            return Begun(await self.settle(answer.aggregate), True)
        if id is not None and answer.conflict.what == "version":
            return Begun(await self.read(id, origin), False)  # it began by the same event before
        holder = _holder(answer.conflict)
        return Begun(await self.read(Id(holder), origin), False)

    async def _begin(
        self,
        chosen: Chosen,
        subject: str,
        context: Mapping[str, Any],
        data: bytes,
        origin: Origin,
        cause: FactEvent | None,
        id: Id,
    ) -> Answer:
        hash = digest(data)
        material = c.Material(chosen.definition, chosen.hash, context, hash)
        event, depth = (cause.name, cause.depth) if cause is not None else ("", 0)
        command = c.Start(material=material, number=chosen.number, subject=subject, event=event, depth=depth)
        index = [IndexRow(INDEX, chosen.definition.name, subject)]
        brought = Attachments(payloads=[(hash, data)], index=index)
        return await self.kernel.start(KIND, id, origin, Prepared(command, brought))

    # --- going on ------------------------------------------------------------------------------------------------

    async def settle(self, aggregate: Aggregate) -> Aggregate:
        """Let an instance go on by itself as far as it can; each step is a commit of its own."""
        while aggregate.state.is_due and not aggregate.state.is_over:
            aggregate = await self.look(aggregate.id, aggregate.tenant, only_due=True)
        return aggregate

    async def look(self, id: Id, tenant: str, *, settles: str = "", only_due: bool = False) -> Aggregate:
        """Read the facts of an instance and decide by them; a notice that asked for it is settled with that."""
        origin = Origin(tenant, PLATFORM)
        async with self._turns.at(id_text(id)):
            for _ in range(MAX_LOOKS):
                aggregate = await self.read(id, origin)
                state: Instance = aggregate.state
                if state.is_over or (only_due and not state.is_due):
                    return aggregate
                view = await self.view(aggregate)
                brought = with_facts(view, state)
                if state.is_due:
                    brought = brought or Attachments()
                    brought.settles = (tenant, settles or due_notice(aggregate))
                command = c.Evaluate(view=view)
                answer = await self._ask(id, origin, Prepared(command, brought))
                if answer is not None:
                    assert answer.aggregate is not None
                    return answer.aggregate
        raise _restless(id)

    async def transit(self, id: str, target: str, reason: str, origin: Origin) -> tuple[str, Aggregate]:
        """Take a manual transition, or agree to one; answers `moved` or `proposed`."""

        def command(view: c.View) -> c.LifecycleCommand:
            return c.Transit(view=view, target=target, reason=reason)

        return await self._with_facts(id, origin, command)

    async def request(self, id: str, key: str, origin: Origin, verb: str = "") -> tuple[str, Aggregate]:
        """Ask for the resolution of a blocker, by that verb and no other where one is named."""

        def command(view: c.View) -> c.LifecycleCommand:
            return c.RequestTask(view=view, key=key, verb=verb)

        return await self._with_facts(id, origin, command)

    async def act(self, id: str, action: str, origin: Origin, verb: str = "") -> Aggregate:
        """Ask for an action of the present state, by that verb and no other where one is named."""
        for _ in range(MAX_LOOKS):
            aggregate = await self.settle(await self.read(id, origin))
            command = c.Act(material=await self.material(aggregate), action=action, verb=verb)
            answer = await self._ask(aggregate.id, origin, Prepared(command))
            if answer is not None:
                assert answer.aggregate is not None
                return answer.aggregate
        raise _restless(parse_id(id))

    async def retry(self, id: str, number: int, origin: Origin) -> Aggregate:
        """Ask again for what failed; without a number, let an instance that is stuck look at its facts again."""
        if not number:
            return (await self.ask(id, origin, c.LookAgain()))[1]

        def command(view: c.View) -> c.LifecycleCommand:
            return c.RetryTask(view=view, number=number)

        return (await self._with_facts(id, origin, command))[1]

    async def pass_deadline(self, id: Id, tenant: str, due: Micros) -> None:
        origin = Origin(tenant, PLATFORM)
        for _ in range(MAX_LOOKS):
            aggregate = await self.read(id, origin)
            if aggregate.state.is_over or all(each.at != due for each in aggregate.state.deadlines):
                return
            view = await self.view(aggregate)
            prepared = Prepared(c.PassDeadline(view=view, due=due), with_facts(view, aggregate.state), due=due)
            if await self._ask(id, origin, prepared) is not None:
                return
        raise _restless(id)

    async def _with_facts(
        self, id: str, origin: Origin, command: Callable[[c.View], c.LifecycleCommand]
    ) -> tuple[str, Aggregate]:
        """Read the facts and put a command by them, until both are of one round; then let the instance go on."""
        for _ in range(MAX_LOOKS):
            aggregate = await self.settle(await self.read(id, origin))
            view = await self.view(aggregate)
            prepared = Prepared(command(view), with_facts(view, aggregate.state))
            answer = await self._ask(aggregate.id, origin, prepared)
            if answer is not None:
                assert answer.aggregate is not None
                return answer.answer, await self.settle(answer.aggregate)
        raise _restless(parse_id(id))

    async def _ask(self, id: Id, origin: Origin, prepared: Prepared) -> Answer | None:
        """Put a command; None when the facts it was made with are no longer those of the instance."""
        try:
            answer = await self.kernel.ask(KIND, id, origin, prepared)
            return None if answer.conflict is not None and answer.conflict.what == "facts" else answer
        except RejectedError as error:
            if error.rejection.fact == STALE:
                return None
            raise

    async def ask(self, id: str, origin: Origin, command: c.LifecycleCommand) -> tuple[str, Aggregate]:
        """Put a command that needs no facts, and let the instance go on."""
        aggregate = await self.read(id, origin)
        erases = Attachments(erases=True) if isinstance(command, c.Erase) else None
        answer = await self.kernel.ask(KIND, aggregate.id, origin, Prepared(command, erases))
        assert answer.aggregate is not None
        return answer.answer, await self.settle(answer.aggregate)

    # --- tasks ---------------------------------------------------------------------------------------------------

    async def receive(self, result: TaskResult, origin: Origin, *, settles: str = "") -> ResultReceipt:
        """Count a task result, once; its cargo goes into the context and the instance goes on."""
        check_result(result, origin.tenant)
        for _ in range(MAX_LOOKS):
            aggregate = await self.holder(result.correlation_id, origin)
            await self._check_cargo(aggregate, result)
            answer = await self._count(aggregate, result, origin, settles)
            if answer is None:
                continue
            if answer.conflict is not None:
                return ResultReceipt("known", aggregate)
            assert answer.aggregate is not None
            if answer.answer == "over":
                return ResultReceipt("over", answer.aggregate)
            return ResultReceipt("accepted", await self.settle(answer.aggregate))
        raise _restless(self.instance_of(result.correlation_id))

    async def _check_cargo(self, aggregate: Aggregate, result: TaskResult) -> None:
        """Refuse a result whose cargo is not there; a result that comes too late changes nothing and is told so."""
        task = aggregate.state.task(result.correlation_id)
        if self.check_cargo is not None and task is not None and task.is_open:
            for each in result.all_items():
                await self.check_cargo(aggregate.tenant, each.cargo_ref)

    async def _count(self, aggregate: Aggregate, result: TaskResult, origin: Origin, settles: str) -> Answer | None:
        state: Instance = aggregate.state
        task = state.task(result.correlation_id)
        assert task is not None
        items = result.all_items()
        material = await self.material(aggregate)
        data = canonical(with_cargo(material.context, task, result))
        if len(data) > MAX_CONTEXT_BYTES:
            fact = f"the context would have {len(data):,} bytes of at most {MAX_CONTEXT_BYTES:,}"
            raise RejectedError(Rejection("invalid", "complete", "task", result.correlation_id, fact))
        command = c.ReceiveResult(
            correlation_id=result.correlation_id, status=result.status, items=items, error=result.error,
            base=state.context, context=digest(data), message_id=result.message_id,
        )  # fmt: skip
        arrival = InboxRow(
            origin.tenant, result.message_id, TASK_RESULT, result.correlation_id, self._sources.now(), APPLIED,
            result.status, aggregate.id, None,
        )  # fmt: skip
        brought = Attachments(payloads=[(digest(data), data)], inbox=arrival)
        if settles:
            brought.settles = (origin.tenant, settles)
        try:
            return await self.kernel.ask(KIND, aggregate.id, origin, Prepared(command, brought))
        except RejectedError as error:
            if error.rejection.fact == "its context changed meanwhile":
                return None
            raise

    async def holder(self, correlation_id: str, origin: Origin) -> Aggregate:
        """The instance that has a pending task; a rejection when there is no such task."""
        id = self.instance_of(correlation_id)
        try:
            aggregate = await self.read(id, origin)
        except RejectedError:
            raise _no_task(correlation_id) from None
        if aggregate.state.task(correlation_id) is None:
            raise _no_task(correlation_id)
        return aggregate

    @staticmethod
    def instance_of(correlation_id: str) -> Id:
        try:
            return parse_id(instance_letters(correlation_id))
        except RejectedError:
            raise _no_task(correlation_id) from None


def with_facts(view: c.View, state: Instance) -> Attachments | None:
    """The facts that a decision is made by, and their payload unless the instance has it from its last look."""
    grounds = Grounds(view.told, view.heard) if view.told else None
    payloads = [(view.hash, view.kept)] if view.kept and view.hash != state.facts else []
    return Attachments(payloads=payloads, grounds=grounds) if payloads or grounds is not None else None


def due_notice(aggregate: Aggregate) -> str:
    """The notice that asks for a look at the facts of the present round."""
    return f"{PREFIX}{id_text(aggregate.id)}/due/{aggregate.state.round}"


def _holder(conflict: Conflict) -> bytes:
    if conflict.what != "key" or conflict.holder is None:
        raise InvariantBroken("start", "lifecycle", conflict.key, f"its commit met a conflict of {conflict.what}")
    return conflict.holder


def _missing(letters: str) -> RejectedError:
    hint = "See `perdure lifecycles list`."
    return RejectedError(Rejection("not_found", "find", "lifecycle", letters, "there is no such instance", hint))


def _no_task(correlation_id: str) -> RejectedError:
    return RejectedError(Rejection("not_found", "complete", "task", correlation_id[:200], "there is no such task"))


def _restless(id: Id) -> InvariantBroken:
    return InvariantBroken(
        "decide", "lifecycle", id_text(id), f"it changed {MAX_LOOKS} times while its facts were read"
    )
