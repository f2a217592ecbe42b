"""Lists of everything, a page at a time."""

from __future__ import annotations

from typing import Literal

from perdure.app.listing_views import DeadLetterItem, IncidentItem, InstanceRow, ParkedItem, RunbookRow
from perdure.app.paging import DEFAULT_LIMIT, Page
from perdure.app.runtime import Runtime
from perdure.app.task_views import TaskView
from perdure.journal import Origin

RunbookKind = Literal["runbooks", "calls", "all"]


class Listing:
    """Reached as `perdure.listing`. Newest first, except where it says otherwise; costs do not grow with the list."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin

    async def runbooks(
        self, *, state: str = "", case: str = "", q: str = "", kind: RunbookKind = "runbooks",
        limit: int = DEFAULT_LIMIT, after: str | None = None,
    ) -> Page[RunbookRow]:  # fmt: skip
        """Runbooks, calls or both; `q` is the beginning of an id, a case or an indexed value."""
        raise NotImplementedError

    async def instances(
        self, *, process: str = "", state: str = "", business_key: str = "", limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> Page[InstanceRow]:  # fmt: skip
        raise NotImplementedError

    async def parked(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[ParkedItem]:
        """What calls and runbooks wait for, oldest first."""
        raise NotImplementedError

    async def incidents(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[IncidentItem]:
        """What is stuck, oldest first."""
        raise NotImplementedError

    async def dead_letters(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[DeadLetterItem]:
        """What could not be delivered, oldest first."""
        raise NotImplementedError

    async def tasks(
        self, *, mine: bool = False, assignee: str = "", group: str = "", unclaimed: bool = False,
        overdue: bool = False, state: str = "", limit: int = DEFAULT_LIMIT, after: str | None = None,
    ) -> Page[TaskView]:  # fmt: skip
        """Open human tasks, oldest first; `state` is open or claimed."""
        raise NotImplementedError
