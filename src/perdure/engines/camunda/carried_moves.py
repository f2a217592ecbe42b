"""Carried moves: an instance that comes from our kernel begins as a process instance where its tokens stand.

| stopped | what goes on |
|---|---|
| after the record of the move | its dispatch is open: whoever asks next, or recovery, lets Camunda begin |
| after Camunda began | it is bound to ours once; one that began twice is cancelled, as with a start |
| where Camunda refuses to begin | our kernel has it again, by a second record; whoever asked is told why |

On the way back the process instance is cancelled, then our journal has the record: a dispatch like any other. What
Camunda did before and had not told is done here instead: its timers fire here, its jobs are leased here; a task that
was completed in Tasklist counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.commands import ChangeCarrier
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.engines.camunda.address import CamundaAddress
from perdure.engines.camunda.carried_commands import CarriedCommands
from perdure.engines.camunda.carried_model import portability
from perdure.engines.camunda.dispatch_rows import DispatchRows, Staged
from perdure.engines.camunda.movable_state import obstacles
from perdure.engines.move_certificates import replayed
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import Attachments, InboxRow
from perdure.payload import digest
from perdure.processes.definitions import Definitions
from perdure.sources import Id, id_text

MOST_TOLD = 3


class ProcessInstanceMoves:
    """One per engine."""

    def __init__(
        self, commands: CarriedCommands, rows: DispatchRows, definitions: Definitions, machine: InstanceMachine,
        address: CamundaAddress,
    ) -> None:  # fmt: skip
        self._commands = commands
        self._rows = rows
        self._definitions = definitions
        self._machine = machine
        self._address = address

    async def check(self, current: Aggregate) -> None:
        """Refuse what Camunda cannot take along, each by its name."""
        state, keys = current.state, self._commands.keys
        if current.tenant != self._address.tenant:
            raise self._blocked(current.id, f"Camunda carries tenant '{self._address.tenant}' only")
        if known := await keys.key_of(current.id):
            raise self._blocked(current.id, f"Camunda carried it before, as process instance {known}")
        definition = await self._definitions.load(state.process, state.definition, current.tenant)
        if problems := portability(definition.deployed, self._address):
            raise self._blocked(current.id, _listed([problem.sentence() for problem in problems]))
        if found := list(obstacles(state, definition.deployed)):
            raise self._blocked(current.id, _listed(found), "Wait until it is past that, and move it then.")

    async def shadow(self, id: Id, bodies: Sequence[bytes]) -> bytes:
        """The hash of the state that a journal leads to. Camunda keeps none: our machine goes on with it there."""
        state = replayed(self._machine, list(bodies))
        return digest(self._machine.encode(state)) if state is not None else b""

    def row(self, current: Aggregate, command: ChangeCarrier, origin: Origin) -> InboxRow:
        """The dispatch that begins the process instance, committed with the record of the move."""
        staged = Staged(bytes(current.id), 0, origin, command, Attachments())
        return self._rows.row(self._rows.move_name(current.id, command.run), staged)

    async def begin(self, id: Id, tenant: str, run: str) -> None:
        await self._commands.begin_moved(id, tenant, run)

    def _blocked(self, id: Id, fact: str, hint: str = "") -> RejectedError:
        return RejectedError(Rejection("blocked", "move to Camunda", INSTANCE, id_text(id), fact, hint))


def _listed(facts: list[str]) -> str:
    more = len(facts) - MOST_TOLD
    return "; ".join(facts[:MOST_TOLD]) + (f", and {more} more" if more > 0 else "")
