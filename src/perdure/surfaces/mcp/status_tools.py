"""Tools for looking: how runbooks, calls and instances are, what happened in them, what is stuck."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from perdure.app.calls.views import CallView, EventView
from perdure.app.lists.cursors import Page
from perdure.app.lists.list_rows import RunbookRow
from perdure.app.operations import calls, events, instances, runbooks
from perdure.app.operations.calls import ShowCall
from perdure.app.operations.events import FollowJournal
from perdure.app.operations.instances import ShowInstance
from perdure.app.operations.operation import Operation
from perdure.app.operations.runbooks import ShowRunbook
from perdure.app.override_views import OverrideView
from perdure.app.runbooks.views import RunbookView, StepView
from perdure.errors import RejectedError, Rejection
from perdure.surfaces.mcp.answer_truncation import ALONE, IN_LISTS, LONG_TEXT, as_json, fitted, reading, short
from perdure.surfaces.mcp.shared_schemas import Failed, Id, Limit, RunbookId, Wait, WaitSeconds, failed, waiting
from perdure.surfaces.mcp.tool import Tool, ToolSession

STEPS_SHOWN = 20
WAITS_SHOWN = 20
ENDED = ("completed", "failed", "cancelled")
Journal = Operation[FollowJournal, Page[EventView]]


class StepStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step as it is."""

    number: int
    name: str
    verb: str
    state: str
    sentence: str = ""
    args: Any = None
    result: Any = None
    error: Failed | None = None
    waiting_for: Wait | None = None
    instance: str = ""
    """The process instance that carries it; see workflow_status."""
    progress: str = ""


class RunbookStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """A runbook. `sequence` grows with everything that happens to it."""

    id: str
    state: str
    progress: str
    sequence: int
    step_count: int
    is_ended: bool
    case: str = ""
    started_at: str = ""
    ended_at: str = ""
    principal: str = ""
    is_sealed: bool = True
    plan_hash: str = ""
    waiting: list[Wait] = []
    failed: list[Failed] = []
    steps: list[StepStatus] = []
    more_steps: int = 0
    overrides: list[OverrideView] = []
    """Acts around tasks of people: proposed ones wait for somebody the task is for, who repeats the act."""


class AskStatus(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which runbook, and how much of it."""

    id: RunbookId
    detail: Annotated[
        Literal["brief", "detailed"], Meta(description="'detailed' also shows steps with arguments and results.")
    ] = "brief"
    first_step: Annotated[int, Meta(description="Detailed: steps from this number on.", ge=1)] = 1
    step: Annotated[str, Meta(description="Only this step, by name or number, in full.", max_length=200)] = ""
    seen: Annotated[int, Meta(description="'sequence' you have seen: answer when it is past that.", ge=0)] = 0
    wait_seconds: WaitSeconds = 0


class ListRunbooks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which runbooks."""

    case: Annotated[str, Meta(description="Only of this case.", max_length=200)] = ""
    state: Annotated[
        Literal["", "draft", "running", "parked", "escalated", "completed", "failed", "cancelled"],
        Meta(description="Only in this state; 'parked' is waiting."),
    ] = ""
    limit: Limit = 20
    after: Annotated[str, Meta(description="'next' of the page before.", max_length=1024)] = ""


class RunbookPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some runbooks, newest first. With `next` there may be more, also when this page holds few."""

    items: list[RunbookRow]
    next: str = ""


class AskWorkflow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to look at."""

    id: Id


class Stuck(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is stuck and needs somebody."""

    code: str
    text: str
    place: str = ""
    since: str = ""


class WorkflowStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far something has come, whatever it is."""

    id: str
    kind: Literal["runbook", "call", "instance"]
    state: str
    progress: str
    is_ended: bool
    sequence: int
    name: str = ""
    """The verb of a call, the process of an instance."""
    waiting: list[Wait] = []
    incidents: list[Stuck] = []
    result: Any = None
    error: Failed | None = None
    started_at: str = ""
    ended_at: str = ""
    overrides: list[OverrideView] = []
    """Acts around tasks of people, done or waiting for somebody the task is for."""
    engine: str = ""
    """The engine that carries an instance; see list_engines."""


class AskEvents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose journal, and from where on."""

    id: Id
    after: Annotated[int, Meta(description="'next' of the answer before; 0 begins at the beginning.", ge=0)] = 0
    limit: Limit = 50
    wait_seconds: WaitSeconds = 0


class EventPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Entries, oldest first. Ask again with `after` = `next`; no entry is missed or told twice."""

    items: list[EventView]
    next: int
    has_more: bool = False


class ReadValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which value."""

    id: Id
    of: Annotated[Literal["args", "result", "data"], Meta(description="'data' is an instance's.")]
    step: Annotated[str, Meta(description="Of a runbook: the step, by name or number.", max_length=200)] = ""
    offset: Annotated[int, Meta(description="'next_offset' of the part before.", ge=0)] = 0


class ValuePart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a value's JSON text."""

    text: str
    characters: int
    next_offset: int = 0


async def runbook_status(desk: ToolSession, asked: AskStatus) -> RunbookStatus:
    """Look at a runbook: its state, how far it has come, what it waits for and what failed.

    'brief' is for watching; 'detailed' shows its steps with arguments and results, long values cut. To watch, give
    'seen' (the sequence of the last answer) and 'wait_seconds': it answers as soon as something has happened, or when
    the time is up. States: draft, running, parked (it waits), escalated, completed, failed, cancelled.
    """
    if asked.wait_seconds and asked.seen:
        await _happened(desk.perdure.runbooks.events(asked.id, after=asked.seen, follow=True), asked.wait_seconds)
    view = await desk.perform(runbooks.show_runbook, ShowRunbook(asked.id))
    if asked.step:
        return replace(brief_status(view), steps=[_step(view.id, _named(view, asked.step), ALONE)])
    if asked.detail == "brief":
        return brief_status(view)
    shown = view.steps[asked.first_step - 1 : asked.first_step - 1 + STEPS_SHOWN]
    more = max(0, len(view.steps) - (asked.first_step - 1 + len(shown)))
    steps = [_step(view.id, each, IN_LISTS) for each in shown]
    return replace(brief_status(view), steps=steps, more_steps=more)


async def list_runbooks(desk: ToolSession, asked: ListRunbooks) -> RunbookPage:
    """List runbooks and drafts, newest first, of one case or in one state, without their steps."""
    wanted = runbooks.ListRunbooks(asked.state, asked.case, limit=asked.limit, after=asked.after or None)
    page = await desk.perform(runbooks.list_runbooks, wanted)
    return RunbookPage([_row(each) for each in page.items if isinstance(each, RunbookRow)], page.next or "")


def _row(row: RunbookRow) -> RunbookRow:
    """A row whose texts are not longer than somebody reads in a list."""
    waits = [short(each) for each in row.waiting[:WAITS_SHOWN]]
    return replace(row, title=short(row.title), progress=short(row.progress), waiting=waits)


async def workflow_status(desk: ToolSession, asked: AskWorkflow) -> WorkflowStatus:
    """How far something has come, by its id alone: a runbook, a single call or a process instance.

    Use it for ids of call_verb, of run_runbook, and for 'instance' of a step. An id that is unknown, or another
    tenant's, is refused as not found.
    """
    try:
        is_runbook = await desk.perdure.runbooks.has(asked.id)
    except RejectedError as error:
        if error.rejection.code != "not_found":
            raise
        return await _instance(desk, asked.id)
    if is_runbook:
        return _runbook(await desk.perform(runbooks.show_runbook, ShowRunbook(asked.id)))
    return _call(await desk.perform(calls.show_call, ShowCall(asked.id)))


async def _instance(desk: ToolSession, id: str) -> WorkflowStatus:
    view = await desk.perform(instances.show_instance, ShowInstance(id))
    waits = [
        Wait(each.kind, each.key, each.name, short(each.text), due_at=each.due_at or "", step=each.element)
        for each in view.waits[:WAITS_SHOWN]
    ]
    open = view.incidents[:WAITS_SHOWN]
    stuck = [Stuck(each.code, short(each.text), each.element, each.since or "") for each in open]
    result = fitted(view.data, ALONE, reading(view.id, "", "data")) if view.state == "completed" else None
    return WorkflowStatus(
        view.id, "instance", view.state, short(view.progress), view.ended_at is not None, view.sequence, view.process,
        waits, stuck, result, failed(view.error), view.started_at or "", view.ended_at or "", view.overrides,
        view.engine,
    )  # fmt: skip


def _runbook(view: RunbookView) -> WorkflowStatus:
    found = brief_status(view)
    stuck = [Stuck("incident", each.text, each.step, each.since) for each in found.waiting if each.kind == "incident"]
    error = found.failed[0] if found.failed else None
    return WorkflowStatus(
        view.id, "runbook", view.state, found.progress, found.is_ended, view.sequence, view.case, found.waiting, stuck,
        None, error, found.started_at, found.ended_at, view.overrides,
    )  # fmt: skip


def _call(view: CallView) -> WorkflowStatus:
    wait = waiting(view.waiting_for)
    stuck = [Stuck(view.waiting_for.code, short(view.waiting_for.text))] if _is_stuck(view) and view.waiting_for else []
    result = fitted(view.result, ALONE, reading(view.id, "", "result"))
    return WorkflowStatus(
        view.id, "call", view.state, short(view.progress or view.state), view.is_ended, view.sequence, view.verb,
        [wait] if wait is not None else [], stuck, result, failed(view.error), view.started_at or "",
        view.ended_at or "", view.overrides,
    )  # fmt: skip


def _is_stuck(view: CallView) -> bool:
    return view.waiting_for is not None and view.waiting_for.kind == "incident"


async def runbook_events(desk: ToolSession, asked: AskEvents) -> EventPage:
    """Read the journal of a runbook, a call or an instance: everything that happened, by whom, in order.

    Go on with 'after' = 'next'. With 'wait_seconds' and nothing new yet, it waits for the next entry.
    """
    journal, following = await _journal(desk, asked.id)
    wanted = FollowJournal(asked.id, str(asked.after), asked.limit)
    page = await desk.perform(journal, wanted)
    if asked.wait_seconds and not page.items:
        await _happened(following(asked.id, after=asked.after, follow=True), asked.wait_seconds)
        page = await desk.perform(journal, wanted)
    items = [_event(each) for each in page.items]
    return EventPage(items, items[-1].sequence if items else asked.after, page.next is not None)


async def _journal(desk: ToolSession, id: str) -> tuple[Journal, Callable[..., AsyncIterator[EventView]]]:
    """The operation that reads the journal of an id, and how it is followed."""
    try:
        is_runbook = await desk.perdure.runbooks.has(id)
    except RejectedError as error:
        if error.rejection.code != "not_found":
            raise
        return events.follow_instance, desk.perdure.instances.events
    return events.follow_runbook if is_runbook else events.follow_call, desk.perdure.runbooks.events


async def _happened(events: AsyncIterator[EventView], seconds: float) -> None:
    """Until something has happened, or the time is up."""
    try:
        async with asyncio.timeout(seconds):
            await anext(events, None)
    except TimeoutError:
        pass


def _event(view: EventView) -> EventView:
    rest = "It is part of the exported document of the runbook (`perdure runbook export`)."
    return replace(view, data=fitted(view.data, IN_LISTS, rest))


async def read_value(desk: ToolSession, asked: ReadValue) -> ValuePart:
    """Read a long value that another tool cut, as JSON text in parts of 16,000 characters.

    Go on with 'offset' = 'next_offset' until there is none.
    """
    text = as_json(await _value(desk, asked))
    part = text[asked.offset : asked.offset + ALONE]
    end = asked.offset + len(part)
    return ValuePart(part, len(text), end if end < len(text) else 0)


async def _value(desk: ToolSession, asked: ReadValue) -> Any:
    if asked.of == "data":
        instance = await desk.perform(instances.show_instance, ShowInstance(asked.id))
        if desk.is_narrow:
            desk.check_all("instance.read", await desk.perdure.data_verbs.of_id(asked.id))
        return instance.data
    if asked.step:
        step = _named(await desk.perform(runbooks.show_runbook, ShowRunbook(asked.id)), asked.step)
        (verbs,) = await desk.perdure.data_verbs.of_steps(asked.id, [step.number])
        desk.check_all("runbook.read", verbs)
        return getattr(step, asked.of)
    call = await desk.perform(calls.show_call, ShowCall(asked.id))
    if desk.is_narrow:
        desk.check_all("call.read", await desk.perdure.data_verbs.of_call(asked.id, call.verb))
    return getattr(call, asked.of)


def brief_status(view: RunbookView) -> RunbookStatus:
    """A runbook without its steps."""
    waits = [wait for each in view.steps if (wait := _waiting(each)) is not None]
    errors = [error for each in view.steps if each.state == "failed" and (error := failed(each.error, each.name))]
    return RunbookStatus(
        view.id, view.state, short(view.progress, LONG_TEXT), view.sequence, len(view.steps), view.state in ENDED,
        view.case, view.started_at or "", view.ended_at or "", view.principal, view.is_sealed, view.plan_hash,
        waits[:WAITS_SHOWN], errors[:WAITS_SHOWN], overrides=view.overrides,
    )  # fmt: skip


def _waiting(step: StepView) -> Wait | None:
    return waiting(step.waiting_for, step.name) if step.state in ("parked", "pending") else None


def _step(id: str, step: StepView, most: int) -> StepStatus:
    return StepStatus(
        step.number, step.name, step.verb, step.state, short(step.sentence),
        fitted(step.args, most, reading(id, step.name, "args")),
        fitted(step.result, most, reading(id, step.name, "result")), failed(step.error), _waiting(step),
        step.carrier.instance if step.carrier is not None else "", short(step.progress),
    )  # fmt: skip


def _named(view: RunbookView, step: str) -> StepView:
    wanted: str | int = int(step) if step.isdecimal() else step.lstrip("@")
    found = next((each for each in view.steps if wanted in (each.name, each.number)), None)
    if found is None:
        hint = "See its steps with runbook_status, detail 'detailed'."
        raise RejectedError(Rejection("not_found", "find", "step", short(step), "the runbook has no such step", hint))
    return found


TOOLS = (
    Tool(
        title="Status of a runbook", operation="runbook.read", takes=AskStatus, gives=RunbookStatus,
        act=runbook_status, is_reading=True,
    ),
    Tool(
        title="List runbooks", operation="runbook.list", takes=ListRunbooks, gives=RunbookPage, act=list_runbooks,
        is_reading=True,
    ),
    Tool(
        title="Status of anything", operation="runbook.read", takes=AskWorkflow, gives=WorkflowStatus,
        act=workflow_status, is_reading=True,
    ),
    Tool(
        title="Journal", operation="event.read", takes=AskEvents, gives=EventPage, act=runbook_events, is_reading=True,
    ),
    Tool(
        title="Read a long value", operation="runbook.read", takes=ReadValue, gives=ValuePart, act=read_value,
        is_reading=True,
    ),
)  # fmt: skip
