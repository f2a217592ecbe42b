"""Operations on human tasks: the inbox, and claiming, handing over and completing its tasks.

The task itself decides whether a person may act on it.
"""

from __future__ import annotations

from functools import partial

from msgspec import field

from perdure.app.calls.views import CallView
from perdure.app.instances.views import InstanceView
from perdure.app.lists.cursors import Page
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.operation_execution import perform
from perdure.app.operations.request_fields import After, Data, Limit, Seen, State, TaskKey, Word
from perdure.app.operations.verb_scopes import REDACTED, VERBS_OF_TASK
from perdure.app.runbooks.extension_policy import check_answer
from perdure.app.runbooks.views import RunbookView
from perdure.app.tasks.failure_answers import answer_failure, read_answer
from perdure.app.tasks.views import TaskView

TAG = "tasks"


class ListTasks(Request, frozen=True):
    """Which tasks: of a person or a group, unclaimed, overdue, or in a state."""

    mine: bool = False
    assignee: Word = ""
    group: Word = ""
    unclaimed: bool = False
    overdue: bool = False
    state: State = ""
    limit: Limit = 50
    after: After = None


class ShowTask(Request, frozen=True):
    """A task."""

    key: TaskKey


class TakeTask(Request, frozen=True):
    """A task to act on. With a reason in `override` an administrator acts for others; the journal keeps it."""

    key: TaskKey
    override: str = ""


class DelegateTask(Request, frozen=True):
    """The person that a task goes to."""

    key: TaskKey
    to: str
    override: str = ""


class ReassignTask(Request, frozen=True):
    """Another person for a task, or groups (comma separated) instead of those that had it."""

    key: TaskKey
    to: str = ""
    groups: str = ""
    override: str = ""


class CompleteTask(Request, frozen=True):
    """The data that a task asks for. The answer of a gate is `{"agree": true}` or false.

    The answer that a failed step of a grave verb is retried is confirmed as the retry is.
    """

    key: TaskKey
    data: Data = field(default_factory=dict)
    message_id: str = ""
    override: str = ""
    seen: Seen = ""
    confirm: str = ""
    phrase: str = ""


class AcceptTask(TakeTask, frozen=True):
    """A task whose proposal is the answer."""

    seen: Seen = ""


@operation("task.list", Route("GET", "/tasks"), tag=TAG, scope=REDACTED)
async def list_tasks(context: Context, request: ListTasks) -> Page[TaskView]:
    """Open tasks, oldest first. `mine` are those that who asks may answer, by name or by group.

    A key sees those whose data come from verbs that it reaches.
    """
    return await context.lists.tasks(request)


@operation("task.read", Route("GET", "/tasks/{key}"), tag=TAG, scope=VERBS_OF_TASK)
async def show_task(context: Context, request: ShowTask) -> TaskView:
    """A task with the form of its answer."""
    return await context.perdure.tasks.shown(request.key)


@operation("task.claim", Route("POST", "/tasks/{key}/claim"), tag=TAG, scope=VERBS_OF_TASK)
async def claim_task(context: Context, request: TakeTask) -> TaskView:
    """Take a task; nobody else can complete it then."""
    return await context.perdure.tasks.act(request.key, "claim", request.override)


@operation("task.unclaim", Route("POST", "/tasks/{key}/unclaim"), tag=TAG, scope=VERBS_OF_TASK)
async def unclaim_task(context: Context, request: TakeTask) -> TaskView:
    """Give a claimed task back."""
    return await context.perdure.tasks.act(request.key, "unclaim", request.override)


@operation("task.delegate", Route("POST", "/tasks/{key}/delegate"), tag=TAG, scope=VERBS_OF_TASK)
async def delegate_task(context: Context, request: DelegateTask) -> TaskView:
    """Hand a task to another person; who did is remembered."""
    return await context.perdure.tasks.act(request.key, "delegate", request.override, request.to)


@operation("task.reassign", Route("POST", "/tasks/{key}/reassign", needs_body=True), tag=TAG, scope=VERBS_OF_TASK)
async def reassign_task(context: Context, request: ReassignTask) -> TaskView:
    """Give a task to another person, or to groups."""
    return await context.perdure.tasks.act(request.key, "reassign", request.override, request.to, request.groups)


@operation("task.complete", Route("POST", "/tasks/{key}/complete"), tag=TAG, scope=VERBS_OF_TASK)
async def complete_task(context: Context, request: CompleteTask) -> InstanceView | CallView | RunbookView:
    """End a task with what it brings. The first answer counts.

    Data that do not fit its form are refused, and `errors` says for each field what is wrong with it.
    """
    if await context.perdure.tasks.is_failure(request.key):
        answer = read_answer(request.key, request.data)
        return await answer_failure(partial(perform, context), request.key, answer, request.confirm, request.phrase)
    await check_answer(context.perdure, context.principal, request.key, "", request.data)
    return await context.perdure.tasks.complete(
        request.key, request.data, message_id=request.message_id, override=request.override, seen=request.seen
    )


@operation("task.accept", Route("POST", "/tasks/{key}/accept"), tag=TAG, scope=VERBS_OF_TASK)
async def accept_task(context: Context, request: AcceptTask) -> InstanceView | CallView | RunbookView:
    """Answer with what an agent proposes. No agent can."""
    proposal = await context.perdure.tasks.proposal(request.key)
    result = proposal.result if proposal is not None else None
    await check_answer(context.perdure, context.principal, request.key, "", result)
    return await context.perdure.tasks.accepted(request.key, request.override, request.seen)
