"""Carrier moves: an instance changes from our kernel to a process instance of Camunda, or back, by one record.

| stopped | who carries it | what goes on |
|---|---|---|
| before the record | the old engine | nothing has happened |
| to Camunda: after the record | Camunda; nothing is asked of it yet | its dispatch is open: whoever asks next, or upkeep, sends it |
| to Camunda: after the process instance began | Camunda | it is bound to ours once; one that began twice is cancelled, as with a start |
| to Camunda: it refuses to begin there | our kernel again, by a second record | whoever asked is told why |
| back: after the record | our kernel; timers and jobs are rows again | the process instance is cancelled, now or by upkeep |

The record is the fence, and the dispatch that is kept with it the intent. What Camunda did before it was cancelled and
had not told is done here instead: its timers fire here, its jobs are leased here; a task completed in Tasklist counts.
"""  # noqa: E501

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.commands import ChangeCarrier
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.engine import InstanceName, MovePlan
from perdure.engines.camunda.carried_commands import CarriedCommands
from perdure.engines.camunda.carried_model import portability
from perdure.engines.camunda.dispatch_rows import CARRIER
from perdure.engines.camunda.engine_requests import Payload, first_variables
from perdure.engines.camunda.key_rows import KeyRows
from perdure.engines.camunda.movable_state import obstacles, start_elements
from perdure.engines.camunda.wire import Request
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.instance_carrier import EMBEDDED
from perdure.engines.move_certificates import Shadow, certificate_of, check_replay, journal_of, move_plan, replayed
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.payload import digest, digest_text
from perdure.processes.instance_reader import instance_id
from perdure.sources import Id, id_text

MOST_TOLD = 3


class CarrierMoves:
    """One per process."""

    def __init__(self, instances: Instances, commands: CarriedCommands, keys: KeyRows) -> None:
        self._instances = instances
        self._commands = commands
        self._keys = keys

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
        if to == CARRIER:
            await self._check(aggregate)
        told = await self._shadow(aggregate) if shadow else ""
        plan = move_plan(self._machine, aggregate, carrier, to, told)
        if dry_run:
            return plan
        return await self._moved(aggregate, plan, origin, reason)

    @property
    def _machine(self) -> InstanceMachine:
        return self._instances.machine

    async def _check(self, aggregate: Aggregate) -> None:
        """Refuse what Camunda cannot take along, each by its name."""
        state, address = aggregate.state, self._commands.address
        if aggregate.tenant != address.tenant:
            raise self._blocked(aggregate.id, f"Camunda carries tenant '{address.tenant}' only")
        if known := await self._keys.key_of(aggregate.id):
            raise self._blocked(aggregate.id, f"Camunda carried it before, as process instance {known}")
        definition = await self._instances.definitions.load(state.process, state.definition, aggregate.tenant)
        if problems := portability(definition.deployed, address):
            raise self._blocked(aggregate.id, _listed([problem.sentence() for problem in problems]))
        if found := list(obstacles(state, definition.deployed)):
            raise self._blocked(aggregate.id, _listed(found), "Wait until it is past that, and move it then.")

    async def _shadow(self, aggregate: Aggregate) -> Shadow:
        """Replay the journal and compare the states. Camunda keeps none: our machine goes on with what it leads to."""
        state = replayed(self._machine, await journal_of(self._instances.store, aggregate.id, aggregate.version))
        found = digest(self._machine.encode(state)) if state is not None else b""
        check_replay(aggregate, digest(self._machine.encode(aggregate.state)), found, EMBEDDED)
        return "equal"

    async def _moved(self, aggregate: Aggregate, plan: MovePlan, origin: Origin, reason: str) -> MovePlan:
        sources = self._instances.sources
        certificate = certificate_of(self._machine, aggregate, plan, sources.now())
        run = id_text(sources.new_id())
        command = ChangeCarrier(carrier=plan.to, run=run, certificate=certificate, reason=reason)
        requests, hash = await (self._beginning(aggregate) if plan.to == CARRIER else self._ending(aggregate.id))
        await self._commands.move(aggregate.id, origin, command, requests, plan.version, hash)
        return replace(plan, is_dry=False, certificate=digest_text(certificate))

    async def _beginning(self, aggregate: Aggregate) -> tuple[tuple[Request, ...], str]:
        """A process instance that begins where the tokens stand, with the payload and all flags as they are."""
        state = aggregate.state
        data = await self._instances.store.payload(aggregate.id, state.head)
        if data is None:
            raise self._blocked(aggregate.id, "its data has been erased")
        payload = Payload(data.decode("utf-8", "surrogateescape"), digest_text(state.head))
        body: dict[str, Any] = {
            "variables": first_variables(state.flags, payload),
            "startInstructions": [{"elementId": element} for element in start_elements(state)],
        }
        return (Request("POST", "/process-instances", body),), payload.hash

    async def _ending(self, id: Id) -> tuple[tuple[Request, ...], str]:
        key = await self._keys.key_of(id)
        return (Request("POST", f"/process-instances/{key}/cancellation", {}),), ""

    def _blocked(self, id: Id, fact: str, hint: str = "") -> RejectedError:
        return RejectedError(Rejection("blocked", "move to Camunda", INSTANCE, id_text(id), fact, hint))


def _listed(facts: list[str]) -> str:
    more = len(facts) - MOST_TOLD
    return "; ".join(facts[:MOST_TOLD]) + (f", and {more} more" if more > 0 else "")
