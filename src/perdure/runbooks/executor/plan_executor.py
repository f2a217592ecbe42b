"""Plans under way: started, extended, and told what became of their steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from perdure.errors import DefinitionError, RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Kernel, Prepared
from perdure.kernel.ports import Attachments, IndexRow
from perdure.payload import digest
from perdure.runbooks.executor.plan_cache import (
    PlanCache,
    added_steps,
    course_of,
    document_of,
    numbers_of,
    pinned,
    plan_hash,
)
from perdure.runbooks.executor.plan_decisions import Decisions
from perdure.runbooks.executor.step_launcher import KIND, Known, Launcher
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.dag_progress import base_of, begun_state
from perdure.runbooks.machine.journal_entries import Added
from perdure.runbooks.machine.state import Failure, Pin, VerbPin, has_step
from perdure.runbooks.plan import Plan
from perdure.runbooks.ports import RunbookStore
from perdure.sources import Id, Micros, id_text
from perdure.verb_contract import RetryPolicy
from perdure.verbs import Catalogue, Verb
from perdure.verbs.handlers import Decide

RUNBOOKS = "perdure:runbooks"
"""The name runbooks of several steps are indexed under, where verbs have theirs."""
CASE = "case"
CASES = "perdure:cases"
"""The name they are indexed under by case and by when they began."""
MAX_TRIES = 20
INVALID = "decision.invalid"

Grow = Callable[[Plan], Plan]
"""Makes a longer plan of the one there is."""


class CallHost(Protocol):
    """What running plans needs of the conductor."""

    kernel: Kernel
    store: RunbookStore
    catalogue: Catalogue
    documents: PlanCache
    launcher: Launcher
    decisions: Decisions

    @property
    def number(self) -> int: ...
    def now(self) -> Micros: ...
    def serves(self, name: str, version: int | None = None) -> Verb | None: ...
    def has_step(self, verb: Verb) -> bool: ...
    async def carrier(self, verb: Verb, origin: Origin) -> Pin | None: ...


class PlanExecutor:
    """Of one process."""

    def __init__(self, conductor: CallHost) -> None:
        self._conductor = conductor
        self._kernel = conductor.kernel

    # --- starting ------------------------------------------------------------------------------------------------

    async def start(
        self, plan: Plan, origin: Origin, id: Id, *, case: str = "", is_sealed: bool = True, idempotency_key: str = "",
        is_draft: bool = False,
    ) -> Aggregate:  # fmt: skip
        """Run a plan under an id; a second start under the same id is the first one again."""
        conductor = self._conductor
        if case:
            check_key("start a runbook for", "case", case)
        steps = added_steps(plan.steps, 1, {}, conductor.catalogue)
        hash, data = document_of(plan)
        conductor.documents.keep_document(hash, plan)
        command = c.StartRunbook(
            plan_hash(plan), hash, steps, conductor.number, case, is_sealed, self._decider(plan),
            idempotency_key=idempotency_key,
        )  # fmt: skip
        brought = Attachments(payloads=[(hash, data)], index=index_of(case, conductor.now()), is_plan=True)
        if idempotency_key:
            brought.idempotency = (idempotency_key, request_of(plan, case))
        known = await self._carriers(steps, origin)
        if is_draft:
            answer = await self._kernel.ask(KIND, id, origin, Prepared(command, brought))
        else:
            prepared = conductor.launcher.together(id, None, command, origin, brought, known)
            answer = await self._kernel.start(KIND, id, origin, prepared)
        if answer.conflict is not None or answer.aggregate is None:
            return await self._known(id, origin, plan, case, idempotency_key)
        return answer.aggregate

    async def replay(self, plan: Plan, case: str, origin: Origin, key: str) -> Aggregate | None:
        """What was started under an idempotency key before; a rejection when that was something else."""
        known = await self._conductor.store.idempotent_start(origin.tenant, key)
        if known is None:
            return None
        id, request = known
        if request != request_of(plan, case):
            raise RejectedError(Rejection(
                "already_exists", "start", "runbook", plan.content_hash,
                f"the idempotency key '{key}' was used for something else ({id_text(id)})",
                "Use a new key for a new request.",
            ))  # fmt: skip
        return await self._kernel.read(id, origin)

    async def _known(self, id: Id, origin: Origin, plan: Plan, case: str, key: str) -> Aggregate:
        if key and (before := await self.replay(plan, case, origin, key)) is not None:
            return before
        return await self._kernel.read(id, origin)

    async def _carriers(self, steps: Sequence[Added], origin: Origin) -> Known:
        """The processes of those that begin at once."""
        known = Known(pins={})
        for step in steps:
            verb = self._conductor.serves(step.verb, step.definition_version) if step.verb else None
            hangs = step.needs or step.after or step.sides or step.either
            if verb is None or hangs or not verb.execution.process or self._conductor.has_step(verb):
                continue
            try:
                known.pins[verb.content_hash] = await self._conductor.carrier(verb, origin)
            except RejectedError:
                continue  # seen, and told, when the step is launched
        return known

    def _decider(self, plan: Plan) -> VerbPin | None:
        """The verb that decides at every resume: the last step that says so, else, of all, the last decision."""
        is_always = plan.reevaluate == "always"
        said = [step for step in plan.steps if step.reevaluate == "always"]
        for step in reversed(said or (plan.steps if is_always else ())):
            verb = self._conductor.catalogue.find(step.verb, step.version or None) if step.verb else None
            if verb is not None and verb.execution.decision:
                return pinned(verb)
        if not is_always:
            return None
        fact = "every resume is to be a decision and no step of it is one"
        raise RejectedError(Rejection("invalid", "start", "runbook", plan.content_hash, fact))

    # --- growing -------------------------------------------------------------------------------------------------

    async def extend(self, id: Id, origin: Origin, grow: Grow, edges: Sequence[tuple[str, str]] = ()) -> Aggregate:
        """Add to the plan; who extends at the same time is extended in turn."""
        for _ in range(MAX_TRIES):
            aggregate = await self._kernel.read(id, origin)
            if aggregate.state.course is None:
                fact = "it is a draft" if aggregate.state.status == "draft" else "it is a single call"
                raise RejectedError(Rejection("wrong_state", "extend", "runbook", id_text(id), fact))
            before = await self._conductor.documents.plan(aggregate)
            plan = grow(before)
            brought = Attachments()
            change = self._conductor.decisions.growth(aggregate.state, before, plan, c.Change(), brought)
            self._conductor.documents.keep_document(
                change.document, msgspec.structs.replace(plan, steps=plan.steps[len(before.steps) :])
            )
            pairs = self._pairs(aggregate, change.added, edges)
            command = c.ExtendPlan(change.base, change.plan, change.document, change.added, pairs)
            try:
                answer = await self._kernel.ask(KIND, id, origin, Prepared(command, brought))
            except RejectedError as error:
                if await self._has_changed(id, origin, change.base):
                    continue
                raise error
            assert answer.aggregate is not None
            return answer.aggregate
        raise RejectedError(
            Rejection("blocked", "extend", "runbook", id_text(id), "its plan kept changing", "Try again.")
        )

    @staticmethod
    def _pairs(aggregate: Aggregate, added: Sequence[Added], edges: Sequence[tuple[str, str]]) -> Any:
        names = numbers_of(aggregate.state)
        for number, step in enumerate(added, len(aggregate.state.steps) + 1):
            names.setdefault(step.name, []).append(number)
        for name in (name for pair in edges for name in pair):
            if name not in names:
                fact = f"there is no step '{name}'"
                raise RejectedError(Rejection("not_found", "extend", "runbook", id_text(aggregate.id), fact))
        return tuple((names[step][-1], names[before][-1]) for step, before in edges)

    async def _has_changed(self, id: Id, origin: Origin, base: bytes) -> bool:
        state = (await self._kernel.read(id, origin)).state
        return state.course is not None and base_of(state) != base

    async def _is_outdated(self, id: Id, origin: Origin, change: c.Change) -> bool:
        """Whether the plan was extended, or a step it skips has begun, since a change was made."""
        state = (await self._kernel.read(id, origin)).state
        has_begun = any(begun_state(state, [number]) for number in change.skips)
        return has_begun or (bool(change.added) and base_of(state) != change.base)

    # --- what became of steps ------------------------------------------------------------------------------------

    async def report(
        self,
        id: Id,
        origin: Origin,
        command: c.RecordAttempt | c.Complete,
        brought: Attachments,
        decision: Decide | None = None,
    ) -> Answer:
        """Record what became of a step, what it decided, and the next intents, in one commit.

        A decision that cannot be carried out is an incident of the attempt that made it; a person's is refused.
        """
        for _ in range(MAX_TRIES):
            aggregate = await self._kernel.recall(id, origin, has_step(command.step))
            carried = msgspec.structs.replace(brought, payloads=[*brought.payloads])
            try:
                changed = await self.changed(aggregate, command, decision, carried)
            except (DefinitionError, RejectedError) as error:
                if not isinstance(command, c.RecordAttempt):
                    raise
                text = f"What it decided cannot be done. {error} Correct the handler, then `incidents retry`."
                failure = Failure("permanent_contract", INVALID, text[:2000])
                command, brought = (
                    msgspec.structs.replace(command, outcome=c.Fail(failure, RetryPolicy())),
                    Attachments(),
                )
                decision = None
                continue
            known = await self.foresee(aggregate, command.step)
            try:
                return await self._kernel.ask(KIND, id, origin, self.together(changed, origin, carried, known))
            except RejectedError as error:
                if changed.change is None or not await self._is_outdated(id, origin, changed.change):
                    raise error
        raise RejectedError(
            Rejection("blocked", "extend", "runbook", id_text(id), "its plan kept changing", "Try again.")
        )

    async def changed(self, aggregate: Aggregate, command: Any, decision: Decide | None, brought: Attachments) -> Any:
        """The command with what a decision does to the plan as it is now."""
        if decision is None or not decision.changes_anything:
            return command
        change = await self._conductor.decisions.change(aggregate, decision, brought)
        return msgspec.structs.replace(command, change=change)

    async def foresee(self, aggregate: Aggregate, step: int) -> Known:
        try:
            return await self._conductor.launcher.foresee(aggregate, step)
        except RejectedError:
            return Known()  # its data was erased meanwhile

    def together(self, command: Any, origin: Origin, brought: Attachments, known: Known) -> Any:
        """Prepares a command with the launches of whatever it makes ready."""

        def prepare(current: Aggregate) -> Prepared:
            return self._conductor.launcher.together(current.id, current.state, command, origin, brought, known)

        return prepare


def index_of(case: str, now: Micros) -> list[IndexRow]:
    """What a runbook of several steps is found by: its case, and when it began among those of its case."""
    return [IndexRow(RUNBOOKS, CASE, case), IndexRow(CASES, case, f"{now:016x}")] if case else []


def request_of(plan: Plan, case: str) -> bytes:
    return digest(b"runbook\0" + plan_hash(plan) + case.encode())


def step_number(aggregate: Aggregate, step: str | int) -> int:
    """A step by its name or number; of several of one name the last."""
    state = aggregate.state
    text = str(step)
    names = numbers_of(state) if state.course is not None else {}
    if text in names:
        return names[text][-1]
    if text.isdecimal() and 1 <= int(text) <= len(state.steps):
        return int(text)
    course_of(state)
    raise RejectedError(
        Rejection("not_found", "find", "step", text, f"runbook {id_text(aggregate.id)} has no such step")
    )
