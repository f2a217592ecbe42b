"""Instances over the table of operations: found, looked at, moved and mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from perdure.app.facade.performer import Desk, pages
from perdure.app.instances.replay import DiagramView
from perdure.app.instances.views import InstanceView
from perdure.app.operations import instances
from perdure.app.operations.instances import (
    CancelInstance,
    EraseInstance,
    ListInstances,
    MigrateBack,
    MigrateInstance,
    ModifyInstance,
    MoveInstance,
    ResolveInstance,
    ResumeInstance,
    RetryInstance,
    ShowDiagram,
    ShowInstance,
    SuspendInstance,
)
from perdure.engine import Flags, MigrationPlan, MovePlan

Until = Literal["committed", "rest", "end"]


class InstanceDesk(Desk):
    """Running and ended processes; ids are the letters people see.

    Acts take `seen`, the `sequence` of the view that was looked at: what has changed since is left alone.
    """

    async def wait(self, id: str, until: Until = "end", timeout_seconds: float | None = None) -> InstanceView:
        """Until the instance has ended, or is at `rest`, or the time is up; then as `get`."""
        if until == "committed":
            return await self.get(id)
        return await self._performer.wait(instances.show_instance, ShowInstance(id), until, timeout_seconds)

    async def get(self, id: str, *, at: int | None = None) -> InstanceView:
        """An instance as it is now, or as it was after so many records."""
        return await self._performer.ask(instances.show_instance, ShowInstance(id, at))

    async def diagram(self, id: str, *, at: int | None = None, has_xml: bool = True) -> DiagramView:
        """The model an instance runs, or ran then, with what is to be shown on it."""
        return await self._performer.ask(instances.show_diagram, ShowDiagram(id, at, has_xml))

    async def list(
        self, *, process: str = "", status: str = "", business_key: str = "", after: str = "", limit: int = 100
    ) -> Sequence[InstanceView]:
        """Instances without their data, newest first; the id of the last is the `after` of the next page."""
        request, listing = ListInstances(process, status, business_key, whole=True), instances.list_instances
        found = pages(self._performer, InstanceView, listing, request, limit, after or None)
        return [view async for view in found]

    async def cancel(
        self, id: str, reason: str = "", *, compensate: bool = False, seen: int | None = None
    ) -> InstanceView:  # fmt: skip
        """Stop an instance; what it did stays done unless it is asked to be undone."""
        return await self._performer.ask(instances.cancel_instance, CancelInstance(id, reason, compensate), seen=seen)

    async def suspend(self, id: str, reason: str = "", *, seen: int | None = None) -> InstanceView:
        """Let nothing happen to an instance, nor to the processes it calls, until it is resumed."""
        return await self._performer.ask(instances.suspend_instance, SuspendInstance(id, reason), seen=seen)

    async def resume(self, id: str, *, shift_timers: bool = False, seen: int | None = None) -> InstanceView:
        """Go on; what fell due meanwhile fires now, unless every timer is shifted by the time suspended.

        The processes it calls go on as well, but for those that were suspended for themselves.
        """
        return await self._performer.ask(instances.resume_instance, ResumeInstance(id, shift_timers), seen=seen)

    async def modify(
        self, id: str, *, cancel: Sequence[int] = (), start: Sequence[str] = (), flags: Flags | None = None,
        data: Mapping[str, Any] | None = None, reason: str = "", seen: int | None = None, confirm: str = "",
        phrase: str = "",
    ) -> InstanceView:  # fmt: skip
        """Take tokens away by their numbers, put new ones before elements, set flags and data by hand; one commit.

        For whoever comes through a server, a process that reaches something grave needs `confirm`, as its start does.
        """
        moved = list(cancel), list(start), dict(flags or {}), dict(data or {})
        request = ModifyInstance(id, *moved, reason, confirm, phrase)
        return await self._performer.ask(instances.modify_instance, request, seen=seen)

    async def migrate(
        self, id: str, *, version: int | None = None, process: str = "", mapping: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None, reason: str = "", dry_run: bool = False, seen: int | None = None,
        confirm: str = "", phrase: str = "",
    ) -> MigrationPlan:  # fmt: skip
        """Go on under another version, the latest unless one is named; a dry run only says what would happen.

        For whoever comes through a server, a version that reaches something graver needs `confirm`, as its start does.
        """
        moved = dict(mapping or {}), dict(flags or {})
        request = MigrateInstance(id, version, process, *moved, reason, dry_run, confirm, phrase)
        return await self._performer.ask(instances.migrate_instance, request, seen=seen)

    async def move(
        self, id: str, engine: str, *, reason: str = "", dry_run: bool = False, shadow: bool = False,
        seen: int | None = None,
    ) -> MovePlan:  # fmt: skip
        """Let another engine carry an instance that waits; `shadow` replays its journal there first and compares."""
        request = MoveInstance(id, engine, reason, dry_run, shadow)
        return await self._performer.ask(instances.move_instance, request, seen=seen)

    async def migrate_back(
        self, id: str, *, reason: str = "", dry_run: bool = False, seen: int | None = None
    ) -> MigrationPlan:  # fmt: skip
        """To the version before the last migration, by the inverse of its mapping."""
        request = MigrateBack(id, reason, dry_run)
        return await self._performer.ask(instances.migrate_instance_back, request, seen=seen)

    async def retry(
        self, id: str, token: int | None = None, *, flags: Flags | None = None, reason: str = "",
        seen: int | None = None, confirm: str = "", phrase: str = "",
    ) -> InstanceView:  # fmt: skip
        """Try again what an incident stopped; without a token, every incident of the instance.

        For whoever comes through a server, a called process that has become graver needs `confirm`, as its start does.
        """
        request = RetryInstance(id, token, dict(flags or {}), reason, confirm, phrase)
        return await self._performer.ask(instances.retry_instance, request, seen=seen)

    async def resolve(
        self, id: str, token: int | None = None, *, data: Mapping[str, Any] | None = None, flags: Flags | None = None,
        error: str = "", reason: str = "", seen: int | None = None, confirm: str = "", phrase: str = "",
    ) -> InstanceView:  # fmt: skip
        """End by hand what an incident stopped: as if it had completed with these, or with a business error's code.

        For whoever comes through a server, a called process that has become graver needs `confirm`, as its start does.
        """
        brought = dict(data) if data is not None else None
        request = ResolveInstance(id, token, brought, dict(flags or {}), error, reason, confirm, phrase)
        return await self._performer.ask(instances.resolve_instance, request, seen=seen)

    async def erase(self, id: str, reason: str, *, seen: int | None = None) -> InstanceView:
        """Erase the data of an ended instance by a journalled tombstone; its history stays and still verifies."""
        return await self._performer.ask(instances.erase_instance, EraseInstance(id, reason), seen=seen)
