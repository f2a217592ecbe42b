"""Notices and timers of lifecycles: whoever looks first acts on them, and a second time changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from perdure.errors import FencedError, PerdureError, QuarantinedError, RejectedError, Rejection
from perdure.identifiers import Id, derive_id, id_text
from perdure.journal import Notice, Origin
from perdure.journal.facts import FACT, FACT_CHANGED, fact_kind
from perdure.journal.notice_routes import FactRoute, TaskRoute, read_route
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import PENDING, Attachments, Unit
from perdure.lifecycles.instances import KIND, PLATFORM, LifecycleInstances
from perdure.lifecycles.machine import commands as c
from perdure.lifecycles.machine.definition import Lifecycle
from perdure.lifecycles.machine.judgements import names_of
from perdure.lifecycles.machine.lifecycle_machine import ASKED, DEADLINE, DUE, EXPIRY, OVER, RECHECK
from perdure.lifecycles.machine.names import UnknownName, resolved
from perdure.lifecycles.machine.state import Instance, Task
from perdure.lifecycles.ports import CallEnd, Resolution, ResolutionCalls
from perdure.lifecycles.task_results import TaskResult, check_result
from perdure.lifecycles.triggers import LifecycleTriggers
from perdure.payload import digest
from perdure.work.ports import JobFound, TimerFound

PAGE = 200
TOGETHER = 20
"""How many instances are let look at once: enough to share commits."""
NOTICES = (FACT_CHANGED, DUE, ASKED, OVER)
PARENT = "perdure/lifecycle"
"""The word before the correlation id by which a call says that it is the resolution of a pending task."""


class LifecycleRecovery:
    """Looks after instances: a worker does it for everybody, any other process for what it has just committed."""

    def __init__(self, instances: LifecycleInstances, calls: ResolutionCalls, *, is_driven: bool = False) -> None:
        self._instances = instances
        self._calls = calls
        self._triggers = LifecycleTriggers(instances)
        self._store = instances.store
        self._kernel = instances.kernel
        self._is_driven = is_driven
        self._tasks: set[asyncio.Task[None]] = set()

    # --- notices -------------------------------------------------------------------------------------------------

    def on_notices(self, aggregate: Aggregate, notices: Sequence[Notice]) -> None:
        """Act at once on what this process has committed; what it does not come to is found in the inbox."""
        mine = [each for each in notices if each.kind in NOTICES]
        if mine and not self._is_driven:
            task = asyncio.get_running_loop().create_task(self._act(aggregate, mine))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _act(self, aggregate: Aggregate, notices: Sequence[Notice]) -> None:
        for notice in notices:
            try:
                await self.deliver(aggregate.tenant, notice.message_id, notice.kind, aggregate.id)
            except PerdureError:
                continue  # it is still pending, and the worker that meets it says what is wrong

    async def drain(self) -> None:
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def deliver(self, tenant: str, message_id: str, kind: str, aggregate: Id) -> bool:
        """Act on a notice; False when it has to wait."""
        message = await self._store.message(tenant, message_id)
        if message is None or message.status != PENDING:
            return False
        if kind == DUE:
            return await self._look(tenant, message_id, aggregate)
        route = read_route(kind, message_id, message.body)
        if kind == FACT_CHANGED:
            assert isinstance(route, FactRoute)
            return await self._wake(tenant, message_id, route)
        assert isinstance(route, TaskRoute)
        if kind == ASKED:
            return await self._resolve(tenant, message_id, aggregate, route.correlation_id)
        return await self._end_call(tenant, message_id, aggregate, route.correlation_id)

    async def _look(self, tenant: str, message_id: str, id: Id) -> bool:
        await self._instances.look(id, tenant, settles=message_id, only_due=True)
        message = await self._store.message(tenant, message_id)
        if message is not None and message.status == PENDING:  # it is of an earlier round
            await self._settle(tenant, message_id)
        return True

    async def _wake(self, tenant: str, message_id: str, route: FactRoute) -> bool:
        """Let exactly those look that asked for one of the facts, and those begin that wait for what happened.

        The notice is told as acted on after that.
        """
        for key in route.keys:
            after = 0
            while page := await self._store.find_waits(tenant, FACT, fact_kind(key), key, after, PAGE):
                after = page[-1].number
                found = list(dict.fromkeys(each.aggregate for each in page))
                for first in range(0, len(found), TOGETHER):
                    several = [self._woken(id, tenant) for id in found[first : first + TOGETHER]]
                    await asyncio.gather(*several)
        await self._triggers.begin(tenant, message_id, route.events)
        await self._settle(tenant, message_id)
        return True

    async def _woken(self, id: Id, tenant: str) -> None:
        try:
            await self._instances.settle(await self._instances.look(id, tenant))
        except QuarantinedError:
            return  # it is set aside, and the others are not to blame

    async def _resolve(self, tenant: str, message_id: str, id: Id, correlation_id: str) -> bool:
        """Begin the call of a resolution, once; what cannot begin closes its task with the reason."""
        aggregate = await self._instances.read(id, Origin(tenant, PLATFORM))
        state: Instance = aggregate.state
        task = state.task(correlation_id)
        if task is None or not task.is_open:
            await self._settle(tenant, message_id)
            return True
        origin = Origin(tenant, task.by, behind=task.behind)
        try:
            resolution = await self._resolution(aggregate, task, message_id)
            if await self._calls.begin(resolution, origin) == "elsewhere":
                return False
        except (PerdureError, UnknownName) as error:
            if isinstance(error, FencedError):
                raise
            reason = f"the context has no '{error.name}'" if isinstance(error, UnknownName) else str(error)
            await self._close(id, tenant, correlation_id, f"It could not be asked for. {reason}", message_id)
            return True
        await self._settle(tenant, message_id)
        return True

    async def _resolution(self, aggregate: Aggregate, task: Task, message_id: str) -> Resolution:
        state: Instance = aggregate.state
        material = await self._instances.material(aggregate)
        args = _args(material.definition, state, task)
        names = names_of(id_text(aggregate.id), state.lifecycle, state.subject, material.context)
        call = resolution_id(aggregate, task)
        return Resolution(
            task.verb, resolved(args, names), task.correlation_id, call, (aggregate.tenant, message_id)
        )  # fmt: skip

    async def _end_call(self, tenant: str, message_id: str, id: Id, correlation_id: str) -> bool:
        """A task is over: the call that was made for it has nothing left to do."""
        begun_by = message_id.removesuffix(OVER) + ASKED
        begun = await self._store.message(tenant, begun_by)
        if begun is not None and begun.status == PENDING:
            return False  # it is settled first, and then nothing is begun any more
        origin = Origin(tenant, PLATFORM)
        aggregate = await self._instances.read(id, origin)
        task = aggregate.state.task(correlation_id)
        if task is not None:
            await self._calls.cancel(resolution_id(aggregate, task), origin, "what it was for has ended")
        if aggregate.state.is_erased and not await self._calls.complete_erasure(id, origin):
            return False
        await self._settle(tenant, message_id)
        return True

    # --- calls that ended ----------------------------------------------------------------------------------------

    async def call_ended(self, tenant: str, message_id: str, call: Aggregate) -> bool:
        """The call of a resolution has ended: its task ends with it, unless somebody was only asked."""
        origin = Origin(tenant, PLATFORM)
        correlation_id = call.state.parent.partition(":")[2]
        end = await self._calls.end_of(call.id, origin)
        if end.is_completed and end.awaits_result:
            await self._settle(tenant, message_id)
            return True
        result = _result_of(end, correlation_id, message_id)
        try:
            if result is not None:
                check_result(result, tenant)
                await self._instances.receive(result, origin, settles=message_id)
            else:
                await self._close(
                    self._instances.instance_of(correlation_id), tenant, correlation_id, end.error, message_id,
                    is_completed=end.is_completed,
                )  # fmt: skip
        except RejectedError as error:
            if error.rejection.code not in ("not_found", "invalid"):
                raise
            if error.rejection.thing == "document":
                reason = f"its cargo is '{error.rejection.id}', and {error.rejection.fact}"
                holder = self._instances.instance_of(correlation_id)
                await self._close(holder, tenant, correlation_id, reason, message_id)
                return True
        await self._settle(tenant, message_id)
        return True

    async def _close(
        self, id: Id, tenant: str, correlation_id: str, reason: str, message_id: str, *, is_completed: bool = False
    ) -> None:
        status = "completed" if is_completed else "failed"
        command = c.CloseTask(correlation_id=correlation_id, status=status, reason=reason)  # type: ignore[arg-type]
        prepared = Prepared(command, Attachments(settles=(tenant, message_id)))
        answer = await self._kernel.ask(KIND, id, Origin(tenant, PLATFORM), prepared)
        assert answer.aggregate is not None
        await self._instances.settle(answer.aggregate)

    async def _settle(self, tenant: str, message_id: str) -> None:
        await self._store.commit(Unit(tenant, None, attachments=[Attachments(settles=(tenant, message_id))]))

    # --- duties of a worker --------------------------------------------------------------------------------------

    async def fire(self, timer: TimerFound) -> None:
        """A timer is due: a deadline of the state, the expiry of a task, or a fact that time alone changes."""
        id, tenant = timer.aggregate, timer.tenant
        origin = Origin(tenant, PLATFORM)
        if timer.kind == DEADLINE:
            await self._instances.pass_deadline(id, tenant, timer.due)
        elif timer.kind == EXPIRY:
            prepared = Prepared(c.ExpireTask(number=timer.step, due=timer.due), due=timer.due)
            await self._kernel.ask(KIND, id, origin, prepared)
        elif timer.kind == RECHECK:
            await self._instances.look(id, tenant)
        await self._instances.settle(await self._instances.read(id, origin))

    async def lease(self, job: JobFound) -> bool:
        return False

    async def miss(self, id: Id, step: int, tenant: str) -> bool:
        return False

    async def heal(self, id: Id, step: int, tenant: str) -> bool:
        return False

    async def erase(self, id: Id, tenant: str, principal: str, reason: str) -> str:
        answer, _ = await self._instances.ask(id_text(id), Origin(tenant, principal), c.Erase(reason=reason))
        await self._store.erase_around(tenant, id, is_recent=principal != PLATFORM)
        return answer


def resolution_id(aggregate: Aggregate, task: Task) -> Id:
    """The id of the call of a pending task: the same however often it is begun."""
    return call_id(task.correlation_id, task.created_at, aggregate.tenant)


def call_id(correlation_id: str, asked_at: int, tenant: str) -> Id:
    return derive_id(asked_at, digest(f"{correlation_id}\0{tenant}".encode()))


def _args(definition: Lifecycle, state: Instance, task: Task) -> dict[str, Any]:
    if task.is_action:
        action = definition.action(task.key)
        if action is None or action.verb != task.verb:
            fact = f"version {state.number} of the lifecycle has no such action"
            raise RejectedError(Rejection("not_found", "do", "action", task.key, fact))
        return action.params
    requirement = definition.requirement(state.state, task.key)
    return requirement.resolution.args if requirement is not None and requirement.resolution is not None else {}


def _result_of(end: CallEnd, correlation_id: str, message_id: str) -> TaskResult | None:
    """The task result that a completed call stands for, where its result points at cargo."""
    found = end.result
    if not end.is_completed or not isinstance(found, dict) or not isinstance(found.get("cargo_ref"), str):
        return None
    type = found.get("cargo_type")
    return TaskResult(
        correlation_id, "completed", type if isinstance(type, str) else "", found["cargo_ref"],
        idempotency_key=message_id,
    )  # fmt: skip
