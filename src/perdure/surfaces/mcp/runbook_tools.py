"""Tools about runbooks: write one down, see what it would do, run it, make it longer, stop it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from perdure.access.roles import check
from perdure.app.operations import runbooks as operations
from perdure.app.operations.drafts import (
    OpenDraft,
    ReplaceDraft,
    StartDraft,
    open_draft,
    replace_draft,
    start_draft,
)
from perdure.app.operations.runbooks import StepReason
from perdure.app.runbooks.confirmation import has_to_be_confirmed
from perdure.app.runbooks.drafts import compiled_draft
from perdure.app.runbooks.plan_composition import composed, shown
from perdure.app.runbooks.views import PlannedStepView, RunbookView
from perdure.runbooks.drafts.draft import Draft
from perdure.runbooks.plan import Plan
from perdure.surfaces.mcp.answer_truncation import IN_LISTS, fitted, short
from perdure.surfaces.mcp.confirmation import Confirmation, confirmed
from perdure.surfaces.mcp.plan_sources import (
    Calls,
    Case,
    DraftId,
    Program,
    Source,
    Variables,
    plan_of,
)
from perdure.surfaces.mcp.shared_schemas import (
    ASK_A_PERSON,
    REST_SECONDS,
    Agreement,
    IdempotencyKey,
    Phrase,
    Reason,
    RunbookId,
    WaitSeconds,
)
from perdure.surfaces.mcp.status_tools import RunbookStatus, brief_status
from perdure.surfaces.mcp.tool import Tool, ToolSession
from perdure.typed_reading import convert

STEPS_SHOWN = 30
ASK_TO_ADD = (
    "Nothing was added. Show the person the sentences and ask them to add the steps (`perdure runbook extend`); "
    "do not ask again yourself."
)
RunOutcome = Literal["completed", "waiting", "failed", "cancelled", "running", "needs_confirmation"]
FirstStep = Annotated[int, Meta(description="Show steps from this number on; 'more_steps' tells of others.", ge=1)]


class DraftRunbook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plan to keep."""

    program: Program = ""
    calls: Calls = []
    variables: Variables = {}
    case: Case = ""
    draft: Annotated[str, Meta(description="Rewrite this draft instead of beginning another.", max_length=80)] = ""
    idempotency_key: IdempotencyKey = ""


class PlanRunbook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plan to look at."""

    program: Program = ""
    calls: Calls = []
    variables: Variables = {}
    draft: DraftId = ""
    first_step: FirstStep = 1


class RunRunbook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plan to run."""

    program: Program = ""
    calls: Calls = []
    variables: Variables = {}
    draft: DraftId = ""
    case: Case = ""
    idempotency_key: IdempotencyKey = ""
    wait_seconds: WaitSeconds = 10
    confirm: Agreement = ""
    phrase: Phrase = ""


class ExtendRunbook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Steps to add."""

    id: RunbookId
    program: Program = ""
    calls: Calls = []
    variables: Variables = {}
    wait_seconds: WaitSeconds = 10
    confirm: Agreement = ""
    phrase: Phrase = ""


class CancelRunbook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to stop."""

    id: RunbookId
    reason: Reason
    step: Annotated[str, Meta(description="Only this step, by name or number.", max_length=200)] = ""
    is_compensating: Annotated[bool, Meta(description="Also take back what has completed, the last first.")] = False


class PlanAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a plan would do. Nothing of it was done."""

    plan_hash: str
    tier: str
    reason: str
    needs_confirmation: bool
    next: str
    step_count: int
    steps: list[PlannedStepView]
    more_steps: int = 0
    remarks: list[str] = []
    draft: str = ""


class RunAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of it so far, and what to do next."""

    outcome: RunOutcome
    next: str
    id: str = ""
    runbook: RunbookStatus | None = None
    confirmation: Confirmation | None = None


async def draft_runbook(desk: ToolSession, asked: DraftRunbook) -> PlanAnswer:
    """Keep a plan of several verbs as a draft that a person, or you, can look at, change and start later.

    Give a program or calls. What comes back is the plan in sentences with the draft's id. Everything wrong with it is
    told at once, each with where and how to mend it; nothing is kept then. Start it with run_runbook(draft=…), or, when
    'needs_confirmation' is true, ask a person to start it. Under one idempotency_key of yours it is one draft.
    """
    what = Source(asked.program, asked.calls, asked.variables).composition()
    await composed(desk.perdure, what)
    if asked.draft:
        change = "Rewritten by an agent"
        rewritten = ReplaceDraft(what.program, what.calls, what.variables, change=change, id=asked.draft)
        view = await desk.perform(replace_draft, rewritten)
    else:
        opened = OpenDraft(what.program, what.calls, what.variables, case=asked.case)
        view = await desk.perform(open_draft, opened, key=asked.idempotency_key)
    made = await compiled_draft(desk.perdure, convert(view.document, Draft))
    return await _planned(desk, made, 1, view.id)


async def plan_runbook(desk: ToolSession, asked: PlanRunbook) -> PlanAnswer:
    """See what a plan would do, without doing any of it: steps in sentences, order, waits, writes and how grave it is.

    Give a program, calls, or the id of a draft. Use it before run_runbook to check your work and to show a person what
    you are about to do. With 'needs_confirmation' true, run_runbook will not start it: a person has to.
    """
    desk.check("runbook.plan")
    if asked.draft:
        desk.check("draft.read")
    plan = await plan_of(desk, Source(asked.program, asked.calls, asked.variables, asked.draft))
    return await _planned(desk, plan, asked.first_step, asked.draft)


async def _planned(desk: ToolSession, plan: Plan, first: int, draft: str) -> PlanAnswer:
    view = await shown(desk.perdure, plan)
    is_grave = has_to_be_confirmed(view)
    told = view.steps[first - 1 : first - 1 + STEPS_SHOWN]
    next = ASK_A_PERSON if is_grave else "Run it with run_runbook."
    return PlanAnswer(
        plan.content_hash, view.tier, view.tier_reason, is_grave, next, len(view.steps),
        [_step(each) for each in told], max(0, len(view.steps) - (first - 1 + len(told))),
        [short(each) for each in view.remarks[:20]], draft,
    )  # fmt: skip


def _step(view: PlannedStepView) -> PlannedStepView:
    args = fitted(view.args, IN_LISTS, "Plan it again from this step alone.")
    writes = [short(each) for each in view.writes[:10]]
    return msgspec.structs.replace(view, sentence=short(view.sentence), args=args, writes=writes)


async def run_runbook(desk: ToolSession, asked: RunRunbook) -> RunAnswer:
    """Run a plan of several verbs: a program, calls, or a draft. Once this answers it is durable and goes on by itself.

    Give an idempotency_key that is yours for this request and repeat the request with it when in doubt: it runs once.
    Outcomes: 'completed'; 'waiting' for a person or system ('runbook.waiting' says for what; see pending_work and look
    again with runbook_status); 'running'; 'failed' ('runbook.failed' says why); 'needs_confirmation': nothing was
    started, the plan is kept as a draft. Show the person its sentences and ask them to start it; an agent cannot.
    """
    view = await confirmed(desk, _started(desk, asked), asked.confirm, asked.draft)
    if isinstance(view, Confirmation):
        return RunAnswer("needs_confirmation", ASK_A_PERSON, confirmation=view)
    return run_answer(await desk.redacted(await desk.perdure.runbooks.rest(view.id, asked.wait_seconds)))


async def _started(desk: ToolSession, asked: RunRunbook) -> RunbookView:
    if asked.draft:
        return await desk.perform(start_draft, StartDraft(asked.draft, asked.confirm, asked.phrase))
    what = Source(asked.program, asked.calls, asked.variables).composition()
    request = operations.StartRunbook(
        what.program, what.calls, what.variables, case=asked.case, confirm=asked.confirm, phrase=asked.phrase
    )
    return await desk.perform(operations.start_runbook, request, key=asked.idempotency_key)


async def extend_runbook(desk: ToolSession, asked: ExtendRunbook) -> RunAnswer:
    """Add steps behind those of a runbook that has not ended; they may refer to results of the steps there are.

    Give a program or calls. It fails when the runbook has ended: start another one then. Asked twice, it adds twice:
    look with runbook_status first when you are not sure that it arrived. With outcome 'needs_confirmation' nothing was
    added, because one of the new steps is grave: a person has to add it.
    """
    what = Source(asked.program, asked.calls, asked.variables).composition()
    if desk.is_narrow:
        desk.check_all("runbook.extend", await desk.perdure.data_verbs.of_id(asked.id))
    request = operations.ExtendRunbook(
        what.program, what.calls, what.variables, id=asked.id, confirm=asked.confirm, phrase=asked.phrase
    )
    view = await confirmed(desk, desk.perform(operations.extend_runbook, request), asked.confirm)
    if isinstance(view, Confirmation):
        return RunAnswer("needs_confirmation", ASK_TO_ADD, asked.id, confirmation=view)
    return run_answer(await desk.redacted(await desk.perdure.runbooks.rest(view.id, asked.wait_seconds)))


async def cancel_runbook(desk: ToolSession, asked: CancelRunbook) -> RunAnswer:
    """Stop a runbook, or one step of it. What was done stays done unless 'is_compensating' takes it back.

    It cannot be undone: be sure that the person wants it. The reason is kept.
    """
    if asked.step:
        for verb in await desk.perdure.data_verbs.of_id(asked.id):
            check(desk.principal, "runbook.cancel", verb=verb)
        await desk.perform(operations.cancel_step, StepReason(asked.id, asked.step, asked.reason))
    else:
        request = operations.CancelRunbook(asked.id, asked.reason, asked.is_compensating)
        await desk.perform(operations.cancel_runbook, request)
    return run_answer(await desk.redacted(await desk.perdure.runbooks.rest(asked.id, REST_SECONDS)))


_NEXT: dict[RunOutcome, str] = {
    "completed": "Done. Results of steps are in runbook_status with detail 'detailed'.",
    "waiting": "It goes on by itself once what it waits for is here. See pending_work for what you may answer.",
    "running": "Look again with runbook_status.",
    "failed": "See 'failed' for why. Nothing goes on by itself; list_incidents shows what can be tried again.",
    "cancelled": "It was stopped.",
}
_OUTCOMES: dict[str, RunOutcome] = {
    "completed": "completed", "failed": "failed", "cancelled": "cancelled", "parked": "waiting", "escalated": "waiting",
}  # fmt: skip


def run_answer(view: RunbookView) -> RunAnswer:
    """What a runbook looks like to an agent that just did something with it."""
    outcome = _OUTCOMES.get(view.state, "running")
    return RunAnswer(outcome, _NEXT[outcome], view.id, brief_status(view))


TOOLS = (
    Tool(
        title="Draft a runbook", operation="runbook.draft", takes=DraftRunbook, gives=PlanAnswer, act=draft_runbook,
    ),
    Tool(
        title="Plan a runbook", operation="runbook.plan", takes=PlanRunbook, gives=PlanAnswer, act=plan_runbook,
        is_reading=True,
    ),
    Tool(title="Run a runbook", operation="runbook.start", takes=RunRunbook, gives=RunAnswer, act=run_runbook),
    Tool(
        title="Extend a runbook", operation="runbook.extend", takes=ExtendRunbook, gives=RunAnswer, act=extend_runbook,
    ),
    Tool(
        title="Cancel a runbook", operation="runbook.cancel", takes=CancelRunbook, gives=RunAnswer, act=cancel_runbook,
        is_destructive=True, is_repeatable=True,
    ),
)  # fmt: skip
