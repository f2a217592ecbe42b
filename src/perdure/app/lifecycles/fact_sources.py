"""Facts that this platform reads: states of lifecycles and runbooks, and answers of verbs."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.errors import PerdureError, RejectedError
from perdure.identifiers import parse_id
from perdure.journal import Origin
from perdure.journal.facts import fact_parts
from perdure.kernel.kernel import Kernel
from perdure.lifecycles.instances import PLATFORM, LifecycleInstances
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import Runbook
from perdure.store.store import Store


class LifecycleFacts:
    """`lifecycle/<definition>/<subject>`: the newest instance."""

    kind = "lifecycle"

    def __init__(self, instances: LifecycleInstances) -> None:
        self._instances = instances

    async def read(self, tenant: str, key: str) -> Any:
        lifecycle, subject = fact_parts(key)
        found = await self._instances.newest(lifecycle, subject, Origin(tenant, PLATFORM))
        if found is None:
            return None
        return {"state": found.state.state, "status": found.state.status, "version": found.state.number}


class RunbookFacts:
    """`runbook/<id>`: the state of a runbook; a call alone is none."""

    kind = "runbook"

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    async def read(self, tenant: str, key: str) -> Any:
        try:
            found = await self._kernel.read(parse_id(fact_parts(key)[0]), Origin(tenant, PLATFORM))
        except RejectedError:
            return None
        if found.kind != RunbookMachine.kind or found.state.course is None:
            return None
        return {"state": found.state.status}


class VerbFacts:
    """`verb/<name>/<arguments>`: the answer of a sync verb, by an ordinary call."""

    kind = "verb"

    def __init__(self, conductor: CallExecutor, store: Store) -> None:
        self._conductor = conductor
        self._store = store

    async def read(self, tenant: str, key: str) -> Any:
        name, args = fact_parts(key)
        origin = Origin(tenant, PLATFORM)
        verb = self._conductor.catalogue.find(name)
        if verb is None:
            return {"failure": "no such verb is declared"}
        if verb.is_durable:
            return {"failure": "it is durable, and a guard needs an answer at once"}
        try:
            call = await self._conductor.call(verb, msgspec.json.decode(args), origin)
        except PerdureError as error:
            return {"failure": str(error)[:500]}
        state: Runbook = call.state
        step = state.steps[0]
        if state.status != "completed" or step.result is None:
            return {"failure": (step.error.message if step.error is not None else f"it is {state.status}")[:500]}
        (value,) = await self._store.values(call.id, [step.result])
        return value
