"""Human tasks as every surface uses them: found, taken, handed on and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, assert_never

import msgspec

from perdure.app.access.data_verbs import DataVerbs
from perdure.app.calls.views import CallView, call_view
from perdure.app.facade.performer import Performer
from perdure.app.facade.tasks import TaskDesk
from perdure.app.instances.views import InstanceView, task_view
from perdure.app.processes.processes import Views
from perdure.app.runbooks.open_proposal import proposal_of
from perdure.app.runbooks.view_builder import RunbookViews
from perdure.app.runbooks.views import RunbookView
from perdure.app.runtime import Runtime
from perdure.app.tasks.agent_questions import asked_by_job, asked_by_step, proposed, shown
from perdure.app.tasks.failure_answers import FAILURE_FORM, HOW, answer_failure, read_answer
from perdure.app.tasks.views import GivenView, TaskView, of_task
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.human_tasks import seen_in
from perdure.bpmn.machine.state import Node
from perdure.engine import Until
from perdure.errors import PerdureError, QuarantinedError, RejectedError, Rejection
from perdure.human_tasks import (
    HumanTask,
    Person,
    TaskContract,
    awaited_groups,
    gate,
    is_for,
    joint_progress,
    open_task,
    over,
)
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import WaitFound
from perdure.processes.wait_schemas import NO_FORM
from perdure.runbooks.executor.agent_proposal import Proposal
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.runbooks.executor.completion_inbox import Completion
from perdure.runbooks.machine.commands import ActOnTask, AnswerGate
from perdure.runbooks.machine.dag_progress import seen_at_gate
from perdure.runbooks.machine.human_tasks import seen_by_asked, waiting_task
from perdure.runbooks.machine.runbook_machine import is_asked, token_key
from perdure.runbooks.machine.state import Step
from perdure.sources import Id, Micros, id_text, iso, parse_id
from perdure.verbs import CompiledSchema

GATE_FORM: dict[str, Any] = {
    "type": "object", "required": ["agree"], "additionalProperties": False,
    "properties": {"agree": {"type": "boolean"}, "reason": {"type": "string"}},
}  # fmt: skip
MAX_FIELDS = 10
"""How many changed fields a refusal names."""
Act = Literal["claim", "unclaim", "delegate", "reassign"]


class TaskOperations(TaskDesk):
    """Human tasks. Reached as `perdure.tasks`; a task's key is `<instance>:<token>`.

    Who acts is the principal and the groups of `acting`. With `override`, a reason, an administrator (a member of the
    group `administrators`) acts for others; that is recorded.
    """

    def __init__(
        self, performer: Performer, runtime: Runtime, origin: Origin, views: Views, runbooks: RunbookViews
    ) -> None:
        super().__init__(performer)
        self._runtime = runtime
        self._engine = runtime.engine
        self._origin = origin
        self._views = views
        self._runbooks = runbooks
        self._data_verbs = DataVerbs(runtime, origin)

    async def list(
        self,
        *,
        assignee: str = "",
        group: str = "",
        mine: bool = False,
        unclaimed: bool = False,
        overdue: bool = False,
        after: int = 0,
        limit: int = 100,
    ) -> Sequence[TaskView]:
        """Open tasks, oldest first: of one person (claimed, assigned or a candidate) or one group, or all.

        `mine` are those the principal may answer, by their name or their groups; `unclaimed` nobody has taken, of
        `overdue` ones the due date has passed.
        """
        wanted = Wanted(assignee, group, mine, unclaimed, overdue)
        found: list[TaskView] = []
        while len(found) < limit and (page := await self._runtime.store.tasks(self._origin.tenant, after, limit)):
            for row in page:
                after = row.number
                view = await self.open_at(row, wanted)
                found.extend([view] if view is not None else [])
        return found[:limit]

    async def open_at(self, row: WaitFound, wanted: Wanted) -> TaskView | None:
        """The task behind a row of a list, when it is still open and one of those wanted."""
        seen = await self._seen(row.aggregate, row.step)
        if seen is None or (wanted.mine and not is_for(seen.task, self._origin.principal, self._origin.groups)):
            return None
        if not _is_of(seen.task, wanted.assignee, wanted.group) or (wanted.unclaimed and seen.task.claimed_by):
            return None
        if wanted.state and seen.task.state != wanted.state:
            return None
        view = await self._view(seen, number=row.number)
        return view if view.is_overdue or not wanted.overdue else None

    async def shown(self, key: str) -> TaskView:
        """A task with the form of its answer."""
        seen = await self._seen(*task_place(key))
        if seen is None:
            raise RejectedError(_unknown(key))
        return await self._view(seen, has_form=True)

    async def proposal(self, key: str) -> Proposal | None:
        """What an agent proposes as the answer; None when nothing is proposed there (any more)."""
        id, number = task_place(key)
        await self._owner(key)
        seen = await self._seen(id, number)
        if seen is not None and seen.node is not None:
            question = await asked_by_job(self._runtime.store, seen.aggregate, seen.node)
            return proposed(question) if question is not None else None
        if seen is None or not seen.token:
            return None
        return await proposal_of(self._runtime.store, seen.aggregate, seen.aggregate.state.steps[number - 1])

    async def is_failure(self, key: str) -> bool:
        """Whether somebody is asked there what becomes of a step that failed."""
        seen = await self._seen(*task_place(key))
        return seen is not None and seen.is_failure

    async def verbs(self, key: str) -> Sequence[str]:
        """The verbs that the data of a task, open or ended, come from."""
        return await self._data_verbs.of_place(await self._owner(key), task_place(key)[1])

    async def _owner(self, key: str) -> Aggregate:
        """The call, runbook or instance of a task, open or ended."""
        id, number = task_place(key)
        try:
            aggregate = await self._runtime.kernel.read(id, self._origin)
        except RejectedError:
            raise RejectedError(_unknown(key)) from None
        is_step = aggregate.kind == RUNBOOK and 1 <= number <= len(aggregate.state.steps)
        if not is_step and aggregate.kind != INSTANCE:
            raise RejectedError(_unknown(key))
        return aggregate

    async def complete(
        self, key: str, data: Mapping[str, Any] | None = None, *, message_id: str = "", override: str = "",
        until: Until = "committed", timeout_seconds: float | None = None, seen: str = "",
    ) -> InstanceView | CallView | RunbookView:  # fmt: skip
        """End a task with what it brings. The first answer counts; under one message id it may be sent again.

        `until` says how far the instance is to come before this returns, as for `instances.start`. The task of a call
        gives back the call or the runbook; at a gate, `{"agree": true}` or false is the answer. With the `seen` of the
        view that was decided on, an answer is refused once that has changed.
        """
        instance, token = task_place(key)
        if not self._is_at_hand(instance) and await self._is_call(instance, key):
            return await self._answer(key, data, message_id, override, seen)
        if seen:
            await self._check_payload(instance, key, seen)
        aggregate = await self._engine.complete_task(
            instance, token, self._origin, data=data, message_id=message_id, override=override,
            until=until if timeout_seconds is None else "committed", seen=seen,
        )  # fmt: skip
        if timeout_seconds is not None:
            aggregate = await self._runtime.instances.followers.follow(aggregate, until, timeout_seconds)
        return self._views.at_hand(aggregate) or await self._views.instance(aggregate)

    async def _check_payload(self, id: Id, key: str, seen: str) -> None:
        """Name the fields that have changed since somebody looked; the machine refuses what changes after this."""
        aggregate = await self._runtime.instances.read(id, self._origin)
        before, now = seen.partition(".")[0], aggregate.state.head.hex()
        if before == now or aggregate.state.erased_at or not before.isalnum():
            return
        try:
            old = (await self._runtime.instances.payloads.open(id, bytes.fromhex(before))).data
        except (PerdureError, ValueError, LookupError):
            return  # no payload of this instance: the machine says what it is not
        fields = changed_fields(old, await self._runtime.instances.data(aggregate))
        fact = f"it has changed since it was looked at: payload ({', '.join(fields)})"
        raise RejectedError(Rejection("wrong_state", "complete", "task", key, fact, "Look at it again, then decide."))

    async def accepted(
        self, key: str, override: str = "", seen_before: str = ""
    ) -> InstanceView | CallView | RunbookView:
        """Answer with what an agent proposes. No agent can, whatever it calls itself.

        With the `seen` of the view that was decided on, it is refused once another answer is proposed.
        """
        id, number = task_place(key)
        seen, proposal = await self._seen(id, number), await self.proposal(key)
        if seen is None or proposal is None:
            fact, hint = "nothing is proposed there (any more)", "See `perdure tasks list` for open ones."
            raise RejectedError(Rejection("wrong_state", "accept", "task", key, fact, hint))
        if seen.node is not None:
            await self._engine.complete_task(
                id, number, self._origin, data=proposal.data, override=override, seen=seen_before or _seen_by(seen)
            )
            return await self._views.instance(await self._runtime.instances.read(id, self._origin))
        step: Step = seen.aggregate.state.steps[number - 1]
        verb = self._runtime.conductor.texts.shown(step)
        is_decision = verb is not None and verb.execution.decision and seen.aggregate.state.course is not None
        result = proposal.result if is_decision else proposal.data
        place = token_key(id_text(id), number, step.tokens[seen.token - 1])
        completion = Completion(place, result=result, override=override, accepts=True, seen=seen_before)
        receipt = await self._runtime.intake.complete(completion, self._origin)
        if receipt.answer != "applied" or receipt.aggregate is None:
            raise RejectedError(over("accept", key))  # somebody answered first
        return await self._call(receipt.aggregate)

    def _is_at_hand(self, id: Id) -> bool:
        """Whether it is an instance of the tenant that is in memory."""
        known = self._runtime.kernel.remembered(id)
        return known is not None and known.kind == INSTANCE and known.tenant == self._origin.tenant

    async def _is_call(self, id: Id, key: str) -> bool:
        """Whether a task is the wait of a call or a runbook; else it is a token of an instance."""
        try:
            return (await self._runtime.kernel.recall(id, self._origin)).kind == RUNBOOK
        except RejectedError:
            raise RejectedError(_unknown(key)) from None

    async def act(self, key: str, act: Act, override: str, to: str = "", groups: str = "") -> TaskView:
        """Take a task, give it back or hand it on."""
        id, number = task_place(key)
        if await self._is_call(id, key):
            await self._act_on_call(key, act, override, to, groups)
            return await self.shown(key)
        engine, origin = self._engine, self._origin
        match act:
            case "claim" | "unclaim":
                await engine.claim_task(id, number, origin, release=act == "unclaim", override=override)
            case "delegate":
                await engine.delegate_task(id, number, origin, to=to, override=override)
            case "reassign":
                await engine.reassign_task(id, number, origin, to=to, groups=groups, override=override)
            case _:
                assert_never(act)
        return await self.shown(key)

    async def _act_on_call(self, key: str, act: Act, override: str, to: str, groups: str) -> None:
        id, step = task_place(key)
        seen = await self._seen(id, step)
        if seen is not None and seen.is_failure:
            fact = "what becomes of a failed step is answered and nothing else"
            raise RejectedError(Rejection("wrong_state", act, "task", key, fact, HOW))
        if seen is not None and not seen.token:
            fact, hint = "a gate is agreed to or refused and nothing else", 'Complete it with {"agree": true} or false.'
            raise RejectedError(Rejection("wrong_state", act, "task", key, fact, hint))
        who = Person(self._origin.principal, self._origin.groups, override, self._origin.behind)
        command = ActOnTask(step, act, who, to, groups)
        await self._runtime.kernel.ask(RUNBOOK, id, self._origin, Prepared(command))

    async def _answer(
        self, key: str, data: Mapping[str, Any] | None, message_id: str, override: str, seen: str
    ) -> CallView | RunbookView:
        id, number = task_place(key)
        found = await self._seen(id, number)
        if found is None:
            return await self._answered(key, message_id)
        if found.is_failure:
            return await answer_failure(self._performer.ask, key, read_answer(key, data))
        if not found.token:
            return await self._agreed(key, found, data or {}, seen)
        place = token_key(id_text(id), number, found.aggregate.state.steps[number - 1].tokens[found.token - 1])
        completion = Completion(place, result={} if data is None else dict(data), override=override, seen=seen)
        receipt = await self._runtime.intake.complete(completion, self._origin, message_id)
        return await self._call(receipt.aggregate or await self._runtime.kernel.read(id, self._origin))

    async def _agreed(self, key: str, found: Seen, data: Mapping[str, Any], seen: str) -> CallView | RunbookView:
        id, number = task_place(key)
        given = CompiledSchema(GATE_FORM, "complete", "task", key).check(dict(data))
        documents = await self._runtime.conductor.launcher.documents_at(found.aggregate, number)
        command = AnswerGate(number, given["agree"], given.get("reason", ""), seen, documents)
        answer = await self._runtime.kernel.ask(RUNBOOK, id, self._origin, Prepared(command))
        return await self._call(answer.aggregate or await self._runtime.kernel.read(id, self._origin))

    async def _answered(self, key: str, message_id: str) -> CallView | RunbookView:
        """The same answer again is told what came of it; another one is refused."""
        id, number = task_place(key)
        aggregate = await self._runtime.kernel.read(id, self._origin)
        known = await self._runtime.store.message(self._origin.tenant, message_id) if message_id else None
        if known is not None:
            return await self._call(aggregate)
        steps = aggregate.state.steps
        tasks = [each.task for each in steps[number - 1].tokens if each.task] if 1 <= number <= len(steps) else []
        raise RejectedError(over("complete", key, *((tasks[-1].state, tasks[-1].answered_by) if tasks else ())))

    async def _call(self, aggregate: Aggregate) -> CallView | RunbookView:
        if aggregate.state.course is not None:
            return await self._runbooks.view(aggregate)
        result = aggregate.state.steps[0].result
        data = await self._runtime.store.payload(aggregate.id, result) if result is not None else None
        return call_view(aggregate, None, msgspec.json.decode(data) if data is not None else None)

    async def _seen(self, id: Id, number: int) -> Seen | None:
        try:
            aggregate = await self._runtime.kernel.read(id, self._origin)
        except (QuarantinedError, RejectedError):
            return None
        if aggregate.kind == RUNBOOK:
            steps = aggregate.state.steps
            return _seen_step(aggregate, steps[number - 1], number) if 1 <= number <= len(steps) else None
        node = aggregate.state.nodes.get(number) if aggregate.kind == INSTANCE else None
        if node is None or node.task is None or node.kind != "task":
            return None
        return Seen(aggregate, node.task, node, number)

    async def _view(self, seen: Seen, *, number: int = 0, has_form: bool = False) -> TaskView:
        view = await self._unlinked(seen, number, has_form)
        link = self._runtime.task_list.link(
            self._origin.tenant, view.process, view.instance, view.element, view.key
        )  # fmt: skip
        return msgspec.structs.replace(view, link=link)

    async def _unlinked(self, seen: Seen, number: int, has_form: bool) -> TaskView:
        now = self._runtime.sources.now()
        if seen.node is None:
            view = self._call_task(seen, now, number, has_form, await self._documents_shown(seen))
            step = seen.aggregate.state.steps[seen.number - 1]
            proposal = await proposal_of(self._runtime.store, seen.aggregate, step)
            asked = await asked_by_step(self._runtime.store, seen.aggregate, step) if seen.token else None
            view = shown(msgspec.structs.replace(view, proposal=proposal), asked, has_form=has_form)
            return await self._with_given(seen, view)
        question = await asked_by_job(self._runtime.store, seen.aggregate, seen.node)
        definition = await self._runtime.instances.loaded(seen.aggregate)
        form = await self._runtime.forms.of(seen.aggregate, seen.node) if has_form and question is None else NO_FORM
        documents = await self._runtime.instances.documents_shown(seen.aggregate)
        view = task_view(seen.aggregate, seen.node, definition, now, number, form, documents)
        return await self._with_given(seen, shown(view, question, has_form=has_form))

    async def _with_given(self, seen: Seen, view: TaskView) -> TaskView:
        """The view with what each of several people answered so far."""
        found: list[GivenView] = []
        for given in seen.task.given:
            told = await self._runtime.store.payload(seen.aggregate.id, given.answer) if given.answer else None
            said = msgspec.json.decode(told) if told is not None else {}
            found.append(GivenView(given.group, given.by, iso(given.at), said.get("data") or said or None))
        return msgspec.structs.replace(view, given=found) if found else view

    async def _documents_shown(self, seen: Seen) -> bytes:
        """The hash of the documents that the arguments of a step refer to."""
        if seen.is_failure:
            return b""
        if seen.token:
            return await self._runtime.intake.documents_shown(seen.aggregate, seen.number)
        return await self._runtime.conductor.launcher.documents_at(seen.aggregate, seen.number)

    def _call_task(self, seen: Seen, now: Micros, number: int, has_form: bool, documents: bytes) -> TaskView:
        letters, step = id_text(seen.aggregate.id), seen.aggregate.state.steps[seen.number - 1]
        verb = self._runtime.conductor.texts.shown(step)
        description = verb.definition.description if verb is not None else ""
        form = verb.definition.output_schema if verb is not None and has_form else None
        if has_form and not seen.token:
            form = FAILURE_FORM if seen.is_failure else GATE_FORM
        return TaskView(
            f"{letters}:{seen.number}", letters, seen.number, step.verb, step.links.name if step.links else "",
            seen.task.title or description or step.verb, since=iso(seen.task.opened_at), number=number, form=form,
            verb=step.verb, seen=_shown(seen, documents),
            **{**of_task(seen.task, now), **({} if seen.token or seen.is_failure else _gate_halves(step))},
        )  # fmt: skip


def _seen_by(seen: Seen) -> str:
    """What somebody sees who accepts a proposal of a job without having looked at its task."""
    return seen_in(seen.aggregate.state, seen.number)


def _shown(seen: Seen, documents: bytes) -> str:
    """What somebody sees who looks at the task of a call, or at a gate."""
    state = seen.aggregate.state
    if seen.is_failure:
        return ""
    if seen.token:
        return seen_by_asked(state.steps[seen.number - 1], documents)
    return seen_at_gate(state, seen.number, documents)


class Wanted(NamedTuple):
    """Which tasks of a list are asked for."""

    assignee: str = ""
    group: str = ""
    mine: bool = False
    unclaimed: bool = False
    overdue: bool = False
    state: str = ""


class Seen(NamedTuple):
    """An open task where it was found: a node of an instance, or the `token` of a step of a call."""

    aggregate: Aggregate
    task: HumanTask
    node: Node | None
    number: int
    token: int = 0
    is_failure: bool = False
    """Whether somebody is asked what becomes of a step that failed."""


def _seen_step(aggregate: Aggregate, step: Step, number: int) -> Seen | None:
    """The task a step is while it waits, or before it may run: a gate is one for somebody of its group."""
    if (found := waiting_task(step)) is not None:
        return Seen(aggregate, found[2], None, number, found[0])
    if step.links is not None and step.links.asked_at and is_asked(step):
        told = step.error.message if step.error is not None else ""
        asked = TaskContract(f"Say what becomes of step '{step.links.name}', which failed: {told}")
        return Seen(aggregate, open_task(asked, step.links.asked_at), None, number, is_failure=True)
    if step.links is None or not step.links.gated_at:
        return None
    title = f"Agree to {step.links.name or step.verb}"
    principal, *others = aggregate.state.askers
    agreed = [name for _, names in step.links.agreed for name in names]
    task = open_task(gate(step.links.awaited, title), step.links.gated_at, principal, behind=(*others, *agreed))
    return Seen(aggregate, task, None, number)


def _gate_halves(step: Step) -> dict[str, Any]:
    """Who has agreed at a gate that asks several groups, and of which somebody has to."""
    links = step.links
    if links is None or "+" not in links.gate:
        return {}
    given = [GivenView(group, names[0]) for group, names in links.agreed]
    told = joint_progress(tuple((group, names[0]) for group, names in links.agreed), links.awaited)
    return {"awaited": list(links.awaited), "given": given, "progress": told}


def changed_fields(old: Any, new: Any) -> Sequence[str]:
    """The names of the fields of a payload that differ, the first of them."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return ["all of it"]
    return [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)][:MAX_FIELDS]


def task_place(key: str) -> tuple[Id, int]:
    """Instance and token of a task's key."""
    letters, _, number = key.partition(":")
    if not (number.isascii() and number.isdigit()):
        hint = "A task's key is `<instance>:<token>`."
        raise RejectedError(Rejection("not_found", "find", "task", key[:80], "that is no task's key", hint))
    return parse_id(letters, "task"), int(number)


def _unknown(key: str) -> Rejection:
    return Rejection("not_found", "find", "task", key, "it is not open (any more)")


def _is_of(task: HumanTask, assignee: str, group: str) -> bool:
    people = {task.claimed_by, task.assignee, *task.users}
    groups = (*task.groups, *awaited_groups(task))
    return (not assignee or assignee in people) and (not group or group in groups)
