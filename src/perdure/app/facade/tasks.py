"""Human tasks over the table of operations: taken, handed on and accepted."""

from __future__ import annotations

from perdure.app.calls.views import CallView
from perdure.app.facade.performer import Desk
from perdure.app.instances.views import InstanceView
from perdure.app.operations import tasks
from perdure.app.operations.tasks import DelegateTask, ReassignTask, ShowTask, TakeTask
from perdure.app.runbooks.views import RunbookView
from perdure.app.tasks.views import TaskView


class TaskDesk(Desk):
    """Human tasks; a task's key is `<instance>:<token>`."""

    async def get(self, key: str) -> TaskView:
        """A task with the form of its answer."""
        return await self._performer.ask(tasks.show_task, ShowTask(key))

    async def claim(self, key: str, *, override: str = "") -> TaskView:
        """Take a task; nobody else can complete it then."""
        return await self._performer.ask(tasks.claim_task, TakeTask(key, override))

    async def unclaim(self, key: str, *, override: str = "") -> TaskView:
        """Give a claimed task back."""
        return await self._performer.ask(tasks.unclaim_task, TakeTask(key, override))

    async def delegate(self, key: str, to: str, *, override: str = "") -> TaskView:
        """Hand a task to another person; who did is remembered."""
        return await self._performer.ask(tasks.delegate_task, DelegateTask(key, to, override))

    async def reassign(self, key: str, to: str = "", *, groups: str = "", override: str = "") -> TaskView:
        """Give a task to another person, or to groups (comma separated) instead of those that had it."""
        return await self._performer.ask(tasks.reassign_task, ReassignTask(key, to, groups, override))

    async def accept(self, key: str, *, override: str = "", seen: str = "") -> InstanceView | CallView | RunbookView:
        """Answer with what an agent proposes. No agent can, whatever it calls itself.

        With the `seen` of the view that was decided on, it is refused once another answer is proposed.
        """
        return await self._performer.ask(tasks.accept_task, tasks.AcceptTask(key, override, seen))
