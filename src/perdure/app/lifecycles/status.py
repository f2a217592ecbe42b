"""The status of a lifecycle instance: one answer, by the facts as they stand now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from perdure.app.documents.delivery_view import DeliveryView
from perdure.app.lifecycles.views import (
    ActionView,
    BlockerView,
    CallText,
    LifecycleIncident,
    LifecycleItem,
    LifecycleStatus,
    MoveView,
    PendingTaskView,
    ProposedMigration,
    RequirementView,
    StuckView,
    TransitionView,
)
from perdure.journal.facts import fact_kind
from perdure.kernel.kernel import Aggregate
from perdure.lifecycles.instances import LifecycleInstances
from perdure.lifecycles.machine.agreements import is_proposed
from perdure.lifecycles.machine.decide import tries
from perdure.lifecycles.machine.definition import Action, Lifecycle, Requirement
from perdure.lifecycles.machine.incidents import incidents_of
from perdure.lifecycles.machine.judgements import (
    CLOSED_GUARD,
    UNANNOUNCED,
    JudgedState,
    judge_state,
    names_of,
    needed_facts,
)
from perdure.lifecycles.machine.names import Names, UnknownName, resolved
from perdure.lifecycles.machine.state import Instance, Move, Proposal, Task
from perdure.moments import iso
from perdure.sources import Sources, id_text
from perdure.verbs.sexpr import write
from perdure.verbs.sexpr.forms import Argument, CallForm, ListForm, Literal, MapForm, Program, Value

Deliveries = Callable[[Aggregate], Awaitable[dict[int, list[DeliveryView]]]]
"""What was sent for the pending tasks of an instance, by their numbers."""


class StatusBuilder:
    """Reads an instance, its definition and its facts, and says where it stands."""

    def __init__(self, instances: LifecycleInstances, sources: Sources, deliveries: Deliveries) -> None:
        self._instances = instances
        self._deliveries = deliveries
        self._sources = sources

    async def of(self, aggregate: Aggregate) -> LifecycleStatus:
        state: Instance = aggregate.state
        material = await self._instances.material(aggregate)
        definition = material.definition
        names = names_of(id_text(aggregate.id), state.lifecycle, state.subject, material.context)
        judged = JudgedState((), ())
        if not state.is_over and not state.is_erased:
            table = self._instances.machine.table
            facts = await self._facts(aggregate, definition, names)
            judged = judge_state(table, definition, state.state, names, facts, self._sources.now())
        own = definition.state(state.state)
        sent = await self._deliveries(aggregate)
        tasks = [task_view(each, sent.get(each.number)) for each in state.tasks]
        return LifecycleStatus(
            id_text(aggregate.id), state.lifecycle, state.number, state.subject, state.state,
            own.description if own is not None else "", state.status, _progress(definition, state, judged),
            state.is_overdue, _time(state.started_at), state.started_by, _time(state.entered_at),
            iso(state.ended_at) if state.ended_at else None, _blockers(state, judged, names),
            [_requirement(each, judgement) for each, judgement in judged.requirements],
            _transitions(state, judged), _actions(definition, state, names), tasks,
            [_move(each) for each in state.history],
            StuckView(state.stuck.code, state.stuck.text, _time(state.stuck.at)) if state.stuck is not None else None,
            aggregate.version, _migration(state.proposal),
            [LifecycleIncident(each.number, each.code, each.text, _time(each.at)) for each in incidents_of(state)],
        )  # fmt: skip

    async def _facts(self, aggregate: Aggregate, definition: Lifecycle, names: Names) -> dict[str, Any]:
        """The facts as they stand; a verb is not called to look at something, its last answer counts."""
        state, table = aggregate.state, self._instances.machine.table
        keys = needed_facts(table, definition, state.state, names)
        facts = await self._instances.facts.read(
            aggregate.tenant, [each for each in keys if fact_kind(each) not in UNANNOUNCED]
        )
        if len(facts) < len(keys):
            last = await self._instances.last_facts(aggregate)
            for key in keys:
                facts.setdefault(key, last.get(key) or {"failure": "it is asked when other facts change"})
        return facts


def item_of(id: bytes, state: Instance) -> LifecycleItem:
    """An instance in a list, with its blockers as they were last judged."""
    return LifecycleItem(
        id_text(id), state.lifecycle, state.number, state.subject, state.state, state.status,
        _time(state.entered_at), [each.key for each in state.blocked], state.is_overdue, state.stuck is not None,
    )  # fmt: skip


def task_view(task: Task, deliveries: list[DeliveryView] | None = None) -> PendingTaskView:
    return PendingTaskView(
        task.correlation_id, task.key, task.blocker, task.verb, task.status, task.attempt, _time(task.created_at),
        task.by, iso(task.expires_at) if task.expires_at else None, task.expected, task.received, task.failed,
        list(task.cargo), task.error, task.number, deliveries or [],
    )  # fmt: skip


def call_text(verb: str, args: dict[str, Any], names: Names) -> CallText:
    """The exact call, its names replaced; raises UnknownName where the context lacks one."""
    given: dict[str, Any] = resolved(args, names)
    form = CallForm(verb, tuple(Argument(name.replace("_", "-"), _form(each)) for name, each in given.items()))
    return CallText(verb, given, write(Program((form,))).strip())


def _form(value: Any) -> Value:
    if isinstance(value, list):
        return ListForm(tuple(_form(each) for each in value))
    if isinstance(value, dict):
        return MapForm(tuple(Argument(name, _form(each)) for name, each in value.items()))
    return Literal(value)


def _blockers(state: Instance, judged: JudgedState, names: Names) -> list[BlockerView]:
    found = [
        _blocker(state, each, list(judgement.missing), names, judgement.holds_off)
        for each, judgement in judged.requirements
        if not judgement.holds
    ]
    if not found:
        found = [
            BlockerView(f"->{each.target}", CLOSED_GUARD, each.description, list(judgement.missing))
            for _, each, judgement in judged.transitions
            if each.mode == "auto" and not judgement.holds
        ]
    return found


def _blocker(
    state: Instance, requirement: Requirement, missing: list[str], names: Names, holds_off: str = ""
) -> BlockerView:
    resolution = requirement.resolution
    if resolution is None:
        return BlockerView(requirement.key, requirement.blocker, requirement.description, missing)
    last = next((each for each in reversed(state.tasks) if each.key == requirement.key), None)
    reason = last.error if last is not None and not last.is_open and last.status != "cancelled" else ""
    reason = reason or holds_off
    if not reason and not any(each.is_open for each in state.tasks if each.key == requirement.key):
        asked = tries(state, requirement.key)
        reason = f"it was asked for {asked} times, as often as it may be" if asked >= resolution.max_attempts else ""
    call = None
    try:
        call = call_text(resolution.verb, resolution.args, names)
    except UnknownName as unknown:
        reason = f"the context has no '{unknown.name}'"
    return BlockerView(
        requirement.key, requirement.blocker, requirement.description, missing, call, resolution.auto,
        tries(state, requirement.key), resolution.max_attempts, reason,
    )  # fmt: skip


def _requirement(requirement: Requirement, judgement: Any) -> RequirementView:
    return RequirementView(
        requirement.key, requirement.guard.kind, requirement.description, judgement.holds, list(judgement.missing)
    )


def _move(move: Move) -> MoveView:
    return MoveView(move.source, move.target, move.cause, _time(move.at), move.by, move.reason)


def _migration(proposal: Proposal | None) -> ProposedMigration | None:
    if proposal is None or not proposal.number:
        return None
    return ProposedMigration(proposal.number, proposal.target, proposal.by, proposal.reason)


def _transitions(state: Instance, judged: JudgedState) -> list[TransitionView]:
    due = {each.transition: each.at for each in state.deadlines}
    proposal = state.proposal
    return [
        TransitionView(
            each.target, each.mode, each.description, judgement.holds, list(judgement.missing), each.role,
            each.needs_reason, each.four_eyes,
            proposal.by if proposal is not None and each.four_eyes and is_proposed(state, each.target) else "",
            iso(due[at]) if at in due else None,
        )
        for at, each, judgement in judged.transitions
    ]  # fmt: skip


def _actions(definition: Lifecycle, state: Instance, names: Names) -> list[ActionView]:
    if state.is_over:
        return []
    return [_action(each, names) for each in definition.actions if each.state == state.state]


def _action(action: Action, names: Names) -> ActionView:
    try:
        call = call_text(action.verb, action.params, names)
        return ActionView(action.name, action.description, call, is_automatic=action.auto)
    except UnknownName as unknown:
        return ActionView(action.name, action.description, None, f"the context has no '{unknown.name}'", action.auto)


def _progress(definition: Lifecycle, state: Instance, judged: JudgedState) -> int:
    """The share of the shortest way from the beginning to an end, met requirements counted as part of a step."""
    if state.status == "completed":
        return 100
    done = _distance(definition, definition.initial.name, {state.state})
    left = _distance(definition, state.state, {each.name for each in definition.states if each.is_terminal})
    if not judged.requirements:
        share = 0.0
    else:
        share = sum(judgement.holds for _, judgement in judged.requirements) / (len(judged.requirements) + 1)
    return min(99, round(100 * (done + share) / max(1, done + left)))


def _distance(definition: Lifecycle, start: str, targets: set[str]) -> int:
    seen, border, steps = {start}, {start}, 0
    while border and not border & targets:
        border = {each.target for each in definition.transitions if each.source in border} - seen
        seen |= border
        steps += 1
    return steps


def _time(at: int) -> str:
    return iso(at) or ""
