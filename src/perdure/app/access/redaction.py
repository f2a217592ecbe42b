"""Redaction: a principal sees of calls, runbooks and instances of other verbs that they exist and their state.

A key that reaches the verb of a call sees what the call itself says. The process behind it, its waits, its incidents
and its progress are for keys that reach the verbs of that process.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from msgspec.structs import replace

from perdure.access.principal import Principal
from perdure.access.verb_reach import may_read
from perdure.app.access.data_verbs import DataVerbs
from perdure.app.calls.views import CallView, ErrorView, ReceiptView, WaitingFor
from perdure.app.instances.views import InstanceView
from perdure.app.lists.list_rows import RunbookRow
from perdure.app.runbooks.views import RunbookView, StepView, brief
from perdure.errors import QuarantinedError, RejectedError

T = TypeVar("T")
V = TypeVar("V", CallView, StepView)


async def redacted(data_verbs: DataVerbs, principal: Principal, answer: T) -> T:
    """An answer as the principal sees it; answers that are no views of one thing stay as they are."""
    if principal.reaches_every_verb:
        return answer
    told: Any = answer
    seen = _Seen(data_verbs, principal)
    if isinstance(told, ReceiptView) and told.call is not None:
        told = replace(told, call=await seen.call(told.call))
    elif isinstance(told, CallView):
        told = await seen.call(told)
    elif isinstance(told, InstanceView):
        told = await seen.instance(told)
    elif isinstance(told, RunbookView):
        told = await seen.runbook(told)
    return cast("T", told)


class _Seen:
    """Things as one principal with a narrowed key sees them."""

    def __init__(self, data_verbs: DataVerbs, principal: Principal) -> None:
        self._data_verbs = data_verbs
        self._patterns = principal.verbs

    async def call(self, view: CallView) -> CallView:
        if not may_read(self._patterns, await self._data_verbs.of_call(view.id, view.verb)):
            return _call(view)
        return await self._door(view)

    async def instance(self, view: InstanceView) -> InstanceView:
        try:
            verbs = await self._data_verbs.of_id(view.id)
        except (QuarantinedError, RejectedError):
            return _instance(view)
        return view if may_read(self._patterns, verbs) else _instance(view)

    async def runbook(self, view: RunbookView) -> RunbookView:
        if not view.steps:
            return replace(view, error=_error(view.error))
        verbs = await self._data_verbs.of_steps(view.id, [step.number for step in view.steps])
        steps = [
            await self._door(step) if may_read(self._patterns, names) else _step(step)
            for step, names in zip(view.steps, verbs, strict=True)
        ]
        return replace(view, steps=steps, progress=brief(steps, is_ended=view.is_ended) if view.progress else "")

    async def _door(self, view: V) -> V:
        """What the call itself says, unless the principal reaches what its process is made of."""
        if view.carrier is None:
            return view
        verbs = await self._data_verbs.of_carried(view.carrier.process, view.carrier.definition, view.carrier.instance)
        if may_read(self._patterns, verbs):
            return view
        return replace(view, carrier=None, progress="", flags={}, waiting_for=_wait(view.waiting_for))


def closed_row(row: RunbookRow) -> RunbookRow:
    """A row without words about the processes behind it."""
    return replace(row, progress="", waiting=[])


def _instance(view: InstanceView) -> InstanceView:
    return InstanceView(
        view.id, view.process, view.version, view.definition, view.state, "", tenant=view.tenant,
        started_at=view.started_at, ended_at=view.ended_at, suspended_at=view.suspended_at, erased_at=view.erased_at,
        sequence=view.sequence, verb=view.verb,
    )  # fmt: skip


def _call(view: CallView) -> CallView:
    return replace(
        view, args=None, result=None, sentence="", progress="", flags={}, amendments=[], carrier=None, proposal=None,
        usage=None, error=_error(view.error), waiting_for=_wait(view.waiting_for),
        attempt=replace(view.attempt, error=_error(view.attempt.error)) if view.attempt is not None else None,
    )  # fmt: skip


def _step(step: StepView) -> StepView:
    return replace(
        step, args=None, result=None, sentence="", progress="", reported="", flags={}, provenance={}, carrier=None,
        proposal=None, usage=None, error=_error(step.error), waiting_for=_wait(step.waiting_for),
        attempt=replace(step.attempt, error=_error(step.attempt.error)) if step.attempt is not None else None,
    )  # fmt: skip


def _error(error: ErrorView | None) -> ErrorView | None:
    """Codes are the verb's own; what it says may quote data."""
    return replace(error, message="") if error is not None else None


def _wait(wait: WaitingFor | None) -> WaitingFor | None:
    return replace(wait, key="", text="") if wait is not None else None
