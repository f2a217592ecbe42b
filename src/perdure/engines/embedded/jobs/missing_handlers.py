"""Missing handlers: a job whose verb or handler is gone raises an incident."""

from __future__ import annotations

from perdure.bpmn.machine.commands import RaiseIncident
from perdure.bpmn.machine.state import Node
from perdure.engines.embedded.instances.instances import Instances
from perdure.journal import Origin
from perdure.kernel.kernel import Prepared
from perdure.processes.plan_cache import Definition
from perdure.runbooks.executor.call_executor import BRING_BACK, missing_text
from perdure.sources import Id

PLATFORM = "perdure"
MISSING = "definition.missing"


async def raise_missing(
    instances: Instances, id: Id, node: Node, origin: Origin, definition: Definition
) -> None:  # fmt: skip
    """A job whose verb or handler is gone must be seen by a person."""
    verb = definition.type_of(node)
    what, binding = f"The verb '{verb}' that the task '{node.element}' is pinned to", definition.binding(verb)
    text = f"{what} is not available any more. {BRING_BACK}"
    if binding is not None:
        catalogue = instances.conductor.catalogue
        why = missing_text(catalogue, what, binding.verb, binding.version, binding.definition)
        text = f"{why} {BRING_BACK}"
    job = node.job
    command = RaiseIncident(
        node=node.number, code=MISSING, text=text, attempt=job.attempt if job is not None else 0,
        job_worker=job.worker if job is not None else 0,
    )  # fmt: skip
    await instances.ask(id, Origin(origin.tenant, PLATFORM), Prepared(command))
