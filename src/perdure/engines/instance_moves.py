"""Instance moves: an instance changes from one engine to another by one record of its journal.

| stopped | who carries it | what goes on |
|---|---|---|
| before the record | the old engine | nothing has happened |
| going outside: after the record | that engine; nothing is decided yet | its row is pending: recovery begins it there |
| going outside: after it began | that engine | an instance of its name never begins twice |
| away from one: decided there | nobody: all refuse | it tells our journal, until that has it |
| to our kernel: in our journal | our kernel | timers and jobs are rows again |

The record is the fence: a machine refuses what another engine carries, and the row version shows it to every process.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.commands import ChangeCarrier
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.engine import InstanceName, MovePlan
from perdure.engines.carrier import CarriedMoves, Carrier
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.instance_carrier import EMBEDDED, InstanceCarriers
from perdure.engines.move_certificates import (
    Shadow,
    certificate_of,
    check_replay,
    journal_of,
    move_plan,
    replayed,
)
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import digest, digest_text
from perdure.processes.instance_reader import instance_id
from perdure.sources import Id, id_text


class InstanceMoves:
    """One per process."""

    def __init__(self, instances: Instances, carriers: InstanceCarriers, outside: Mapping[str, Carrier]) -> None:
        self._instances = instances
        self._carriers = carriers
        self._outside = outside

    async def move(
        self, instance: InstanceName, origin: Origin, to: str, *, reason: str = "", dry_run: bool = False,
        shadow: bool = False,
    ) -> MovePlan:  # fmt: skip
        self._check_name(to)
        aggregate = await self._instances.read(instance_id(instance), origin)
        carrier = await self._carriers.look(aggregate.id) or EMBEDDED
        plan = move_plan(self._machine, aggregate, carrier, to)
        for name in (carrier, to):
            self._check_moves(name, aggregate.id)
        if (moves := self._moves(to)) is not None:
            await moves.check(aggregate)
        told = await self._shadow(aggregate, to) if shadow else ""
        plan = move_plan(self._machine, aggregate, carrier, to, told)
        if dry_run:
            return plan
        return await self._moved(aggregate, plan, origin, reason)

    def _check_name(self, to: str) -> None:
        if to != EMBEDDED and to not in self._outside:
            hint = f"This process serves {', '.join([EMBEDDED, *self._outside])}."
            raise RejectedError(Rejection("invalid", "move to", "engine", to, "there is no such engine here", hint))

    def _check_moves(self, name: str, id: Id) -> None:
        """Refuse an engine that running instances can neither leave nor come to."""
        if name != EMBEDDED and self._moves(name) is None:
            fact = f"the engine '{name}' can carry it only from its start to its end"
            raise RejectedError(Rejection("blocked", "move", INSTANCE, id_text(id), fact))

    def _moves(self, name: str) -> CarriedMoves | None:
        outside = self._outside.get(name)
        return outside.moves if outside is not None else None

    @property
    def _machine(self) -> InstanceMachine:
        return self._instances.machine

    async def _shadow(self, aggregate: Aggregate, to: str) -> Shadow:
        """Replay the journal where it is to go on, and compare the states."""
        bodies = await journal_of(self._instances.store, aggregate.id, aggregate.version)
        expected = digest(self._machine.encode(aggregate.state))
        if (moves := self._moves(to)) is not None:
            found = await moves.shadow(aggregate.id, bodies)
        else:
            state = replayed(self._machine, bodies)
            found = digest(self._machine.encode(state)) if state is not None else b""
        check_replay(aggregate, expected, found, to)
        return "equal"

    async def _moved(self, aggregate: Aggregate, plan: MovePlan, origin: Origin, reason: str) -> MovePlan:
        sources, moves = self._instances.sources, self._moves(plan.to)
        at, run = sources.now(), id_text(sources.new_id())
        certificate = certificate_of(self._machine, aggregate, plan, at)
        command = ChangeCarrier(carrier=plan.to, run=run, certificate=certificate, reason=reason)

        def prepare(current: Aggregate) -> Prepared | Rejection:
            if current.version != plan.version:
                fact = f"it has come to {current.version} records meanwhile, and {plan.version} were looked at"
                return Rejection("wrong_state", "move", INSTANCE, plan.instance, fact, "Move it again.")
            if moves is None:
                return Prepared(command)
            return Prepared(command, Attachments(inbox=moves.row(current, command, origin)))

        await self._instances.ask(aggregate.id, origin, prepare)
        self._carriers.remember(aggregate.id, plan.to if moves is not None else "")
        if moves is not None:
            await moves.begin(aggregate.id, origin.tenant, run)
        return replace(plan, is_dry=False, certificate=digest_text(certificate))
