"""Lost-lease retry: a command that met the end of its process's lease is put again under the next one.

| the command | under the new lease |
|---|---|
| asks for something, whoever asks | is put again, with the new number where it names the worker |
| reports what was done under the lost lease, or takes up work under it | is refused: others may have taken over |
"""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.bpmn.machine import commands as process_commands
from perdure.errors import FencedError, Rejection
from perdure.kernel.kernel import Aggregate, Preparation, Prepared
from perdure.runbooks.machine import commands as runbook_commands

BOUND_TO_LEASE = (
    runbook_commands.RecordAttempt,
    runbook_commands.LeaseJob,
    runbook_commands.LaunchSteps,
    runbook_commands.FireTimer,
    process_commands.RecordJob,
    process_commands.LeaseJob,
    process_commands.FireTimer,
)


def under_new_lease(prepare: Preparation | Prepared, lost: FencedError, number: int) -> Preparation | Prepared | None:
    """What to put again under the lease `number`; None where it belongs to the one that was lost."""
    if isinstance(prepare, Prepared):
        if isinstance(prepare.command, BOUND_TO_LEASE):
            return None
        brought = prepare.attachments if prepare.undecided is None else prepare.undecided
        return Prepared(_renamed(prepare.command, int(lost.id), number), brought, due=prepare.due)

    def again(aggregate: Aggregate) -> Prepared | Rejection:
        made = prepare(aggregate)
        if isinstance(made, Prepared) and isinstance(made.command, BOUND_TO_LEASE):
            raise lost
        return made

    return again


def _renamed(command: Any, lost: int, number: int) -> Any:
    if lost and getattr(command, "worker", 0) == lost:
        return msgspec.structs.replace(command, worker=number)
    return command
