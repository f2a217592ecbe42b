"""The row builder makes rows of lists from states, and reads no more data than a title needs."""

from __future__ import annotations

import msgspec

from perdure.app.calls.views import CarrierView, step_progress, waiting_view
from perdure.app.instances.views import InstanceView
from perdure.app.lists.list_rows import InstanceRow, RunbookRow
from perdure.app.processes.processes import Views
from perdure.app.quarantine_views import QUARANTINED, quarantined
from perdure.app.runbooks.views import StepView, brief, step_view, wait_text
from perdure.app.runtime import Runtime
from perdure.errors import QuarantinedError, RejectedError
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.machine.state import WAITING, Runbook, Step
from perdure.sources import Id, id_text, iso

CARRIERS_TOLD = 2
"""Steps of one runbook whose processes are asked how far they have come."""
WAITS_TOLD = 5
DRAFT = "Draft"


class _TitledStep(msgspec.Struct, frozen=True):
    name: str = ""
    verb: str = ""
    sentence: str = ""


class _Titled(msgspec.Struct, frozen=True):
    """Of a plan's document what a title needs; the rest is skipped, not read."""

    steps: tuple[_TitledStep, ...] = ()


_titled = msgspec.json.Decoder(_Titled).decode


class Rows:
    """Of one process."""

    def __init__(self, runtime: Runtime, views: Views) -> None:
        self._runtime = runtime
        self._views = views

    async def runbook(self, aggregate: Aggregate) -> RunbookRow:
        """A plan, a draft or a call."""
        state: Runbook = aggregate.state
        steps = await self._steps(aggregate)
        counted = [each for each in steps if each.verb and each.state not in ("skipped", "cancelled")]
        waits = [wait for each in steps if (wait := wait_text(each))]
        case = state.course.case if state.course is not None else state.draft.case if state.draft is not None else ""
        row = RunbookRow(
            id_text(aggregate.id), state.status, case, await self.title(aggregate),
            brief(steps, is_ended=bool(state.ended_at)),
            "" if is_plan(state) else state.steps[0].verb, len(counted),
            sum(each.state == "completed" for each in counted), waits[:WAITS_TOLD], iso(state.started_at),
            iso(state.ended_at or None), state.principal, aggregate.version,
            sum(step.incident is not None for step in state.steps),
        )  # fmt: skip
        return quarantined(row, self._runtime.store.set_aside.find(aggregate.id))

    async def _steps(self, aggregate: Aggregate) -> list[StepView]:
        carriers: dict[int, CarrierView] = {}
        for number, step in enumerate(aggregate.state.steps, 1):
            if len(carriers) < CARRIERS_TOLD and step.status == "parked" and step.carrier is not None:
                carriers[number] = await self._views.carrier(aggregate, number, step.carrier)
        return [
            _step(aggregate, number, step, carriers.get(number)) for number, step in enumerate(aggregate.state.steps, 1)
        ]

    async def carrier(self, aggregate: Aggregate, number: int) -> CarrierView | None:
        """How far the process that carries a step has come; None where none does."""
        pin = aggregate.state.steps[number - 1].carrier
        return await self._views.carrier(aggregate, number, pin) if pin is not None else None

    async def title(self, aggregate: Aggregate) -> str:
        """The sentence of the first step; the verb's description or name where there is none to be had."""
        state: Runbook = aggregate.state
        try:
            if state.course is not None:
                return await self._plan_title(aggregate)
            return await self._call_title(aggregate) if state.steps else DRAFT
        except (QuarantinedError, RejectedError, msgspec.DecodeError):
            return state.steps[0].verb if state.steps else DRAFT  # a damaged payload hides no row

    async def _plan_title(self, aggregate: Aggregate) -> str:
        state: Runbook = aggregate.state
        fragments = state.course.fragments if state.course is not None else ()
        data = None
        if fragments and not state.erased_at:
            data = await self._runtime.store.payload(aggregate.id, fragments[0].document)
        steps = _titled(data).steps if data is not None else ()
        named = (step.sentence or step.name.replace("_", " ") for step in steps if step.verb)
        return next(named, "") or (state.steps[0].verb if state.steps else "")

    async def _call_title(self, aggregate: Aggregate) -> str:
        state: Runbook = aggregate.state
        step = state.steps[0]
        verb = self._runtime.conductor.texts.shown(step)
        if verb is None:
            return step.verb
        data = None
        if not state.erased_at and step.input:
            data = await self._runtime.store.payload(aggregate.id, step.input)
        sentence = verb.sentence(msgspec.json.decode(data)) if data is not None else ""
        return sentence or verb.definition.description or step.verb

    async def instance(self, aggregate: Aggregate) -> InstanceRow:
        return instance_row(await self._views.instance(aggregate, has_data=False))


def _step(aggregate: Aggregate, number: int, step: Step, carrier: CarrierView | None) -> StepView:
    if step.links is not None:
        return step_view(aggregate, number, None, None, None, carrier)
    waiting = waiting_view(aggregate.id, step, carrier, number)
    progress = step_progress(step, carrier)
    return StepView(step.verb, number, step.verb, step.status, waiting_for=waiting, carrier=carrier, progress=progress)


def is_plan(state: Runbook) -> bool:
    return state.course is not None or state.draft is not None


def instance_row(view: InstanceView) -> InstanceRow:
    waiting = list(dict.fromkeys(wait.text for wait in view.waits))
    return InstanceRow(
        view.id, view.state, view.process, view.version, view.progress, view.business_key, waiting[:WAITS_TOLD],
        len(view.incidents), view.started_at, view.ended_at, view.parent, view.principal, view.sequence,
    )  # fmt: skip


def quarantined_row(id: Id) -> RunbookRow:
    return RunbookRow(id_text(id), QUARANTINED, title="Quarantined: its stored bytes are not what was written")


def quarantined_instance(id: Id) -> InstanceRow:
    return InstanceRow(id_text(id), QUARANTINED)


def waits_since(aggregate: Aggregate, step: int) -> int:
    """Since when a step of a call or a runbook waits; 0 when it does not."""
    steps = aggregate.state.steps
    if not 1 <= step <= len(steps):
        return 0
    found = steps[step - 1]
    tokens = [token.parked_at for token in found.tokens if token.status == WAITING]
    return min(tokens, default=found.links.gated_at if found.links is not None else 0)
