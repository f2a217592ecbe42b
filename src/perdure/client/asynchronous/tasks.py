"""Human tasks on a server."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from perdure.app.calls.views import CallView
from perdure.app.instances.views import InstanceView
from perdure.app.operations import tasks
from perdure.app.operations.tasks import CompleteTask, DelegateTask, ListTasks, ReassignTask, ShowTask, TakeTask
from perdure.app.runbooks.views import RunbookView
from perdure.app.tasks.views import TaskView
from perdure.client.asynchronous.journals import pages
from perdure.client.asynchronous.processes import InstanceDesk
from perdure.client.asynchronous.transport import Transport

Until = Literal["committed", "rest", "end"]
MANY = 10_000


class TaskDesk:
    """Human tasks. Reached as `client.tasks`; who acts is whom the key stands for."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._instances = InstanceDesk(transport)

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

        `mine` are those that whom the key stands for may answer; `unclaimed` nobody has taken, of `overdue` ones the
        due date has passed.
        """
        found: builtins.list[TaskView] = []
        request = ListTasks(mine, assignee, group, unclaimed, overdue)
        async for view in pages(self._transport, TaskView, tasks.list_tasks, request, MANY):
            found.extend([view] if view.number > after else [])
            if len(found) >= limit:
                break
        return found

    async def get(self, key: str) -> TaskView:
        """A task with the form of its answer."""
        return await self._transport.ask(tasks.show_task, ShowTask(key))

    async def claim(self, key: str, *, override: str = "") -> TaskView:
        """Take a task; nobody else can complete it then."""
        return await self._transport.ask(tasks.claim_task, TakeTask(key, override))

    async def unclaim(self, key: str, *, override: str = "") -> TaskView:
        """Give a claimed task back."""
        return await self._transport.ask(tasks.unclaim_task, TakeTask(key, override))

    async def delegate(self, key: str, to: str, *, override: str = "") -> TaskView:
        """Hand a task to another person; who did is remembered."""
        return await self._transport.ask(tasks.delegate_task, DelegateTask(key, to, override))

    async def reassign(self, key: str, to: str = "", *, groups: str = "", override: str = "") -> TaskView:
        """Give a task to another person, or to groups (comma separated) instead of those that had it."""
        return await self._transport.ask(tasks.reassign_task, ReassignTask(key, to, groups, override))

    async def complete(
        self, key: str, data: Mapping[str, Any] | None = None, *, message_id: str = "", override: str = "",
        until: Until = "committed", timeout_seconds: float | None = None,
    ) -> InstanceView | CallView | RunbookView:  # fmt: skip
        """End a task with what it brings. The first answer counts; under one message id it may be sent again.

        `until` says how far the instance is to come before this returns, as for `instances.start`. The task of a call
        gives back the call or the runbook; at a gate, `{"agree": true}` or false is the answer.
        """
        request = CompleteTask(key, dict(data or {}), message_id, override)
        view = await self._transport.ask(tasks.complete_task, request)
        if until == "committed" or not isinstance(view, InstanceView):
            return view
        return await self._instances.wait(view.id, until, timeout_seconds)

    async def accept(self, key: str, *, override: str = "") -> CallView | RunbookView:
        """Answer with what an agent proposes. No agent can, whatever it calls itself."""
        return await self._transport.ask(tasks.accept_task, TakeTask(key, override))
