"""Carrier moves: an instance changes from our kernel to a workflow, or back, by one record of its journal.

| stopped | who carries it | what goes on |
|---|---|---|
| before the record | the old engine | nothing has happened |
| to Temporal: after the record | Temporal; nothing is decided yet | its row is pending: upkeep begins the workflow |
| to Temporal: after the workflow began | Temporal | a workflow of its name never begins twice |
| back: decided by the workflow | nobody: both refuse | the workflow tells our journal, until it has it |
| back: in our journal | our kernel | timers and jobs are rows again; the workflow ends |

The record is the fence: a machine refuses what another engine carries, and the row version shows it to every process.
"""

from __future__ import annotations

from msgspec.structs import replace

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.commands import ChangeCarrier
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.engine import InstanceName, MovePlan
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.move_certificates import (
    Shadow,
    certificate_of,
    check_replay,
    journal_of,
    move_plan,
    replayed,
)
from perdure.engines.temporal.carried_commands import CarriedCommands
from perdure.engines.temporal.dispatch_rows import Staged, move_name
from perdure.engines.temporal.journal_follower import CARRIER
from perdure.engines.temporal.wire import ShadowJournal
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import digest, digest_text
from perdure.processes.instance_reader import instance_id
from perdure.sources import id_text

EMBEDDED = "embedded"
MAX_JOURNAL = 1_500_000
"""Bytes of a journal that Temporal takes in one piece."""


class CarrierMoves:
    """One per process."""

    def __init__(self, instances: Instances, commands: CarriedCommands) -> None:
        self._instances = instances
        self._commands = commands

    async def move(
        self, instance: InstanceName, origin: Origin, to: str, *, reason: str = "", dry_run: bool = False,
        shadow: bool = False,
    ) -> MovePlan:  # fmt: skip
        if to not in (EMBEDDED, CARRIER):
            hint = f"This process serves {EMBEDDED} and {CARRIER}."
            raise RejectedError(Rejection("invalid", "move to", "engine", to, "there is no such engine here", hint))
        aggregate = await self._instances.read(instance_id(instance), origin)
        carrier = CARRIER if await self._commands.is_carried(aggregate.id, is_fresh=True) else EMBEDDED
        plan = move_plan(self._machine, aggregate, carrier, to)
        told = await self._shadow(aggregate, to) if shadow else ""
        plan = move_plan(self._machine, aggregate, carrier, to, told)
        if dry_run:
            return plan
        return await self._moved(aggregate, plan, origin, reason)

    @property
    def _machine(self) -> InstanceMachine:
        return self._instances.machine

    async def _shadow(self, aggregate: Aggregate, to: str) -> Shadow:
        """Replay the journal where it is to go on, and compare the states."""
        bodies = await journal_of(self._instances.store, aggregate.id, aggregate.version)
        expected = digest(self._machine.encode(aggregate.state))
        if to == CARRIER:
            if sum(map(len, bodies)) > MAX_JOURNAL:
                fact = f"its journal has more than {MAX_JOURNAL:,} bytes, and Temporal takes no more in one piece"
                hint = "Move it without a shadow run; `perdure audit verify` replays it here."
                raise RejectedError(Rejection("blocked", "replay", INSTANCE, id_text(aggregate.id), fact, hint))
            found = await self._commands.client.shadow(aggregate.id, ShadowJournal(tuple(bodies)))
        else:
            state = replayed(self._machine, bodies)
            found = digest(self._machine.encode(state)) if state is not None else b""
        check_replay(aggregate, expected, found, to)
        return "equal"

    async def _moved(self, aggregate: Aggregate, plan: MovePlan, origin: Origin, reason: str) -> MovePlan:
        sources = self._instances.sources
        at, run = sources.now(), id_text(sources.new_id())
        certificate = certificate_of(self._machine, aggregate, plan, at)
        command = ChangeCarrier(carrier=plan.to, run=run, certificate=certificate, reason=reason)

        def prepare(current: Aggregate) -> Prepared | Rejection:
            if current.version != plan.version:
                fact = f"it has come to {current.version} records meanwhile, and {plan.version} were looked at"
                return Rejection("wrong_state", "move", INSTANCE, plan.instance, fact, "Move it again.")
            if plan.to == EMBEDDED:
                return Prepared(command)
            staged = Staged(bytes(current.id), plan.version + 1, origin, command, Attachments(), b"", 0)
            row = self._commands.rows.row(move_name(current.id, run), staged)
            return Prepared(command, Attachments(inbox=row))

        await self._instances.ask(aggregate.id, origin, prepare)
        self._commands.moved(aggregate.id, plan.to)
        if plan.to == CARRIER:
            await self._commands.begin_moved(aggregate.id, origin.tenant, move_name(aggregate.id, run))
        return replace(plan, is_dry=False, certificate=digest_text(certificate))
