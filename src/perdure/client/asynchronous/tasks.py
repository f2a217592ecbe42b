"""Human tasks on a server."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from perdure.app.calls.views import CallView
from perdure.app.facade import tasks as facade
from perdure.app.facade.instances import InstanceDesk
from perdure.app.facade.performer import pages
from perdure.app.instances.views import InstanceView
from perdure.app.operations import tasks
from perdure.app.operations.tasks import CompleteTask, ListTasks
from perdure.app.runbooks.views import RunbookView
from perdure.app.tasks.views import TaskView

Until = Literal["committed", "rest", "end"]
MANY = 10_000


class TaskDesk(facade.TaskDesk):
    """Human tasks. Reached as `client.tasks`; who acts is whom the key stands for."""

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
        async for view in pages(self._performer, TaskView, tasks.list_tasks, request, MANY):
            found.extend([view] if view.number > after else [])
            if len(found) >= limit:
                break
        return found

    async def complete(
        self, key: str, data: Mapping[str, Any] | None = None, *, message_id: str = "", override: str = "",
        until: Until = "committed", timeout_seconds: float | None = None, seen: str = "",
    ) -> InstanceView | CallView | RunbookView:  # fmt: skip
        """End a task with what it brings. The first answer counts; under one message id it may be sent again.

        `until` says how far the instance is to come before this returns, as for `instances.start`. The task of a call
        gives back the call or the runbook; at a gate, `{"agree": true}` or false is the answer. With the `seen` of the
        view that was decided on, an answer is refused once that has changed.
        """
        request = CompleteTask(key, dict(data or {}), message_id, override, seen)
        view = await self._performer.ask(tasks.complete_task, request)
        if until == "committed" or not isinstance(view, InstanceView):
            return view
        return await InstanceDesk(self._performer).wait(view.id, until, timeout_seconds)
