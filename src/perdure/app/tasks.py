"""Human tasks as every surface uses them: found, taken, handed on and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from perdure.app.instance_views import InstanceView, task_view
from perdure.app.processes import Views
from perdure.app.runbook_tasks import RunbookTasks
from perdure.app.runtime import Runtime
from perdure.app.task_views import TaskView
from perdure.bpmn.machine.state import Node
from perdure.engines.embedded.following import Until
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.people import HumanTask, is_for, names_of
from perdure.runbooks import commands as c
from perdure.sources import Id, parse_id


class TaskDesk:
    """Human tasks. Reached as `perdure.tasks`; a task's key is `<instance>:<token>`, or `<runbook>:<step>`.

    Who acts is the principal and the groups of `acting`. With `override`, a reason, an administrator (a member of the
    group `administrators`) acts for others; that is recorded.
    """

    def __init__(self, runtime: Runtime, origin: Origin, views: Views) -> None:
        self._runtime = runtime
        self._engine = runtime.engine
        self._origin = origin
        self._views = views
        self._runbooks = RunbookTasks(runtime, origin)

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

        `mine` are those the principal may answer, by their name or their groups; `unclaimed` nobody has taken, of
        `overdue` ones the due date has passed.
        """
        found: list[TaskView] = []
        while len(found) < limit and (page := await self._runtime.store.tasks(self._origin.tenant, after, limit)):
            for row in page:
                after = row.number
                seen = await self._seen(row.aggregate, row.step)
                if seen is None or (mine and not is_for(seen[2], self._origin.principal, self._origin.groups)):
                    continue
                if _is_of(seen[2], assignee, group) and not (unclaimed and seen[2].claimed_by):
                    view = await self._view(*seen, number=row.number)
                    found.extend([view] if view.is_overdue or not overdue else [])
        return found[:limit]

    async def get(self, key: str) -> TaskView:
        """A task with the form of its answer."""
        instance, token = task_place(key)
        seen = await self._seen(instance, token)
        if seen is None:
            raise RejectedError(Rejection("not_found", "find", "task", key, "it is not open (any more)"))
        return await self._view(*seen, has_form=True)

    async def claim(self, key: str, *, override: str = "") -> TaskView:
        """Take a task; nobody else can complete it then."""
        instance, token = task_place(key)
        if not await self._handled(instance, c.HandleTask(token, "claim", override=override)):
            await self._engine.claim_task(instance, token, self._origin, override=override)
        return await self.get(key)

    async def unclaim(self, key: str, *, override: str = "") -> TaskView:
        """Give a claimed task back."""
        instance, token = task_place(key)
        if not await self._handled(instance, c.HandleTask(token, "unclaim", override=override)):
            await self._engine.claim_task(instance, token, self._origin, release=True, override=override)
        return await self.get(key)

    async def delegate(self, key: str, to: str, *, override: str = "") -> TaskView:
        """Hand a task to another person; who did is remembered."""
        instance, token = task_place(key)
        if not await self._handled(instance, c.HandleTask(token, "delegate", to, override=override)):
            await self._engine.delegate_task(instance, token, self._origin, to=to, override=override)
        return await self.get(key)

    async def reassign(self, key: str, to: str = "", *, groups: str = "", override: str = "") -> TaskView:
        """Give a task to another person, or to groups (comma separated) instead of those that had it."""
        instance, token = task_place(key)
        if not await self._handled(instance, c.HandleTask(token, "reassign", to, names_of(groups), override)):
            await self._engine.reassign_task(instance, token, self._origin, to=to, groups=groups, override=override)
        return await self.get(key)

    async def complete(
        self, key: str, data: Mapping[str, Any] | None = None, *, message_id: str = "", override: str = "",
        until: Until = "committed", timeout_seconds: float | None = None,
    ) -> InstanceView | TaskView:  # fmt: skip
        """End a task with what it brings. The first answer counts; under one message id it may be sent again.

        `until` says how far the instance is to come before this returns, as for `instances.start`. Of a step of a
        runbook, or a call, the task as it was answered is given back.
        """
        instance, token = task_place(key)
        if (runbook := await self._runbooks.of(instance)) is not None:
            await self._runbooks.complete(runbook, token, data, message_id, override)
            return await self._ended(instance, token)
        aggregate = await self._engine.complete_task(
            instance, token, self._origin, data=data, message_id=message_id, override=override
        )  # fmt: skip
        return await self._views.instance(await self._engine.followers.follow(aggregate, until, timeout_seconds))

    async def accept(self, key: str, *, override: str = "") -> TaskView:
        """Answer with what an agent proposes. No agent can, whatever it calls itself."""
        instance, token = task_place(key)
        runbook = await self._runbooks.of(instance)
        if runbook is None:
            fact, hint = "nothing is proposed there", "Complete it with an answer of your own."
            raise RejectedError(Rejection("wrong_state", "accept", "task", key, fact, hint))
        await self._runbooks.accept(runbook, token, override)
        return await self._ended(instance, token)

    async def _handled(self, id: Id, command: c.HandleTask) -> bool:
        """Whether the task is a runbook's; it has been dealt with then."""
        runbook = await self._runbooks.of(id)
        if runbook is not None:
            await self._runbooks.handle(runbook, command)
        return runbook is not None

    async def _ended(self, id: Id, number: int) -> TaskView:
        runbook = await self._runbooks.of(id)
        assert runbook is not None
        return await self._runbooks.view(runbook, number, runbook.state.steps[number - 1].task, 0, False)

    async def _seen(self, instance: Id, token: int) -> tuple[Aggregate, Node | int, HumanTask] | None:
        try:
            if (runbook := await self._runbooks.of(instance)) is not None:
                task = self._runbooks.task(runbook, token)
                return (runbook, token, task) if task is not None else None
            aggregate = await self._engine.read(instance, self._origin)
        except QuarantinedError:
            return None
        node = aggregate.state.nodes.get(token)
        if node is None or node.task is None or node.kind != "task":
            return None
        return aggregate, node, node.task

    async def _view(
        self, aggregate: Aggregate, node: Node | int, task: HumanTask, *, number: int = 0, has_form: bool = False
    ) -> TaskView:
        if isinstance(node, int):
            return await self._runbooks.view(aggregate, node, task, number, has_form)
        definition = await self._engine.instances.loaded(aggregate)
        form = await self._engine.people.form(aggregate, node) if has_form else None
        return task_view(aggregate, node, definition, self._runtime.sources.now(), number, form)


def task_place(key: str) -> tuple[Id, int]:
    """Instance and token of a task's key."""
    letters, _, number = key.partition(":")
    if not (number.isascii() and number.isdigit()):
        hint = "A task's key is `<instance>:<token>`."
        raise RejectedError(Rejection("not_found", "find", "task", key[:80], "that is no task's key", hint))
    return parse_id(letters, "task"), int(number)


def _is_of(task: HumanTask, assignee: str, group: str) -> bool:
    people = {task.claimed_by, task.assignee, *task.users}
    return (not assignee or assignee in people) and (not group or group in task.groups)
