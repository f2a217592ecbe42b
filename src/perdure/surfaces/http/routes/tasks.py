"""Human tasks: the inbox, and what people do with what is in it. Who may is decided by the task itself."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar.params import Parameter

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.adding import check_answer
from perdure.app.instance_views import InstanceView
from perdure.app.paging import Page
from perdure.app.runbook_views import RunbookView
from perdure.app.seeing import seen
from perdure.app.task_views import TaskView
from perdure.app.views import CallView
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import MAX_TEXT, After, InState, Limit, Word

TAGS = ("tasks",)
Key = Annotated[str, Parameter(max_length=MAX_TEXT, description="A task's key: `<instance>:<token>`.")]
Carried = InstanceView | CallView | RunbookView


class Override(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With a reason in `override` an administrator acts for others; that is recorded."""

    override: str = ""


class Handed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """To whom it goes."""

    to: str
    override: str = ""


class Reassigned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """To another person, or to groups (comma separated) instead of those that had it."""

    to: str = ""
    groups: str = ""
    override: str = ""


class Answered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the task brings. Of a gate it is `{"agree": true}` or false."""

    data: dict[str, Any] = {}
    message_id: str = ""
    override: str = ""


NO_OVERRIDE, NO_ANSWER = Override(), Answered()


@reading("/tasks", "task.list", tags=TAGS)
async def list_tasks(
    perdure: Perdure, mine: bool = False, assignee: Word = "", group: Word = "", unclaimed: bool = False,
    overdue: bool = False, in_state: InState = "", limit: Limit = 50, after: After = None,
) -> Page[TaskView]:  # fmt: skip
    """Open tasks, oldest first. `mine` are those that who asks may answer, by name or by group."""
    return await perdure.listing.tasks(
        mine=mine, assignee=assignee, group=group, unclaimed=unclaimed, overdue=overdue, state=in_state, limit=limit,
        after=after,
    )  # fmt: skip


@reading("/tasks/{key:str}", "task.read", tags=TAGS)
async def show_task(perdure: Perdure, key: Key) -> TaskView:
    """A task with the form of its answer."""
    return await perdure.tasks.get(key)


@acting("/tasks/{key:str}/claim", "task.claim", tags=TAGS)
async def claim_task(perdure: Perdure, principal: Principal, key: Key, data: Override = NO_OVERRIDE) -> TaskView:
    """Take a task; nobody else can complete it then."""
    await _allowed(perdure, principal, "task.claim", key)
    return await perdure.tasks.claim(key, override=data.override)


@acting("/tasks/{key:str}/unclaim", "task.unclaim", tags=TAGS)
async def unclaim_task(perdure: Perdure, principal: Principal, key: Key, data: Override = NO_OVERRIDE) -> TaskView:
    """Give a claimed task back."""
    await _allowed(perdure, principal, "task.unclaim", key)
    return await perdure.tasks.unclaim(key, override=data.override)


@acting("/tasks/{key:str}/delegate", "task.delegate", tags=TAGS)
async def delegate_task(perdure: Perdure, principal: Principal, key: Key, data: Handed) -> TaskView:
    """Hand a task to another person; who did is remembered."""
    await _allowed(perdure, principal, "task.delegate", key)
    return await perdure.tasks.delegate(key, data.to, override=data.override)


@acting("/tasks/{key:str}/reassign", "task.reassign", tags=TAGS)
async def reassign_task(perdure: Perdure, principal: Principal, key: Key, data: Reassigned) -> TaskView:
    """Give a task to another person, or to groups."""
    await _allowed(perdure, principal, "task.reassign", key)
    return await perdure.tasks.reassign(key, data.to, groups=data.groups, override=data.override)


@acting("/tasks/{key:str}/complete", "task.complete", tags=TAGS)
async def complete_task(perdure: Perdure, principal: Principal, key: Key, data: Answered = NO_ANSWER) -> Carried:
    """End a task with what it brings. The first answer counts.

    Data that do not fit its form are refused, and `errors` says for each field what is wrong with it.
    """
    await _allowed(perdure, principal, "task.complete", key)
    await check_answer(perdure, principal, key, "", data.data)
    done = await perdure.tasks.complete(key, data.data, message_id=data.message_id, override=data.override)
    return seen(principal, done)


@acting("/tasks/{key:str}/accept", "task.accept", tags=TAGS)
async def accept_task(
    perdure: Perdure, principal: Principal, key: Key, data: Override = NO_OVERRIDE
) -> CallView | RunbookView:
    """Answer with what an agent proposes. No agent can."""
    await _allowed(perdure, principal, "task.accept", key)
    proposal = await perdure.tasks.proposal(key)
    await check_answer(perdure, principal, key, "", proposal.result if proposal is not None else None)
    return seen(principal, await perdure.tasks.accept(key, override=data.override))


async def _allowed(perdure: Perdure, principal: Principal, operation: str, key: str) -> None:
    check(principal, operation, verb=await perdure.tasks.verb(key))


ROUTES: tuple[Any, ...] = (
    list_tasks, show_task, claim_task, unclaim_task, delegate_task, reassign_task, complete_task, accept_task,
)  # fmt: skip
