"""Plan decisions: a decision receives the context of its runbook and may change the plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import Attachments
from perdure.runbooks.executor.pinned_verbs import PinnedVerbs
from perdure.runbooks.executor.plan_cache import PlanCache, added_steps, course_of, document_of, numbers_of, plan_hash
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.dag_progress import base_of, begun_state, is_not_begun
from perdure.runbooks.machine.state import ENDED, Runbook, Step, links_of, step_id
from perdure.runbooks.plan import Plan, StepPlan
from perdure.sources import id_text
from perdure.verbs import Catalogue, Verb
from perdure.verbs.handlers import Alternative, Decide, DecisionPoint, ResumptionContext, StepSummary
from perdure.verbs.near_names import did_you_mean

MAX_TOLD = 1000
"""How many results a decision is shown, the latest of them."""
PARTS = ("add", "skip", "finish", "reason", "confidence")
"""What the result of a person's decision may hold besides its data."""


class Decisions:
    """Reads contexts and turns what was decided into a change of the plan."""

    def __init__(self, catalogue: Catalogue, documents: PlanCache, texts: PinnedVerbs) -> None:
        self._catalogue = catalogue
        self._documents = documents
        self._texts = texts

    async def context(self, aggregate: Aggregate, number: int) -> ResumptionContext:
        state: Runbook = aggregate.state
        completed = [at for at, step in enumerate(state.steps, 1) if step.status == "completed" and step.verb]
        completed = sorted(completed, key=lambda at: links_of(state.steps[at - 1]).ended_at)[-MAX_TOLD:]
        waiting: list[int] = []
        ready: list[int] = []
        for at, step in enumerate(state.steps, 1):
            if at == number or step.status in ENDED:
                continue
            is_next = step.status == "ready" or (_hangs_only_on(step, number) and step.status == "pending")
            (ready if is_next else waiting).append(at)
        about = _cause(state, number)
        return ResumptionContext(
            course_of(state).case, id_text(aggregate.id),
            await self._summary(aggregate, about) if about else None,
            [await self._summary(aggregate, at) for at in completed],
            [await self._summary(aggregate, at) for at in waiting[:MAX_TOLD]],
            [await self._summary(aggregate, at) for at in ready[:MAX_TOLD]],
            await self._point(aggregate, number, about), await self._alternatives(aggregate, number),
        )  # fmt: skip

    async def _point(self, aggregate: Aggregate, number: int, about: int) -> DecisionPoint:
        """Which decision a step is: one of the program, or one that the runbook has added by itself."""
        state: Runbook = aggregate.state
        links, verb = links_of(state.steps[number - 1]), state.steps[number - 1].verb
        named = links_of(state.steps[about - 1]).name if about else ""
        if links.decides:
            return DecisionPoint("failure", links.name, verb, named)
        if await self.plan_of(aggregate, number) is not None:
            return DecisionPoint("step", links.name, verb)
        return DecisionPoint("resume", links.name, verb, named)

    async def _alternatives(self, aggregate: Aggregate, number: int) -> list[Alternative]:
        """The verbs that could be tried in place of the one whose failure is decided upon."""
        failed = links_of(aggregate.state.steps[number - 1]).decides
        if not failed:
            return []
        step: Step = aggregate.state.steps[failed - 1]
        verb = self._texts.find(step.verb, step.version, step.definition)
        named = verb.execution.alternatives if verb is not None else ()
        found = [other for name in named if (other := self._catalogue.find(name)) is not None]
        args = await self._documents.value_of(aggregate, step.input or None) or {}
        return [Alternative(each.name, each.definition.description, _accepted(each, args)) for each in found]

    async def _summary(self, aggregate: Aggregate, number: int) -> StepSummary:
        step: Step = aggregate.state.steps[number - 1]
        plan = await self.plan_of(aggregate, number)
        return StepSummary(
            step_id(id_text(aggregate.id), number), links_of(step).name, step.verb, step.status,
            plan.sentence if plan is not None else "", await self._documents.value_of(aggregate, step.result),
            step.error.message if step.error is not None else "",
        )  # fmt: skip

    async def plan_of(self, aggregate: Aggregate, number: int) -> Any:
        """The plan of one step, read when it is not in memory."""
        for fragment in course_of(aggregate.state).fragments:
            if fragment.first <= number < fragment.first + fragment.count:
                whole = await self._documents.whole(aggregate, fragment.document)
                return whole.steps[number - fragment.first]
        return None

    async def change(self, aggregate: Aggregate, decision: Decide, brought: Attachments) -> c.Change | None:
        """What a decision does to the plan there is now; raises when it cannot be done."""
        if not decision.changes_anything:
            return None
        state: Runbook = aggregate.state
        skips = tuple(_numbers(state, decision.skip)) if decision.skip else ()
        change = c.Change(skips=skips, is_last=decision.finish, reason=decision.reason, confidence=decision.confidence)
        if not decision.add:
            return change
        before = await self._documents.plan(aggregate)
        plan = self.extended(decision.add, before)
        return self.growth(state, before, plan, change, brought)

    def extended(self, add: str | list[dict[str, Any]], before: Plan) -> Plan:
        """The plan with what is to be added behind it; ProgramError with everything that is wrong with that."""
        from perdure.runbooks.language.compiler import compile_calls, compile_program  # noqa: PLC0415  seldom needed
        from perdure.runbooks.language.json_calls import calls_from_json  # noqa: PLC0415  seldom needed

        if isinstance(add, str):
            return compile_program(add, self._catalogue, after=before)
        return compile_calls(calls_from_json(add), self._catalogue, after=before)

    def growth(self, state: Runbook, before: Plan, plan: Plan, change: c.Change, brought: Attachments) -> c.Change:
        """The change that makes one plan of another; the new part of it is attached."""
        _check_decider(state, plan.steps[len(before.steps) :])
        hash, data = document_of(plan, len(before.steps))
        brought.payloads.append((hash, data))
        added = added_steps(plan.steps[len(before.steps) :], len(state.steps) + 1, numbers_of(state), self._catalogue)
        return c.Change(
            base_of(state), plan_hash(plan), hash, added, change.skips, change.is_last, change.reason,
            change.confidence,
        )  # fmt: skip


def _accepted(verb: Verb, args: Mapping[str, Any]) -> dict[str, Any]:
    """Those arguments that a verb declares."""
    declared = verb.definition.input_schema.get("properties", {})
    return {name: value for name, value in args.items() if name in declared}


def _check_decider(state: Runbook, added: Sequence[StepPlan]) -> None:
    """Refuse steps that say who is asked at every resume, where that was not said when the runbook was started."""
    known = course_of(state).decider
    for step in added:
        if step.reevaluate == "always" and (known is None or known.verb != step.verb):
            fact = f"step '{step.name}' would be asked at every resume, and that is said when a runbook is started"
            raise RejectedError(Rejection("invalid", "extend", "runbook", "?", fact, "Leave reevaluate out here."))


def decision_in(result: Any) -> tuple[Any, Decide]:
    """The data of a person's decision, and what they decided."""
    if not isinstance(result, Mapping):
        return result, Decide()
    parts = {name: result[name] for name in PARTS if name in result}
    data = {name: value for name, value in result.items() if name not in PARTS}
    try:
        return data, Decide(
            data, parts.get("add") or "", [str(each) for each in parts.get("skip") or []],
            bool(parts.get("finish", False)), str(parts.get("reason") or ""), _confidence(parts.get("confidence")),
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        fact = f"what it decides cannot be read ({error})"
        raise RejectedError(Rejection("invalid", "complete", "decision", "?", fact)) from error


def _confidence(given: Any) -> float | None:
    return None if given is None else float(given)


def _numbers(state: Runbook, names: Iterable[str]) -> list[int]:
    known = numbers_of(state)
    found: list[int] = []
    for name in names:
        if name not in known:
            fact = f"it skips '{name}', and there is no such step"
            raise RejectedError(Rejection("invalid", "apply", "decision", name, fact, did_you_mean(name, known)))
        if begun := begun_state(state, known[name]):
            fact = f"it skips '{name}', which is {begun}"
            hint = "Skip steps that have not begun; cancel those that have."
            raise RejectedError(Rejection("wrong_state", "apply", "decision", name, fact, hint))
        found.extend(each for each in known[name] if is_not_begun(state.steps[each - 1]))
    return found


def _hangs_only_on(step: Step, number: int) -> bool:
    links = links_of(step)
    return links.unmet == 1 and number in (*links.needs, *links.after)


def _cause(state: Runbook, number: int) -> int:
    """The step whose end led to the decision; 0 when it hangs on nothing."""
    links = links_of(state.steps[number - 1])
    if links.decides:
        return links.decides
    before = [each for each in (*links.needs, *links.after) if state.steps[each - 1].status in ENDED]
    return max(before, key=lambda each: _ended(state.steps[each - 1]), default=0)


def _ended(step: Step) -> tuple[int, bool]:
    """When a step ended; of two that ended in one moment, the one that was waited for came last."""
    return links_of(step).ended_at, bool(step.tokens)
