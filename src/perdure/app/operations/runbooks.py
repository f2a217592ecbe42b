"""Operations on runbooks: list, plan, start, show, extend, seal, stop and compensate them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Literal, get_args

import msgspec
from msgspec import field
from msgspec.structs import replace

from perdure.app.access.redaction import redacted
from perdure.app.calls.call_journal import as_of
from perdure.app.calls.outcome_wait import is_ended, wait_for
from perdure.app.lists.cursors import Page, check_state
from perdure.app.lists.list_rows import RunbookRow
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import (
    After,
    ById,
    Data,
    Goal,
    Id,
    Limit,
    Name,
    Patience,
    Query,
    Seen,
    Sequence,
    State,
    Step,
    Whole,
    Word,
    waited,
)
from perdure.app.operations.verb_scopes import DISCOVERED, EVERY_VERB_OF_ID, NO_VERB, REDACTED, VERBS_OF_STEP
from perdure.app.runbooks.confirmation import confirmed_hash
from perdure.app.runbooks.plan_composition import (
    Composition,
    Form,
    composed,
    extend,
    extension_of,
    show_extension,
    shown,
)
from perdure.app.runbooks.plan_start_checks import check_agreed, check_extension, check_verbs
from perdure.app.runbooks.runbook_scan import walk_case, walk_plans
from perdure.app.runbooks.step_human_tasks import unseen_tasks
from perdure.app.runbooks.step_retry import confirm_retry
from perdure.app.runbooks.timeline import Timeline, timeline_of
from perdure.app.runbooks.view_builder import plan_diff
from perdure.app.runbooks.views import PlanDiff, PlanView, RunbookView, detailed
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.kernel.kernel import Aggregate
from perdure.overrides import Guard
from perdure.runbooks.executor.plan_executor import step_number
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.state import RunbookState
from perdure.runbooks.plan import Reevaluate
from perdure.sources import Id as RecordId
from perdure.sources import id_text, parse_id

TAG, STEPS = "runbooks", "steps"


class Composed(Request, frozen=True):
    """A runbook as a `program`, or as `calls` in JSON. `reevaluate: always` asks its last decision at every resume."""

    program: str = ""
    calls: list[dict[str, Any]] | None = None
    variables: Data = field(default_factory=dict)
    form: Form = "auto"
    reevaluate: Reevaluate = "decisions"

    def composition(self) -> Composition:
        return Composition(self.program, self.calls, self.variables, self.form, self.reevaluate)


class ListRunbooks(Request, frozen=True):
    """Which runbooks: of a case, in a state, or by words."""

    state: State = ""
    case: Word = ""
    q: Query = ""
    kind: Literal["runbooks", "calls", "all"] = "runbooks"
    limit: Limit = 50
    after: After = None
    whole: Whole = False


class StartRunbook(Composed, frozen=True):
    """A runbook to run. `confirm` is the hash of the plan a person agreed to; `sealed: false` lets steps be added."""

    case: str = ""
    confirm: str = ""
    phrase: str = ""
    wait: bool = False
    timeout_seconds: float | None = None
    sealed: bool = True


class ShowRunbook(Request, frozen=True):
    """A runbook, now or after a record of its journal, and how far it is to come before it is shown."""

    id: Id
    at: Sequence = None
    until: Goal = ""
    timeout_seconds: Patience = 10.0


class ShowProgress(Request, frozen=True):
    """A runbook, and whether every step gets a line."""

    id: Id
    detailed: bool = False


class ShowDiff(Request, frozen=True):
    """A runbook, and the two records that are compared."""

    id: Id
    at: Sequence = 1
    to: Sequence = None


class PlanExtension(Composed, frozen=True, kw_only=True):
    """Steps that would be added to a runbook."""

    id: Id


class ExtendRunbook(Composed, frozen=True, kw_only=True):
    """Steps to add. `edges` are pairs: the first comes after the second."""

    id: Id
    edges: list[tuple[str, str]] = field(default_factory=list)
    confirm: str = ""
    phrase: str = ""


class CancelRunbook(Request, frozen=True):
    """Why a runbook is stopped; `compensate` takes back its completed steps."""

    id: Id
    reason: str = ""
    compensate: bool = False


class CompensateRunbook(Request, frozen=True):
    """Why a runbook is taken back; the journal keeps it."""

    id: Id
    reason: str = ""


class CancelCase(Request, frozen=True):
    """Why every runbook of a case is stopped; the journal keeps it."""

    case: Name
    reason: str = ""


class StepReason(Request, frozen=True):
    """A step, and why it is acted on; the journal keeps it."""

    id: Id
    step: Step
    reason: str = ""


class RetryStep(StepReason, frozen=True):
    """A step to try again, and why. A step of a grave verb is confirmed as a call of its verb is."""

    confirm: str = ""
    phrase: str = ""


class SkipStep(Request, frozen=True):
    """Why a step is left out; the journal keeps it, and this act needs a reason."""

    id: Id
    step: Step
    reason: str


class AnswerGate(Request, frozen=True):
    """Whether a step may run."""

    id: Id
    step: Step
    agree: bool
    reason: str = ""
    seen: Seen = ""


class Progress(msgspec.Struct, frozen=True):
    """How far a runbook has come, in words."""

    text: str


class Runbooks(msgspec.Struct, frozen=True):
    """The runbooks that an act on many of them changed."""

    items: list[RunbookView]


@operation("runbook.list", Route("GET", "/runbooks"), tag=TAG, scope=REDACTED)
async def list_runbooks(context: Context, request: ListRunbooks) -> Page[RunbookRow] | Page[RunbookView]:
    """Runbooks, newest first. `q` is the beginning of an id, a case or an indexed value.

    A key sees those of whose steps it reaches every verb.
    """
    if not request.whole:
        return await context.lists.runbooks(request)
    state, case, limit, after = request.state, request.case, request.limit, request.after
    if request.q or request.kind != "runbooks":
        fact, hint = "they are neither searched nor mixed with calls", "Leave out whole, or q and kind."
        raise RejectedError(Rejection("invalid", "list", "runbooks", "whole", fact, hint))
    check_state(state, get_args(RunbookState))
    await context.runtime.store.set_aside.refresh()
    found: list[RunbookView] = []
    async for id in _ids(context, case, state, after or ""):
        try:
            aggregate = await context.runtime.kernel.read(id, context.origin)
        except QuarantinedError as error:
            found += [] if context.is_narrow else [context.runbook_views.damaged(id, error)]
        except RejectedError:
            continue  # gone since
        else:
            if (not state or aggregate.state.status == state) and await _is_reached(context, aggregate):
                found.append(await _in_list(context, await context.runbook_views.view(aggregate, is_brief=True)))
        if len(found) >= limit:
            break
    return Page(found, found[-1].id if len(found) == limit else None)


def _ids(context: Context, case: str, state: str = "", after: str = "") -> AsyncIterator[RecordId]:
    lists, tenant, last = context.runtime.store.lists, context.origin.tenant, parse_id(after) if after else None
    return walk_case(lists, tenant, case, last) if case else walk_plans(lists, tenant, state, last)


async def _is_reached(context: Context, aggregate: Aggregate) -> bool:
    return not context.is_narrow or context.reaches(await context.perdure.data_verbs.of(aggregate))


async def _in_list(context: Context, view: RunbookView) -> RunbookView:
    """A view without steps, and without words about processes that the key does not reach."""
    if not context.is_narrow or context.reaches(await context.perdure.data_verbs.inside_id(view.id)):
        return view
    return replace(view, progress="")


@operation(
    "runbook.plan",
    Route("POST", "/runbooks/plan", needs_body=True),
    tag=TAG,
    scope=NO_VERB,
    repeat="domain",
    computes=True,
)
async def plan_runbook(context: Context, request: Composed) -> PlanView:
    """What it would do, without doing any of it: steps in sentences, waves, writes, locks and tier."""
    return await shown(context.perdure, await composed(context.perdure, request.composition()))


@operation(
    "runbook.start",
    Route("POST", "/runbooks", 201, location="/api/runbooks/", needs_body=True),
    tag=TAG,
    scope=DISCOVERED,
    repeat="domain",
)
async def start_runbook(context: Context, request: StartRunbook) -> RunbookView:
    """Run it. Answers when its start is durable; with `wait`, when it has ended or come to rest."""
    perdure, principal, what = context.perdure, context.principal, request.composition()
    plan = await composed(perdure, what)
    check_verbs(principal, "runbook.start", plan)
    view = await shown(perdure, plan)
    started = await check_agreed(context, view, request.confirm, request.phrase, what=what, case=request.case)
    if started is not None:
        return started
    return await perdure.runbooks.start(
        plan,
        case=request.case,
        idempotency_key=context.idempotency_key,
        confirmation=confirmed_hash(request.confirm),
        wait=request.wait,
        sealed=request.sealed,
        timeout_seconds=waited(request.timeout_seconds),
    )


@operation("runbook.read", Route("GET", "/runbooks/{id}"), tag=TAG, scope=REDACTED)
async def show_runbook(context: Context, request: ShowRunbook) -> RunbookView:
    """A runbook as it is, or as it was after that many records of its journal.

    With `until` the answer comes once it has come so far, or the time is up. What a step is about is told to those
    whose key reaches its verb; its journal, timeline, progress and diff to those whose key reaches every verb in it.
    """
    runtime, views, is_end = context.runtime, context.runbook_views, request.until == "end"
    if request.until:
        with suppress(QuarantinedError):  # it is shown as it is
            known = await views.read(request.id)
            await wait_for(runtime, context.origin, known.id, is_end, request.timeout_seconds, known)
    if request.at is not None:
        return await views.view(await as_of(runtime, await views.read(request.id), request.at))
    await runtime.store.set_aside.refresh()
    return await views.shown(request.id)


@operation("runbook.read", Route("GET", "/runbooks/{id}/progress"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def show_progress(context: Context, request: ShowProgress) -> Progress:
    """How far it has come: a line, or a line for each step."""
    view = await context.runbook_views.view(await context.runbook_views.read(request.id))
    return Progress(detailed(view.steps) if request.detailed else view.progress)


@operation("runbook.read", Route("GET", "/runbooks/{id}/diff"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def show_diff(context: Context, request: ShowDiff) -> PlanDiff:
    """What became of its plan between two records, the later one now unless it is named."""
    aggregate = await context.runbook_views.read(request.id)
    before = await as_of(context.runtime, aggregate, 1 if request.at is None else request.at)
    now = aggregate if request.to is None else await as_of(context.runtime, aggregate, request.to)
    return plan_diff(before, now)


@operation("runbook.read", Route("GET", "/runbooks/{id}/timeline"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def show_timeline(context: Context, request: ById) -> Timeline:
    """When each step ran, waited and ended."""
    return await timeline_of(context.perdure, request.id)


@operation(
    "runbook.plan",
    Route("POST", "/runbooks/{id}/extend/plan", needs_body=True),
    tag=TAG,
    scope=EVERY_VERB_OF_ID,
    repeat="domain",
    computes=True,
)
async def plan_extension(context: Context, request: PlanExtension) -> PlanView:
    """What would be added to a runbook, without adding it; `plan_hash` is that of the whole, to confirm with."""
    extension = await extension_of(context.perdure, request.id, request.composition())
    return await show_extension(context.perdure, extension)


@operation(
    "runbook.extend",
    Route("POST", "/runbooks/{id}/extend", needs_body=True),
    tag=TAG,
    scope=EVERY_VERB_OF_ID,
    guard=True,
)
async def extend_runbook(context: Context, request: ExtendRunbook) -> RunbookView:
    """Add steps behind those there are; they may refer to those."""
    perdure, what = context.perdure, request.composition()
    extension = await extension_of(perdure, request.id, what)
    check_verbs(context.principal, "runbook.extend", extension.added)
    await check_extension(context, extension, request.confirm, request.phrase)
    looked_at = confirmed_hash(request.confirm) or extension.whole.content_hash
    return await extend(perdure, request.id, what, extension, looked_at, request.edges)


@operation("runbook.seal", Route("POST", "/runbooks/{id}/seal"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def seal_runbook(context: Context, request: ById) -> RunbookView:
    """No more steps will come."""
    return await context.runbook_views.ask(request.id, c.SealRunbook())


@operation("runbook.cancel", Route("POST", "/runbooks/{id}/cancel"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def cancel_runbook(context: Context, request: CancelRunbook) -> RunbookView:
    """Stop a runbook. Nothing is taken back unless `compensate` says so."""
    if request.compensate:
        context.check("runbook.compensate")
    return await context.runbook_views.ask(request.id, c.Cancel(request.reason, 0, request.compensate))


@operation(
    "runbook.compensate", Route("POST", "/runbooks/{id}/compensate"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True
)
async def compensate_runbook(context: Context, request: CompensateRunbook) -> RunbookView:
    """Take back what an ended runbook did, the last first."""
    return await context.runbook_views.ask(request.id, c.Compensate(request.reason))


@operation("case.cancel", Route("POST", "/cases/{case}/cancel"), tag="cases", scope=DISCOVERED)
async def cancel_case(context: Context, request: CancelCase) -> Runbooks:
    """Stop every runbook of a case, with whatever its steps wait for; none, when one of them may not be stopped."""
    check_key("cancel", "case", request.case)
    running: list[RecordId] = []
    async for id in _ids(context, request.case):
        aggregate = await context.runtime.kernel.read(id, context.origin)
        if not is_ended(aggregate):
            running.append(id)
            if context.is_narrow:
                context.check_all("case.cancel", await context.perdure.data_verbs.of(aggregate))
    cancelled: list[RunbookView] = []
    for id in running:
        try:
            cancelled.append(await context.runbook_views.ask(id_text(id), c.Cancel(request.reason)))
        except RejectedError as error:
            if error.rejection.code != "wrong_state":
                raise
    return Runbooks([await redacted(context.perdure.data_verbs, context.principal, each) for each in cancelled])


@operation(
    "runbook.retry", Route("POST", "/runbooks/{id}/steps/{step}/retry"), tag=STEPS, scope=VERBS_OF_STEP, guard=True
)
async def retry_step(context: Context, request: RetryStep) -> RunbookView:
    """Begin a failed step anew, or try again what an incident stopped.

    A step of a grave verb is confirmed as a call of its verb is.
    """
    aggregate = await context.runbook_views.read(request.id)
    number = step_number(aggregate, request.step)
    await confirm_retry(context, aggregate, number, request.confirm, request.phrase)
    if aggregate.state.steps[number - 1].incident is not None:
        return await context.runbook_views.ask(request.id, c.RetryIncident(number, context.runtime.lease.number))
    return await context.runbook_views.ask(request.id, c.RetryStep(number, request.reason))


@operation(
    "runbook.skip", Route("POST", "/runbooks/{id}/steps/{step}/skip"), tag=STEPS, scope=VERBS_OF_STEP, guard=True
)
async def skip_step(context: Context, request: SkipStep) -> RunbookView:
    """Go on without a step; what needs its result is skipped as well."""
    number, unseen = await _step(context, request)
    return await context.runbook_views.ask(request.id, c.SkipStep(number, request.reason, unseen))


@operation(
    "runbook.cancel", Route("POST", "/runbooks/{id}/steps/{step}/cancel"), tag=STEPS, scope=VERBS_OF_STEP, guard=True
)
async def cancel_step(context: Context, request: StepReason) -> RunbookView:
    """Stop one step."""
    number, unseen = await _step(context, request)
    return await context.runbook_views.ask(request.id, c.Cancel(request.reason, number, unseen=unseen))


@operation(
    "runbook.answer", Route("POST", "/runbooks/{id}/steps/{step}/answer"), tag=STEPS, scope=VERBS_OF_STEP, guard=True
)
async def answer_gate(context: Context, request: AnswerGate) -> RunbookView:
    """Agree, or refuse, that a step with a gate runs, as a member of its group."""
    aggregate = await context.runbook_views.read(request.id)
    number = step_number(aggregate, request.step)
    documents = await context.runtime.conductor.launcher.documents_at(aggregate, number)
    answer = c.AnswerGate(number, request.agree, request.reason, request.seen, documents)
    return await context.runbook_views.ask(request.id, answer)


async def _step(context: Context, request: StepReason | SkipStep) -> tuple[int, tuple[Guard, ...]]:
    """The number of a step, and its tasks that the runbook does not know of."""
    aggregate = await context.runbook_views.read(request.id)
    number = step_number(aggregate, request.step)
    return number, await unseen_tasks(context, aggregate, number)
