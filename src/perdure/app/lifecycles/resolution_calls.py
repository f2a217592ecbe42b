"""Resolutions as ordinary calls: begun once under an id of their task, ended with it, and their end told."""

from __future__ import annotations

from typing import Any, Literal

from perdure.errors import RejectedError, Rejection
from perdure.identifiers import Id
from perdure.journal import Origin
from perdure.kernel.kernel import Prepared
from perdure.lifecycles.ports import CallEnd, Resolution
from perdure.lifecycles.recovery import PARENT
from perdure.runbooks.executor.call_executor import KIND, CallExecutor
from perdure.runbooks.machine.commands import Cancel
from perdure.runbooks.machine.state import Runbook
from perdure.store.store import Store
from perdure.verbs import Verb
from perdure.verbs.definition import same_verb_name
from perdure.verbs.near_names import did_you_mean

AWAITS = "creates_pending_task"
"""Metadata of a verb that only asks somebody: the answer comes later, under the correlation id."""
OFFERED = "correlation_id"
"""The argument by which a verb learns the correlation id, where it declares it."""


class ResolutionCallDesk:
    """Calls of verbs for pending tasks."""

    def __init__(self, conductor: CallExecutor, store: Store) -> None:
        self._conductor = conductor
        self._store = store

    async def begin(self, resolution: Resolution, origin: Origin) -> Literal["begun", "elsewhere"]:
        verb = self._conductor.serves(resolution.verb)
        if verb is None:
            served = {same_verb_name(each) for each in await self._conductor.store.served_names()}
            if same_verb_name(resolution.verb) in served:
                return "elsewhere"
            raise RejectedError(self._missing(resolution.verb))
        cargo = self._conductor.router.incoming(verb, _args(verb, resolution))
        await self._conductor.begin(
            verb, cargo, origin, resolution.id, parent=f"{PARENT}:{resolution.correlation_id}",
            settles=resolution.settles, waits=False,
        )  # fmt: skip
        return "begun"

    def _missing(self, name: str) -> Rejection:
        catalogue = self._conductor.catalogue
        if catalogue.find(name) is not None:
            return Rejection("blocked", "call", "verb", name, "no worker has a handler for it")
        hint = did_you_mean(name, catalogue.names())
        return Rejection("not_found", "call", "verb", name, "no such verb is declared", hint)

    async def cancel(self, id: Id, origin: Origin, reason: str) -> None:
        try:
            await self._conductor.kernel.ask(KIND, id, origin, Prepared(Cancel(reason)))
        except RejectedError:
            return  # it has ended by itself, or never began

    async def complete_erasure(self, lifecycle: Id, origin: Origin) -> bool:
        return await self._conductor.complete_erasure(lifecycle, origin)

    async def end_of(self, id: Id, origin: Origin) -> CallEnd:
        found = await self._conductor.kernel.read(id, origin)
        state: Runbook = found.state
        step = state.steps[0]
        verb = self._conductor.catalogue.find(step.verb)
        awaits = verb is not None and verb.definition.metadata.get(AWAITS) is True and not verb.is_durable
        if state.status != "completed":
            error = step.error.message if step.error is not None else f"its call was {state.status}"
            return CallEnd(False, error, None, awaits)
        value: Any = None
        if step.result is not None:
            (value,) = await self._store.values(id, [step.result])
        return CallEnd(True, "", value, awaits)


def _args(verb: Verb, resolution: Resolution) -> dict[str, Any]:
    declared = verb.definition.input_schema.get("properties", {})
    if OFFERED in declared and OFFERED not in resolution.args:
        return {**resolution.args, OFFERED: resolution.correlation_id}
    return resolution.args
