"""Call views: a call as every surface shows it, made from its aggregate and the payloads beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from perdure.app.calls.views import CallView, CarrierView, call_view
from perdure.app.execution_mode import ModeOf
from perdure.app.quarantine_views import QUARANTINED, quarantined
from perdure.app.runbooks.open_proposal import proposal_of
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Kernel, Prepared
from perdure.kernel.ports import Attachments
from perdure.runbooks.machine.commands import Command
from perdure.runbooks.machine.runbook_machine import RunbookMachine, is_asked
from perdure.runbooks.machine.state import Pin, Runbook, Step
from perdure.sources import Id, id_text, parse_id
from perdure.store.store import Store

CarrierOf = Callable[[Aggregate, int, Pin], Awaitable[CarrierView]]
"""Shows the process that carries a step of a call."""
SentenceOf = Callable[[Step, Any], str]
"""Renders the sentence of a step from its arguments, in the words of the text that the step is pinned to."""

LinkOf = Callable[[Aggregate, int], str]
"""Links to the open human task that a step itself is."""


class CallViews:
    """Makes views of calls, for one origin."""

    def __init__(
        self,
        kernel: Kernel,
        store: Store,
        origin: Origin,
        carrier: CarrierOf,
        sentence: SentenceOf,
        mode: ModeOf,
        link: LinkOf = lambda aggregate, number: "",
    ) -> None:
        self._kernel = kernel
        self._store = store
        self._origin = origin
        self._carrier = carrier
        self._sentence = sentence
        self._mode = mode
        self._link = link

    async def parked(self, after: int, limit: int) -> list[dict[str, Any]]:
        """Waiting calls, oldest first; `number` of the last is the `after` of the next page."""
        listed = []
        for row in await self._store.parked(self._origin.tenant, after, limit):
            view = await self.listed(row.aggregate, row.step)
            listed.append({"number": row.number, **msgspec.to_builtins(view)})
        return listed

    async def listed(self, id: Id, step: int = 0) -> CallView:
        """A call, or a step of a runbook, in a list; one that is set aside says so and hides none of the others."""
        try:
            return await self.view(await self.read(id), step=step)
        except QuarantinedError as error:
            return self.damaged(id, error)

    def damaged(self, id: Id, error: QuarantinedError) -> CallView:
        """A call of which nothing can be trusted but that it is there."""
        return quarantined(CallView(id_text(id), "", 0, QUARANTINED, tenant=self._origin.tenant), error)

    async def ask(self, id: str, command: Command, brought: Attachments | None = None) -> CallView:
        """Decide upon a call, and view it as it is then."""
        answer = await self._kernel.ask(RunbookMachine.kind, parse_id(id), self._origin, Prepared(command, brought))
        assert answer.aggregate is not None
        return await self.view(answer.aggregate)

    async def read(self, id: Id) -> Aggregate:
        """A call or a runbook as it is now."""
        aggregate = await self._kernel.read(id, self._origin)
        if aggregate.kind != RunbookMachine.kind:
            fact, hint = f"that is the id of an {aggregate.kind}", "Look among the instances."
            raise RejectedError(Rejection("not_found", "find", "call", id_text(id), fact, hint))
        return aggregate

    async def view(self, aggregate: Aggregate, has_args: bool = True, step: int = 0) -> CallView:
        """A call; of a runbook the step that is named, or the one that is meant. Damaged data is left out."""
        number = step or spoken_of(aggregate.state)
        if not number:
            return CallView(id_text(aggregate.id), "", 0, aggregate.state.status, tenant=aggregate.tenant)
        try:
            view = await self._step(aggregate, has_args, number)
        except QuarantinedError as error:
            return quarantined(call_view(aggregate, None, None, number=number), error)
        return quarantined(view, self._store.set_aside.find(aggregate.id))

    async def _step(self, aggregate: Aggregate, has_args: bool, number: int) -> CallView:
        step = aggregate.state.steps[number - 1]
        args, result = await self.payloads(aggregate, (step.input or None) if has_args else None, step.result)
        carrier = await self._carrier(aggregate, number, step.carrier) if step.carrier is not None else None
        proposal = await proposal_of(self._store, aggregate, step) if step.proposal else None
        sentence = self._sentence(step, args) if args is not None else ""
        view = call_view(aggregate, args, result, sentence, carrier, number, proposal)
        link = carrier.task_link if carrier is not None else self._link(aggregate, number)
        return msgspec.structs.replace(view, mode=self._mode(step), task_link=link)

    async def readable(self, aggregate: Aggregate, hash: bytes | None) -> Any:
        """The value behind a hash; None also where it is damaged."""
        try:
            return (await self.payloads(aggregate, hash or None))[0]
        except QuarantinedError:
            return None

    async def payloads(self, aggregate: Aggregate, *hashes: bytes | None) -> list[Any]:
        """The values behind hashes; None where there is none, or it was erased."""
        if aggregate.state.erased_at:
            return [None] * len(hashes)
        return await self._store.values(aggregate.id, hashes)


def spoken_of(state: Runbook) -> int:
    """The step that is meant when none is named: the one that is stuck, else the one that waits; 0 of none."""
    if len(state.steps) < 2:
        return len(state.steps)
    stuck = (number for number, step in enumerate(state.steps, 1) if step.incident is not None or is_asked(step))
    parked = (number for number, step in enumerate(state.steps, 1) if step.status == "parked")
    return next(stuck, 0) or next(parked, 1)
