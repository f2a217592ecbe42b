"""Runbooks: planned, started, watched, steered; the same operations for people, programs and agents."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from perdure.app.calls.outcome_wait import as_of, follow, is_ended, read, wait_for
from perdure.app.calls.views import EventView
from perdure.app.lists.cursors import check_state
from perdure.app.processes.processes import Views
from perdure.app.runbooks.paged_scan import walk_case, walk_plans
from perdure.app.runbooks.proposals import proposal_of
from perdure.app.runbooks.views import (
    PlanDiff,
    PlanView,
    RunbookView,
    StepView,
    brief,
    detailed,
    name_of,
    plan_view,
    runbook_view,
    step_view,
)
from perdure.app.runtime import Runtime
from perdure.contracts import check_key
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import canonical, digest
from perdure.runbooks.executor.call_executor import KIND, SETTLED, keyed_id
from perdure.runbooks.executor.plan_cache import AbsentError
from perdure.runbooks.executor.plan_executor import index_of, step_number
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.state import Runbook, RunbookState, links_of
from perdure.runbooks.plan import Plan, StepPlan
from perdure.sources import Id, id_text, iso, parse_id

Form = Literal["auto", "lisp", "let"]


class RunbookOperations:
    """Plans of several verbs. Reached as `perdure.runbooks`; a step is named by its name or its number."""

    def __init__(self, runtime: Runtime, origin: Origin, views: Views) -> None:
        self._runtime = runtime
        self._conductor = runtime.conductor
        self._origin = origin
        self._views = views

    # --- before it runs ------------------------------------------------------------------------------------------

    def compile(
        self,
        program: str,
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        after: Plan | None = None,
        file: str = "",
    ) -> Plan:
        """The plan of a program; ProgramError with everything that is wrong with it, and in which file."""
        from perdure.runbooks.language import compile_program  # noqa: PLC0415  only who compiles needs it

        named = {"file": file} if file else {}
        return compile_program(
            program, self._runtime.catalogue, form=form, variables=variables or {}, after=after, **named
        )

    def plan(self, program: str | Plan, *, variables: Mapping[str, Any] | None = None, form: Form = "auto") -> PlanView:
        """What a program would do, without doing any of it: steps in sentences, waves, writes, locks and tier."""
        from perdure.runbooks.language import dry_run  # noqa: PLC0415  only who compiles needs it

        plan = program if isinstance(program, Plan) else self.compile(program, variables=variables, form=form)
        return plan_view(plan, dry_run(plan, self._runtime.catalogue))

    async def start(
        self,
        program: str | Plan,
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        case: str = "",
        idempotency_key: str = "",
        confirmation: str = "",
        wait: bool = False,
        sealed: bool = True,
        timeout_seconds: float | None = None,
    ) -> RunbookView:
        """Run a program. Returns when its start is durable; with `wait`, when it has ended or come to rest.

        A `confirmation` is the hash of the plan that somebody agreed to: another plan is refused. A runbook that is not
        `sealed` can be extended for ever and completes only after it was sealed.
        """
        plan = program if isinstance(program, Plan) else self.compile(program, variables=variables, form=form)
        if confirmation and confirmation != plan.content_hash:
            fact, hint = "the plan is not the one that was confirmed", "Look at the plan again and confirm it."
            raise RejectedError(Rejection("blocked", "start", "runbook", plan.content_hash, fact, hint))
        if idempotency_key and (known := await self._conductor.plans.replay(plan, case, self._origin, idempotency_key)):
            return await self._view(known)
        id = keyed_id(self._origin.tenant, idempotency_key) if idempotency_key else self._runtime.sources.new_id()
        aggregate = await self._conductor.plans.start(
            plan, self._origin, id, case=case, is_sealed=sealed, idempotency_key=idempotency_key
        )
        return await self._settled(aggregate, wait, timeout_seconds)

    async def _settled(self, aggregate: Aggregate, wait: bool, timeout_seconds: float | None = None) -> RunbookView:
        if wait and aggregate.state.status not in SETTLED:
            aggregate = await wait_for(self._runtime, self._origin, aggregate.id, False, timeout_seconds, aggregate)
        return await self._view(aggregate)

    # --- looking -------------------------------------------------------------------------------------------------

    async def rest(self, id: str, timeout_seconds: float | None = None) -> RunbookView:
        """Once it has gone as far as it goes by itself, or the time is up; it goes on without us."""
        return await self._view(await wait_for(self._runtime, self._origin, parse_id(id), False, timeout_seconds))

    async def has(self, id: str) -> bool:
        """Whether an id is that of a plan or a draft, rather than of one call."""
        state: Runbook = (await read(self._runtime, self._origin, id)).state
        return state.course is not None or state.draft is not None

    async def show(self, id: str, *, at: int | None = None) -> RunbookView:
        """A runbook as it is, or as it was after that many records of its journal."""
        aggregate = await self._read(id)
        return await self._view(aggregate if at is None else await as_of(self._runtime, aggregate, at))

    async def list(
        self, *, case: str = "", state: str = "", limit: int = 100, after: str = ""
    ) -> builtins.list[RunbookView]:
        """Runbooks, newest first, of a case or of all; `after` is the id of the last one seen. Steps are left out."""
        check_state(state, get_args(RunbookState))
        found: builtins.list[RunbookView] = []
        async for id in self._walk(case, state, after):
            try:
                aggregate = await self._runtime.kernel.read(id, self._origin)
            except (QuarantinedError, RejectedError):
                continue  # `audit verify` and `incidents` tell of those
            if not state or aggregate.state.status == state:
                found.append(await self._view(aggregate, is_brief=True))
            if len(found) >= limit:
                break
        return found

    def _walk(self, case: str, state: str = "", after: str = "") -> AsyncIterator[Id]:
        lists, tenant, last = self._runtime.store.lists, self._origin.tenant, parse_id(after) if after else None
        return walk_case(lists, tenant, case, last) if case else walk_plans(lists, tenant, state, last)

    async def wait(self, id: str, timeout_seconds: float | None = None) -> RunbookView:
        """Until it has ended, or the time is up."""
        aggregate = await self._read(id)
        return await self._view(
            await wait_for(self._runtime, self._origin, aggregate.id, True, timeout_seconds, aggregate)
        )

    async def progress(self, id: str, *, detailed: bool = False) -> str:
        """How far it has come: a line, or a line for each step."""
        view = await self.show(id)
        return _detailed(view.steps) if detailed else view.progress

    def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """Its journal, oldest first; with `follow`, what is still to come as well until it ends."""
        return _follow(self._runtime, self._origin, id, after, follow)

    async def diff(self, id: str, *, at: int, to: int | None = None) -> PlanDiff:
        """What became of its plan between two records, the later one now unless it is named."""
        aggregate = await self._read(id)
        before = await as_of(self._runtime, aggregate, at)
        now = aggregate if to is None else await as_of(self._runtime, aggregate, to)
        return _diff(before, now)

    # --- steering ------------------------------------------------------------------------------------------------

    async def extend(
        self,
        id: str,
        program: str | Callable[[Plan], Plan],
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        edges: Sequence[tuple[str, str]] = (),
        file: str = "",
    ) -> RunbookView:
        """Add steps behind those there are. `edges` let a step that has not begun come after another.

        Instead of a program, a function may give the longer plan for the one there is; what it raises is raised here.
        """

        def grow(before: Plan) -> Plan:
            if callable(program):
                return program(before)
            return self.compile(program, variables=variables, form=form, after=before, file=file)

        aggregate = await self._conductor.plans.extend(parse_id(id), self._origin, grow, edges)
        return await self._view(aggregate)

    async def seal(self, id: str) -> RunbookView:
        """No more steps will come."""
        return await self._ask(id, c.SealRunbook())

    async def retry(self, id: str, step: str | int, reason: str = "") -> RunbookView:
        """Begin a failed step anew, or try again what an incident stopped."""
        aggregate = await self._read(id)
        number = step_number(aggregate, step)
        if aggregate.state.steps[number - 1].incident is not None:
            return await self._ask(id, c.RetryIncident(number, self._runtime.lease.number))
        return await self._ask(id, c.RetryStep(number, reason))

    async def skip(self, id: str, step: str | int, reason: str) -> RunbookView:
        """Go on without a step; what needs its result is skipped as well."""
        return await self._ask(id, c.SkipStep(step_number(await self._read(id), step), reason))

    async def cancel(self, id: str, reason: str = "", *, step: str | int = "", compensate: bool = False) -> RunbookView:
        """Stop a runbook, or one step of it. Nothing is taken back unless `compensate` says so."""
        number = step_number(await self._read(id), step) if step else 0
        return await self._ask(id, c.Cancel(reason, number, compensate and not number))

    async def compensate(self, id: str, reason: str = "") -> RunbookView:
        """Take back what an ended runbook did, the last first."""
        return await self._ask(id, c.Compensate(reason))

    async def cancel_case(
        self, case: str, reason: str = "", *, allow: Callable[[builtins.list[str]], None] | None = None
    ) -> builtins.list[RunbookView]:
        """Stop every runbook of a case, with whatever its steps wait for.

        `allow` is asked about the verbs of each before any of them is stopped; it raises to refuse.
        """
        check_key("cancel", "case", case)
        running = [each async for each in self._running(case)]
        if allow is not None:
            for _, verbs in running:
                allow(verbs)
        cancelled: builtins.list[RunbookView] = []
        for id, _ in running:
            try:
                cancelled.append(await self._ask(id_text(id), c.Cancel(reason)))
            except RejectedError as error:
                if error.rejection.code != "wrong_state":
                    raise
        return cancelled

    async def _running(self, case: str) -> AsyncIterator[tuple[Id, builtins.list[str]]]:
        """The runbooks of a case that have not ended, with the verbs of their steps."""
        async for id in self._walk(case):
            aggregate = await self._runtime.kernel.read(id, self._origin)
            if not is_ended(aggregate):
                yield id, [step.verb for step in aggregate.state.steps]

    async def verb(self, id: str, step: str | int) -> str:
        """The verb of a step, found as every act on a step finds it."""
        aggregate = await self._read(id)
        return str(aggregate.state.steps[step_number(aggregate, step) - 1].verb)

    async def answer(self, id: str, step: str | int, agree: bool, *, reason: str = "") -> RunbookView:
        """Agree, or refuse, that a step with a gate runs, as a member of its group (see `acting`)."""
        number = step_number(await self._read(id), step)
        return await self._ask(id, c.AnswerGate(number, agree, reason))

    # --- drafts --------------------------------------------------------------------------------------------------

    async def open_draft(self, document: Any, *, case: str = "") -> str:
        """Begin to write a runbook; the id stays when it is started."""
        if case:
            check_key("draft a runbook for", "case", case)
        id = self._runtime.sources.new_id()
        hash, data = _document(document)
        brought = Attachments(payloads=[(hash, data)], index=index_of(case, self._conductor.now()), is_plan=True)
        await self._runtime.kernel.start(KIND, id, self._origin, Prepared(c.OpenDraft(hash, case), brought))
        return id_text(id)

    async def draft(self, id: str) -> Any:
        """The document of a draft as it reads now."""
        aggregate = await self._read_any(id)
        draft = aggregate.state.draft
        if draft is None:
            raise RejectedError(Rejection("wrong_state", "read the draft of", "runbook", id, "it was never a draft"))
        data = await self._runtime.store.payload(aggregate.id, draft.revisions[draft.current - 1])
        return msgspec.json.decode(data) if data is not None else None

    async def revise(self, id: str, document: Any, change: str = "") -> Any:
        """The draft reads differently now; `change` says how, in words."""
        hash, data = _document(document)
        return await self._revise(id, c.ReviseDraft(hash, change), Attachments(payloads=[(hash, data)]))

    async def undo(self, id: str) -> Any:
        """Back to how the draft read before; returns that."""
        return await self._revise(id, c.UndoRevision())

    async def redo(self, id: str) -> Any:
        """Forward to what was undone; returns that."""
        return await self._revise(id, c.RedoRevision())

    async def start_draft(
        self, id: str, program: str | Plan, *, variables: Mapping[str, Any] | None = None, sealed: bool = True,
        wait: bool = False,
    ) -> RunbookView:  # fmt: skip
        """Run a draft as the plan it was made into; its id and its history stay."""
        plan = program if isinstance(program, Plan) else self.compile(program, variables=variables)
        aggregate = await self._conductor.plans.start(plan, self._origin, parse_id(id), is_sealed=sealed, is_draft=True)
        return await self._settled(aggregate, wait)

    async def _revise(self, id: str, command: c.Command, brought: Attachments | None = None) -> Any:
        await self._runtime.kernel.ask(KIND, parse_id(id), self._origin, Prepared(command, brought))
        return await self.draft(id)

    # --- inside --------------------------------------------------------------------------------------------------

    async def _ask(self, id: str, command: c.Command) -> RunbookView:
        answer = await self._runtime.kernel.ask(KIND, parse_id(id), self._origin, Prepared(command))
        assert answer.aggregate is not None
        return await self._view(answer.aggregate)

    async def _read_any(self, id: str) -> Aggregate:
        return await read(self._runtime, self._origin, id)

    async def _read(self, id: str) -> Aggregate:
        aggregate = await self._read_any(id)
        if aggregate.state.course is None and aggregate.state.draft is None:
            fact, hint = "that is the id of a single call", "Use `status`."
            raise RejectedError(Rejection("not_found", "find", "runbook", id, fact, hint))
        return aggregate

    async def _view(self, aggregate: Aggregate, *, is_brief: bool = False) -> RunbookView:
        state: Runbook = aggregate.state
        if state.course is None:
            case = state.draft.case if state.draft is not None else ""
            return _drafted(aggregate, case)
        steps = [await self._step(aggregate, number) for number in range(1, len(state.steps) + 1)]
        pack = None
        if state.course.fragments and not state.erased_at:
            pack = (await self._conductor.documents.whole(aggregate, state.course.fragments[0].document)).pack
        view = runbook_view(aggregate, state.course, steps, pack)
        return msgspec.structs.replace(view, steps=[]) if is_brief else view

    async def _step(self, aggregate: Aggregate, number: int) -> StepView:
        step = aggregate.state.steps[number - 1]
        is_erased = bool(aggregate.state.erased_at)
        plan = None if is_erased else await self._plan(aggregate, number)
        args = await self._value(aggregate, step.input or None)
        result = await self._value(aggregate, step.result)
        carrier = await self._views.carrier(aggregate, number, step.carrier) if step.carrier is not None else None
        proposal = await proposal_of(self._runtime.store, aggregate, step)
        view = step_view(aggregate, number, plan, args, result, carrier, proposal)
        verb = self._runtime.catalogue.find(step.verb, step.version) if step.verb and args is not None else None
        return view if verb is None else msgspec.structs.replace(view, sentence=verb.sentence(args) or view.sentence)

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


_detailed = detailed
_follow = follow


def _document(document: Any) -> tuple[bytes, bytes]:
    data = canonical(msgspec.to_builtins(document))
    return digest(data), data


def _drafted(aggregate: Aggregate, case: str) -> RunbookView:
    state: Runbook = aggregate.state
    return RunbookView(
        id_text(aggregate.id), state.status, case, [], brief([]), "", 0, aggregate.version, False,
        iso(state.started_at), iso(state.ended_at or None), aggregate.tenant, state.principal,
    )  # fmt: skip


def _diff(before: Aggregate, now: Aggregate) -> PlanDiff:
    old, new = before.state, now.state
    known = len(old.steps)
    edges: builtins.list[tuple[str, str]] = []
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
