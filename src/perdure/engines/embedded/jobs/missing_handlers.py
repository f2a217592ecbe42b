"""Missing handlers: a job whose verb or handler is gone raises an incident."""

from __future__ import annotations

from perdure.bpmn.machine.commands import RaiseIncident
from perdure.bpmn.machine.state import Node
from perdure.engines.embedded.instances.instances import Instances
from perdure.journal import Origin
from perdure.kernel.kernel import Prepared
from perdure.processes.plan_cache import Definition
from perdure.sources import Id

PLATFORM = "perdure"
MISSING = "definition.missing"


async def raise_missing(
    instances: Instances, id: Id, node: Node, origin: Origin, definition: Definition
) -> None:  # fmt: skip
    """A job whose verb or handler is gone must be seen by a person."""
    verb = definition.type_of(node)
    text = (
        f"The verb '{verb}' that the task '{node.element}' is pinned to is not available any more. "
        "Bring its definition and handler back, then `perdure incidents retry`; or `perdure incidents resolve`."
    )
    job = node.job
    command = RaiseIncident(
        node=node.number, code=MISSING, text=text, attempt=job.attempt if job is not None else 0,
        job_worker=job.worker if job is not None else 0,
    )  # fmt: skip
    await instances.ask(id, Origin(origin.tenant, PLATFORM), Prepared(command))
