"""Lifecycles over the table of operations: started, shown, moved and resolved."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from perdure.app.facade.performer import Desk, pages
from perdure.app.lifecycles.views import (
    DeployedLifecycle,
    EntryView,
    LifecycleBegun,
    LifecycleDrawing,
    LifecycleItem,
    LifecycleStatus,
    LifecycleVersionView,
    MigrationPlan,
    TaskReceipt,
    TransitionAnswer,
)
from perdure.app.operations import lifecycles
from perdure.app.operations.lifecycles import (
    CancelLifecycle,
    DismissLifecycleTask,
    DoAction,
    EraseLifecycle,
    LifecycleText,
    ListLifecycles,
    MigrateLifecycle,
    ResolveBlocker,
    RetireLifecycle,
    RetryLifecycleTask,
    SendTaskResult,
    ShowHistory,
    ShowLifecycle,
    StartLifecycle,
    Transit,
)
from perdure.app.operations.request_fields import Nothing
from perdure.lifecycles.machine.commands import CargoItem
from perdure.lifecycles.task_results import Status


class LifecycleDesk(Desk):
    """Lifecycle instances and their definitions. Reached as `lifecycles`."""

    async def start(
        self,
        lifecycle: str,
        subject: str,
        context: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        confirm: str = "",
        phrase: str = "",
    ) -> LifecycleBegun:
        """Start a lifecycle for a subject, or find the one that is active for it."""
        request = StartLifecycle(lifecycle, subject, dict(context or {}), version, confirm, phrase)
        return await self._performer.ask(lifecycles.start_lifecycle, request)

    async def get(self, id: str) -> LifecycleStatus:
        """State, progress, blockers with their resolutions, transitions with what they miss, actions and history."""
        return await self._performer.ask(lifecycles.show_lifecycle, ShowLifecycle(id))

    async def drawing(self, id: str) -> LifecycleDrawing:
        """The lifecycle of an instance as SVG, with its present state marked."""
        return await self._performer.ask(lifecycles.draw_lifecycle, ShowLifecycle(id))

    async def list(
        self, lifecycle: str = "", *, state: str = "", subject: str = "", blocker: str = "", limit: int = 100
    ) -> Sequence[LifecycleItem]:
        """Instances, newest first, also by the key of a requirement that is not met.

        A state and a subject are looked for within a lifecycle.
        """
        request = ListLifecycles(lifecycle, state, subject, blocker=blocker)
        listing = pages(self._performer, LifecycleItem, lifecycles.list_lifecycles, request, limit)
        return [each async for each in listing]

    async def transit(self, id: str, target: str, *, reason: str = "") -> TransitionAnswer:
        """Take a manual transition, or agree to one that another person proposed."""
        return await self._performer.ask(lifecycles.transit_lifecycle, Transit(id, target, reason))

    async def resolve(self, id: str, key: str, *, confirm: str = "", phrase: str = "") -> LifecycleStatus:
        """Call the resolution of a blocker."""
        return await self._performer.ask(lifecycles.resolve_blocker, ResolveBlocker(id, key, confirm, phrase))

    async def act(self, id: str, action: str, *, confirm: str = "", phrase: str = "") -> LifecycleStatus:
        """Do an action that the present state offers."""
        return await self._performer.ask(lifecycles.do_action, DoAction(id, action, confirm, phrase))

    async def retry(self, id: str, task: int, *, confirm: str = "", phrase: str = "") -> LifecycleStatus:
        """Ask again for what failed or expired, by the number of its task."""
        return await self._performer.ask(
            lifecycles.retry_lifecycle_task, RetryLifecycleTask(id, task, confirm, phrase)
        )  # fmt: skip

    async def dismiss(self, id: str, task: int, reason: str) -> LifecycleStatus:
        """Say that nothing more is to be done about an action that failed."""
        return await self._performer.ask(
            lifecycles.dismiss_lifecycle_task, DismissLifecycleTask(id, task, reason)
        )  # fmt: skip

    async def erase(self, id: str, reason: str) -> LifecycleStatus:
        """Erase the context of an instance that is over, the facts it was decided by, and the data of its calls."""
        return await self._performer.ask(lifecycles.erase_lifecycle, EraseLifecycle(id, reason))

    async def look(self, id: str) -> LifecycleStatus:
        """Look at the facts of an instance once more, also when it is stuck."""
        return await self._performer.ask(lifecycles.look_again, ShowLifecycle(id))

    async def cancel(self, id: str, *, reason: str) -> LifecycleStatus:
        """End an instance and everything it asked for."""
        return await self._performer.ask(lifecycles.cancel_lifecycle, CancelLifecycle(id, reason))

    async def migrate(
        self,
        id: str,
        *,
        version: int | None = None,
        state: str = "",
        reason: str = "",
        dry: bool = False,
        confirm: str = "",
        phrase: str = "",
    ) -> MigrationPlan:
        """Let an instance go on under another version; a dry run says what that changes."""
        request = MigrateLifecycle(id, version, state, reason, dry, confirm, phrase)
        return await self._performer.ask(lifecycles.migrate_lifecycle, request)

    async def history(self, id: str, *, limit: int = 1000) -> builtins.list[EntryView]:
        """The journal of an instance, oldest first, with the facts that each decision used."""
        listing = pages(self._performer, EntryView, lifecycles.show_lifecycle_history, ShowHistory(id), limit)
        return [each async for each in listing]

    async def complete_task(
        self,
        correlation_id: str,
        status: Status = "completed",
        *,
        cargo_ref: str = "",
        cargo_type: str = "",
        items: Sequence[CargoItem] = (),
        error: str = "",
        idempotency_key: str = "",
    ) -> TaskReceipt:
        """Bring the result of a pending task; the same result counts once."""
        request = SendTaskResult(
            correlation_id=correlation_id, status=status, cargo_type=cargo_type, cargo_ref=cargo_ref, error=error,
            items=[*items], idempotency_key=idempotency_key,
        )  # fmt: skip
        return await self._performer.ask(lifecycles.send_task_result, request)

    async def definitions(self) -> builtins.list[LifecycleVersionView]:
        """Every version of every lifecycle."""
        return (await self._performer.ask(lifecycles.list_lifecycle_definitions, Nothing())).items

    async def deploy(
        self, yaml: str, *, file: str = "<text>", confirm: str = "", phrase: str = ""
    ) -> DeployedLifecycle:
        """Deploy a lifecycle; the same content again is the same version, and running instances keep theirs."""
        return await self._performer.ask(lifecycles.deploy_lifecycle, LifecycleText(yaml, file, confirm, phrase))

    async def retire(self, lifecycle: str, version: int, *, reason: str = "") -> builtins.list[LifecycleVersionView]:
        """No instance begins under that version any more; those that run go on."""
        request = RetireLifecycle(lifecycle, version, reason)
        return (await self._performer.ask(lifecycles.retire_lifecycle, request)).items
