"""Human tasks of a step: those that its verb declares, or that the process has which carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.kernel.kernel import Aggregate
from perdure.overrides import Guard, contract_guards
from perdure.processes.called_process_tasks import tasks_of_instance, tasks_of_process
from perdure.runbooks.machine.runbook_machine import carried_as
from perdure.runbooks.machine.state import Runbook, Step
from perdure.sources import id_text
from perdure.verbs.task_section_reader import filled

if TYPE_CHECKING:
    from perdure.app.operations.operation import Context


async def unseen_tasks(context: Context, aggregate: Aggregate, number: int) -> tuple[Guard, ...]:
    """Tasks of a step that its runbook does not know of (yet); the machine decides what they mean for an act."""
    runtime, origin = context.runtime, context.origin
    state: Runbook = aggregate.state
    step: Step = state.steps[number - 1]
    if step.carrier is not None:
        place = f"step:{carried_as(id_text(aggregate.id), number, step)}"
        id, process = child_id(aggregate.tenant, place), step.carrier.process
        return await tasks_of_instance(runtime.instances, id, origin, process=process, askers=state.askers)
    verb = runtime.conductor.texts.shown(step) if step.verb else None
    if verb is None:
        return ()
    if verb.execution.process:
        return await tasks_of_process(runtime.instances, verb.execution.process, state.askers, origin)
    if verb.execution.task is None:
        return ()
    data = await runtime.store.payload(aggregate.id, step.input) if step.input else None
    args = msgspec.json.decode(data) if data is not None else {}
    name = step.links.name if step.links is not None else step.verb
    contract = filled(verb.execution.task, args)
    return contract_guards(f"task '{name}'", contract, state.askers, runtime.sources.now())
