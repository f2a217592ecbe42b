"""Operations on runbooks: list, plan, start, show, extend, seal, stop and compensate them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import field
from msgspec.structs import replace

from perdure.access.principal import EVERY_VERB
from perdure.app.access.redaction import may_read
from perdure.app.lists.cursors import Page
from perdure.app.lists.views import RunbookRow
from perdure.app.operations.fields import (
    After,
    Data,
    Goal,
    Id,
    Limit,
    Name,
    Patience,
    Query,
    Sequence,
    State,
    Step,
    Whole,
    Word,
    waited,
)
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.scopes import DISCOVERED, EVERY_VERB_OF_ID, NO_VERB, REDACTED, VERB_OF_STEP
from perdure.app.runbooks.agreement import check_agreed, check_extension, check_verbs
from perdure.app.runbooks.composition import Composition, Form, extend, extension_of, plan_of, show_extension
from perdure.app.runbooks.timeline import Timeline, timeline_of
from perdure.app.runbooks.views import PlanDiff, PlanView, RunbookView
from perdure.errors import RejectedError, Rejection

TAG, STEPS = "runbooks", "steps"


class Composed(Request, frozen=True):
    """A runbook as a `program`, or as `calls` in JSON."""

    program: str = ""
    calls: list[dict[str, Any]] | None = None
    variables: Data = field(default_factory=dict)
    form: Form = "auto"

    def composition(self) -> Composition:
        return Composition(self.program, self.calls, self.variables, self.form)


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


class RunbookId(Request, frozen=True):
    """A runbook."""

    id: Id


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


class Progress(msgspec.Struct, frozen=True):
    """How far a runbook has come, in words."""

    text: str


class Runbooks(msgspec.Struct, frozen=True):
    """The runbooks that an act on many of them changed."""

    items: list[RunbookView]


@operation("runbook.list", Route("GET", "/runbooks"), tag=TAG, scope=REDACTED)
async def list_runbooks(context: Context, request: ListRunbooks) -> Page[RunbookRow] | Page[RunbookView]:
    """Runbooks, newest first. `q` is the beginning of an id, a case or an indexed value.

    Of runbooks with verbs that a key does not reach it sees that they are there, and finds none by `q`.
    """
    state, case, limit, after = request.state, request.case, request.limit, request.after
    if not request.whole:
        listing = context.perdure.listing.seen_by(context.principal.verbs)
        return await listing.runbooks(state=state, case=case, q=request.q, kind=request.kind, limit=limit, after=after)
    if request.q or request.kind != "runbooks":
        fact, hint = "they are neither searched nor mixed with calls", "Leave out whole, or q and kind."
        raise RejectedError(Rejection("invalid", "list", "runbooks", "whole", fact, hint))
    found = await context.perdure.runbooks.list(case=case, state=state, limit=limit, after=after or "")
    shown = [await _in_list(context, each) for each in found]
    return Page(shown, found[-1].id if len(found) == limit else None)


async def _in_list(context: Context, view: RunbookView) -> RunbookView:
    """A view without steps, redacted by the verbs of the steps that were left out."""
    patterns = context.principal.verbs
    if patterns == EVERY_VERB or may_read(patterns, await context.perdure.waits.verbs_of(view.id)):
        return view
    return replace(view, progress="")


@operation("runbook.plan", Route("POST", "/runbooks/plan", needs_body=True), tag=TAG, scope=NO_VERB, repeat="domain")
async def plan_runbook(context: Context, request: Composed) -> PlanView:
    """What it would do, without doing any of it: steps in sentences, waves, writes, locks and tier."""
    return context.perdure.runbooks.plan(plan_of(context.perdure.catalogue, request.composition()))


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
    plan = plan_of(perdure.catalogue, what)
    check_verbs(principal, "runbook.start", plan)
    shown = perdure.runbooks.plan(plan)
    await check_agreed(perdure, shown, principal, request.confirm, request.phrase, what=what, case=request.case)
    return await perdure.runbooks.start(
        plan,
        case=request.case,
        idempotency_key=context.idempotency_key,
        confirmation=request.confirm,
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
    runbooks = context.perdure.runbooks
    if request.until:
        await (runbooks.wait if request.until == "end" else runbooks.rest)(request.id, request.timeout_seconds)
    return await runbooks.show(request.id, at=request.at)


@operation("runbook.read", Route("GET", "/runbooks/{id}/progress"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def show_progress(context: Context, request: ShowProgress) -> Progress:
    """How far it has come: a line, or a line for each step."""
    return Progress(await context.perdure.runbooks.progress(request.id, detailed=request.detailed))


@operation("runbook.read", Route("GET", "/runbooks/{id}/diff"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def show_diff(context: Context, request: ShowDiff) -> PlanDiff:
    """What became of its plan between two records, the later one now unless it is named."""
    return await context.perdure.runbooks.diff(request.id, at=request.at or 1, to=request.to)


@operation("runbook.read", Route("GET", "/runbooks/{id}/timeline"), tag=TAG, scope=EVERY_VERB_OF_ID)
async def show_timeline(context: Context, request: RunbookId) -> Timeline:
    """When each step ran, waited and ended."""
    return await timeline_of(context.perdure, request.id)


@operation(
    "runbook.plan",
    Route("POST", "/runbooks/{id}/extend/plan", needs_body=True),
    tag=TAG,
    scope=NO_VERB,
    repeat="domain",
)
async def plan_extension(context: Context, request: PlanExtension) -> PlanView:
    """What would be added to a runbook, without adding it; `plan_hash` is that of the whole, to confirm with."""
    extension = await extension_of(context.perdure, request.id, request.composition())
    return show_extension(context.perdure, extension)


@operation(
    "runbook.extend",
    Route("POST", "/runbooks/{id}/extend", needs_body=True),
    tag=TAG,
    scope=DISCOVERED,
    guard=True,
)
async def extend_runbook(context: Context, request: ExtendRunbook) -> RunbookView:
    """Add steps behind those there are; they may refer to those."""
    perdure, what = context.perdure, request.composition()
    extension = await extension_of(perdure, request.id, what)
    check_verbs(context.principal, "runbook.extend", extension.added)
    await check_extension(perdure, extension, context.principal, request.confirm, request.phrase)
    return await extend(perdure, request.id, what, extension.whole.content_hash, request.edges)


@operation("runbook.seal", Route("POST", "/runbooks/{id}/seal"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def seal_runbook(context: Context, request: RunbookId) -> RunbookView:
    """No more steps will come."""
    return await context.perdure.runbooks.seal(request.id)


@operation("runbook.cancel", Route("POST", "/runbooks/{id}/cancel"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True)
async def cancel_runbook(context: Context, request: CancelRunbook) -> RunbookView:
    """Stop a runbook. Nothing is taken back unless `compensate` says so."""
    if request.compensate:
        context.check("runbook.compensate")
    return await context.perdure.runbooks.cancel(request.id, request.reason, compensate=request.compensate)


@operation(
    "runbook.compensate", Route("POST", "/runbooks/{id}/compensate"), tag=TAG, scope=EVERY_VERB_OF_ID, guard=True
)
async def compensate_runbook(context: Context, request: CompensateRunbook) -> RunbookView:
    """Take back what an ended runbook did, the last first."""
    return await context.perdure.runbooks.compensate(request.id, request.reason)


@operation("case.cancel", Route("POST", "/cases/{case}/cancel"), tag="cases", scope=DISCOVERED)
async def cancel_case(context: Context, request: CancelCase) -> Runbooks:
    """Stop every runbook of a case, with whatever its steps wait for; none, when one of them may not be stopped."""

    def allow(verbs: list[str]) -> None:
        for verb in verbs:
            context.check("case.cancel", verb)

    return Runbooks(await context.perdure.runbooks.cancel_case(request.case, request.reason, allow=allow))


@operation(
    "runbook.retry", Route("POST", "/runbooks/{id}/steps/{step}/retry"), tag=STEPS, scope=VERB_OF_STEP, guard=True
)
async def retry_step(context: Context, request: StepReason) -> RunbookView:
    """Begin a failed step anew, or try again what an incident stopped."""
    return await context.perdure.runbooks.retry(request.id, request.step, request.reason)


@operation("runbook.skip", Route("POST", "/runbooks/{id}/steps/{step}/skip"), tag=STEPS, scope=VERB_OF_STEP, guard=True)
async def skip_step(context: Context, request: SkipStep) -> RunbookView:
    """Go on without a step; what needs its result is skipped as well."""
    return await context.perdure.runbooks.skip(request.id, request.step, request.reason)


@operation(
    "runbook.cancel", Route("POST", "/runbooks/{id}/steps/{step}/cancel"), tag=STEPS, scope=VERB_OF_STEP, guard=True
)
async def cancel_step(context: Context, request: StepReason) -> RunbookView:
    """Stop one step."""
    return await context.perdure.runbooks.cancel(request.id, request.reason, step=request.step)


@operation(
    "runbook.answer", Route("POST", "/runbooks/{id}/steps/{step}/answer"), tag=STEPS, scope=VERB_OF_STEP, guard=True
)
async def answer_gate(context: Context, request: AnswerGate) -> RunbookView:
    """Agree, or refuse, that a step with a gate runs, as a member of its group."""
    return await context.perdure.runbooks.answer(request.id, request.step, request.agree, reason=request.reason)
