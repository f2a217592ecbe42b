"""Runbook views: a runbook as every surface shows it, made from its aggregate and the payloads beside it."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.calls.call_journal import read
from perdure.app.execution_mode import modes_of
from perdure.app.processes.processes import Views
from perdure.app.quarantine_views import quarantined
from perdure.app.runbooks.open_proposal import proposal_of
from perdure.app.runbooks.views import (
    PlanDiff,
    RunbookView,
    StepView,
    brief,
    damaged_runbook,
    name_of,
    runbook_view,
    step_view,
)
from perdure.app.runtime import Runtime
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.runbooks.executor.call_executor import KIND
from perdure.runbooks.executor.plan_cache import AbsentError
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.state import Runbook, links_of
from perdure.runbooks.plan import StepPlan
from perdure.sources import Id, id_text, iso, parse_id


class RunbookViews:
    """Makes views of runbooks, for one origin."""

    def __init__(self, runtime: Runtime, origin: Origin, instances: Views) -> None:
        self._runtime = runtime
        self._conductor = runtime.conductor
        self._origin = origin
        self._instances = instances
        self._mode = modes_of(runtime.catalogue)

    async def ask(self, id: str, command: c.Command) -> RunbookView:
        answer = await self._runtime.kernel.ask(KIND, parse_id(id), self._origin, Prepared(command))
        assert answer.aggregate is not None
        return await self.view(answer.aggregate)

    async def shown(self, id: str) -> RunbookView:
        """A runbook as it is now; a damaged one is `quarantined`."""
        try:
            return await self.view(await self.read(id))
        except QuarantinedError as error:
            return self.damaged(parse_id(id), error)

    def damaged(self, id: Id, error: QuarantinedError) -> RunbookView:
        """A runbook of which nothing can be trusted but that it is there."""
        return quarantined(damaged_runbook(id, self._origin.tenant), error)

    async def read(self, id: str) -> Aggregate:
        aggregate = await read(self._runtime, self._origin, id)
        if aggregate.state.course is None and aggregate.state.draft is None:
            fact, hint = "that is the id of a single call", "Use `status`."
            raise RejectedError(Rejection("not_found", "find", "runbook", id, fact, hint))
        return aggregate

    async def view(self, aggregate: Aggregate, *, is_brief: bool = False) -> RunbookView:
        state: Runbook = aggregate.state
        if state.course is None:
            case = state.draft.case if state.draft is not None else ""
            return _drafted(aggregate, case)
        damage, pack, numbers = self._runtime.store.set_aside.find(aggregate.id), None, range(1, len(state.steps) + 1)
        try:
            steps = [await self._step(aggregate, number) for number in numbers]
            if state.course.fragments and not state.erased_at:
                pack = (await self._conductor.documents.whole(aggregate, state.course.fragments[0].document)).pack
        except QuarantinedError as error:
            steps, damage = [step_view(aggregate, number, None, None, None, None) for number in numbers], error
        view = quarantined(runbook_view(aggregate, state.course, steps, pack), damage)
        return msgspec.structs.replace(view, steps=[]) if is_brief else view

    async def _step(self, aggregate: Aggregate, number: int) -> StepView:
        step = aggregate.state.steps[number - 1]
        is_erased = bool(aggregate.state.erased_at)
        plan = None if is_erased else await self._plan(aggregate, number)
        args = await self._value(aggregate, step.input or None)
        result = await self._value(aggregate, step.result)
        carrier = await self._instances.carrier(aggregate, number, step.carrier) if step.carrier is not None else None
        proposal = await proposal_of(self._runtime.store, aggregate, step)
        view = step_view(aggregate, number, plan, args, result, carrier, proposal)
        link = carrier.task_link if carrier is not None else self._runtime.task_list.of_step(aggregate, number)
        view = msgspec.structs.replace(view, mode=self._mode(step), task_link=link)
        told = self._conductor.texts.sentence(step, args) if step.verb and args is not None else ""
        return msgspec.structs.replace(view, sentence=told) if told else view

    async def _plan(self, aggregate: Aggregate, number: int) -> StepPlan | None:
        try:
            return self._conductor.documents.step(aggregate.state, number)
        except AbsentError as absent:
            await self._conductor.documents.read(aggregate, absent.hash)
            return self._conductor.documents.step(aggregate.state, number)

    async def _value(self, aggregate: Aggregate, hash: bytes | None) -> Any:
        if hash is None or aggregate.state.erased_at:
            return None
        data = await self._runtime.store.payload(aggregate.id, hash)
        return msgspec.json.decode(data) if data is not None else None


def _drafted(aggregate: Aggregate, case: str) -> RunbookView:
    state: Runbook = aggregate.state
    return RunbookView(
        id_text(aggregate.id), state.status, case, [], brief([]), "", 0, aggregate.version, False,
        iso(state.started_at), iso(state.ended_at or None), aggregate.tenant, state.principal,
    )  # fmt: skip


def plan_diff(before: Aggregate, now: Aggregate) -> PlanDiff:
    old, new = before.state, now.state
    known = len(old.steps)
    edges: list[tuple[str, str]] = []
    changed: dict[str, tuple[str, str]] = {}
    for number, step in enumerate(new.steps, 1):
        links = links_of(step)
        if number > known:
            continue
        earlier = old.steps[number - 1]
        edges.extend((links.name, name_of(new, each)) for each in links.after if each not in links_of(earlier).after)
        if earlier.status != step.status:
            changed[links.name] = (earlier.status, step.status)
    return PlanDiff(
        id_text(now.id), before.version, now.version, _hash(old), _hash(new),
        [links_of(step).name for step in new.steps[known:]], edges, changed,
    )  # fmt: skip


def _hash(state: Runbook) -> str:
    return "sha256:" + state.course.plan.hex() if state.course is not None else ""
