"""Lists over the table of operations, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from perdure.app.facade.performer import Desk
from perdure.app.lists.cursors import DEFAULT_LIMIT, Page
from perdure.app.lists.list_rows import DeadLetterItem, InstanceRow, ParkedItem, RunbookRow, StuckView
from perdure.app.operations import calls, dead_letters, incidents, instances, runbooks, tasks, waits
from perdure.app.operations.calls import ListCalls
from perdure.app.operations.instances import ListInstances
from perdure.app.operations.request_fields import Paged
from perdure.app.operations.runbooks import ListRunbooks
from perdure.app.operations.tasks import ListTasks
from perdure.app.tasks.views import TaskView
from perdure.runbooks.executor.call_executor import index_text

RunbookKind = Literal["runbooks", "calls", "all"]


class Listing(Desk):
    """Lists, a page at a time. Newest first, except where it says otherwise."""

    async def runbooks(
        self, *, state: str = "", case: str = "", q: str = "", kind: RunbookKind = "runbooks",
        limit: int = DEFAULT_LIMIT, after: str | None = None,
    ) -> Page[RunbookRow]:  # fmt: skip
        """Runbooks and drafts, calls, or both.

        `q` is the beginning of a case, of an indexed value, or of an id (ten letters or more of it); what it finds
        comes field by field, and within one value the newest first.
        """
        request = ListRunbooks(state, case, q, kind, limit, after)
        return await self._performer.ask_for(Page[RunbookRow], runbooks.list_runbooks, request)

    async def calls(
        self, *, verb: str = "", where: Mapping[str, Any] | None = None, state: str = "", limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> Page[RunbookRow]:  # fmt: skip
        """Calls of a verb, those with these values of its declared `index`; without values, or a verb, all of them.

        With values, runbooks that hold such a call are found as well.
        """
        fields = [f"{name}:{index_text(value)}" for name, value in (where or {}).items()]
        return await self._performer.ask(calls.list_calls, ListCalls(verb, fields, state, "", limit, after))

    async def instances(
        self, *, process: str = "", state: str = "", business_key: str = "", limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> Page[InstanceRow]:  # fmt: skip
        """Instances of one process, in one state, of one business key, or all of them."""
        request = ListInstances(process, state, business_key, limit, after)
        return await self._performer.ask_for(Page[InstanceRow], instances.list_instances, request)

    async def parked(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[ParkedItem]:
        """What calls and runbooks wait for, oldest first."""
        return await self._performer.ask(waits.list_parked, Paged(limit, after))

    async def incidents(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[StuckView]:
        """What is stuck, oldest first, with its cause and the actions that who asks may take."""
        return await self._performer.ask(incidents.list_incidents, Paged(limit, after))

    async def dead_letters(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[DeadLetterItem]:
        """What could not be delivered, oldest first."""
        return await self._performer.ask(dead_letters.list_letters, Paged(limit, after))

    async def tasks(
        self, *, mine: bool = False, assignee: str = "", group: str = "", unclaimed: bool = False,
        overdue: bool = False, state: str = "", limit: int = DEFAULT_LIMIT, after: str | None = None,
    ) -> Page[TaskView]:  # fmt: skip
        """Open human tasks, oldest first; `state` is open or claimed, the rest as for `tasks.list`."""
        request = ListTasks(mine, assignee, group, unclaimed, overdue, state, limit, after)
        return await self._performer.ask(tasks.list_tasks, request)
