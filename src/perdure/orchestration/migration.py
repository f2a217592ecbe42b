"""`WorkflowMigration`: running instances move to another version, tried first, and with a way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from perdure.engine import MigrationPlan
from perdure.errors import RejectedError

if TYPE_CHECKING:
    from perdure.orchestration.engine import WorkflowEngine


class WorkflowMigration:
    """Moves instances of an engine. Where they stood before is in the journal: that is the checkpoint."""

    def __init__(self, engine: WorkflowEngine) -> None:
        self._engine = engine

    async def migrate_instance(
        self, instance_id: str, target_version: str, *, mapping: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None, dry_run: bool = False, reason: str = "",
    ) -> MigrationPlan:  # fmt: skip
        """Go on in another version: nodes that are called otherwise are in `mapping`, old to new."""
        perdure = await self._engine.open()
        view = await perdure.instances.get(instance_id)
        target = await perdure.workflows.get(view.process, target_version)
        return await perdure.instances.migrate(
            instance_id, version=target.process_version, mapping=mapping, flags=variables, dry_run=dry_run,
            reason=reason or f"to version {target_version}",
        )  # fmt: skip

    async def migrate_all(
        self, workflow_id: str, from_version: str, target_version: str, *, mapping: Mapping[str, str] | None = None,
        dry_run: bool = False, limit: int = 100,
    ) -> dict[str, MigrationPlan | RejectedError]:  # fmt: skip
        """The same for active instances of a version, as many as `limit`; what was refused is told by instance."""
        perdure = await self._engine.open()
        source = await perdure.workflows.get(workflow_id, from_version)
        found: Sequence[str] = [
            each.id
            for each in await perdure.instances.list(process=workflow_id, status="active", limit=limit)
            if each.version == source.process_version
        ]
        outcome: dict[str, MigrationPlan | RejectedError] = {}
        for id in found:
            try:
                outcome[id] = await self.migrate_instance(id, target_version, mapping=mapping, dry_run=dry_run)
            except RejectedError as error:
                outcome[id] = error
        return outcome

    async def migrate_back(self, instance_id: str, *, reason: str = "", dry_run: bool = False) -> MigrationPlan:
        """To the version before."""
        perdure = await self._engine.open()
        return await perdure.instances.migrate_back(instance_id, reason=reason, dry_run=dry_run)
