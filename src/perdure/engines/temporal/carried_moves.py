"""Carried moves: an instance that comes from another engine begins as a workflow of a name of its own."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.commands import ChangeCarrier
from perdure.engines.temporal.carried_commands import CarriedCommands
from perdure.engines.temporal.dispatch_rows import DispatchRows, Staged
from perdure.engines.temporal.wire import ShadowJournal
from perdure.engines.temporal.workflow_client import WorkflowClient
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import Attachments, InboxRow
from perdure.sources import Id, id_text

MAX_JOURNAL = 1_500_000
"""Bytes of a journal that Temporal takes in one piece."""


class WorkflowMoves:
    """One per engine."""

    def __init__(self, commands: CarriedCommands, rows: DispatchRows, client: WorkflowClient) -> None:
        self._commands = commands
        self._rows = rows
        self._client = client

    async def check(self, current: Aggregate) -> None:
        """The same machine goes on there: it takes everything along."""

    async def shadow(self, id: Id, bodies: Sequence[bytes]) -> bytes:
        """The hash of the state that a journal leads to, replayed by a worker of the namespace."""
        if sum(map(len, bodies)) > MAX_JOURNAL:
            fact = f"its journal has more than {MAX_JOURNAL:,} bytes, and Temporal takes no more in one piece"
            hint = "Move it without a shadow run; `perdure audit verify` replays it here."
            raise RejectedError(Rejection("blocked", "replay", INSTANCE, id_text(id), fact, hint))
        return await self._client.shadow(id, ShadowJournal(tuple(bodies)))

    def row(self, current: Aggregate, command: ChangeCarrier, origin: Origin) -> InboxRow:
        """The dispatch that begins the workflow, committed with the record of the move."""
        staged = Staged(bytes(current.id), current.version + 1, origin, command, Attachments(), b"", 0)
        return self._rows.row(self._rows.move_name(current.id, command.run), staged)

    async def begin(self, id: Id, tenant: str, run: str) -> None:
        """Begin the workflow; recovery tries again while the server is away."""
        await self._commands.begin_moved(id, tenant, self._rows.move_name(id, run))
