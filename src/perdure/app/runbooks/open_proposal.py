"""The open proposal of a step: an agent proposed it, and a person is asked about it."""

from __future__ import annotations

from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.agent_proposal import Proposal
from perdure.runbooks.machine.human_tasks import waiting_task
from perdure.runbooks.machine.state import Step
from perdure.store.store import Store
from perdure.typed_reading import read_json


async def proposal_of(store: Store, aggregate: Aggregate, step: Step) -> Proposal | None:
    """What the agent of a step proposes, while a person is asked about it."""
    if not step.proposal or waiting_task(step) is None or aggregate.state.erased_at:
        return None
    data = await store.payload(aggregate.id, step.proposal)
    return read_json(data, Proposal) if data is not None else None
