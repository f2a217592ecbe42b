"""The human tasks of calls and of the steps of runbooks: seen, handled and answered."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.runtime import Runtime
from perdure.app.task_views import TaskView, of_task
from perdure.errors import RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.people import HumanTask, over
from perdure.runbooks import commands as c
from perdure.runbooks.conductor import KIND
from perdure.runbooks.intake import Completion
from perdure.runbooks.proposals import Proposal
from perdure.runbooks.state import Step, step_id
from perdure.sources import Id, id_text, iso


class RunbookTasks:
    """What the desk of tasks does with those of steps."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin

    async def of(self, id: Id) -> Aggregate | None:
        """The runbook of that id; None when the id is something else's."""
        try:
            found = await self._runtime.kernel.read(id, self._origin)
        except RejectedError:
            return None
        return found if found.kind == KIND else None

    @staticmethod
    def task(aggregate: Aggregate, number: int) -> HumanTask | None:
        """The task of a step that can still be answered."""
        steps = aggregate.state.steps
        return steps[number - 1].open_task if 1 <= number <= len(steps) else None

    async def view(self, aggregate: Aggregate, number: int, task: HumanTask, row: int, has_form: bool) -> TaskView:
        step: Step = aggregate.state.steps[number - 1]
        letters = id_text(aggregate.id)
        verb = self._runtime.catalogue.find(step.verb, step.version) if has_form else None
        form = verb.definition.output_schema if verb is not None else None
        name = step.links.name if step.links is not None else step.verb
        return TaskView(
            step_id(letters, number), letters, number, step.verb, name, task.title or name, since=iso(task.opened_at),
            number=row, form=form, proposal=await proposal_of(self._runtime, aggregate, step),
            **of_task(task, self._runtime.sources.now()),
        )  # fmt: skip

    async def handle(self, aggregate: Aggregate, command: c.HandleTask) -> None:
        await self._runtime.kernel.ask(KIND, aggregate.id, self._origin, Prepared(command))

    async def accept(self, aggregate: Aggregate, number: int, override: str) -> None:
        """Answer with what the agent proposed."""
        key = step_id(id_text(aggregate.id), number)
        steps = aggregate.state.steps
        step = steps[number - 1] if 1 <= number <= len(steps) else None
        proposal = await proposal_of(self._runtime, aggregate, step) if step is not None else None
        if proposal is None:
            fact = "nothing is proposed there (any more)"
            raise RejectedError(Rejection("wrong_state", "accept", "task", key, fact, "See `perdure tasks list`."))
        verb = self._runtime.catalogue.find(step.verb, step.version) if step is not None else None
        is_decision = verb is not None and verb.execution.decision and aggregate.state.course is not None
        result = proposal.result if is_decision else proposal.data
        await self._answer(aggregate, Completion(key, result=result, accepts=True, override=override), "")

    async def complete(self, aggregate: Aggregate, number: int, data: Any, message_id: str, override: str) -> None:
        """Answer differently."""
        key = step_id(id_text(aggregate.id), number)
        await self._answer(aggregate, Completion(key, result=data, override=override), message_id)

    async def _answer(self, aggregate: Aggregate, completion: Completion, message_id: str) -> None:
        """The first answer counts. Under a message id of its own it may be sent again; another one is refused."""
        own = message_id or f"answer:{self._runtime.sources.new_id().hex()}"
        receipt = await self._runtime.intake.complete(completion, self._origin, own)
        is_again = bool(message_id) and receipt.answer == "duplicate" and receipt.reason == "applied"
        if receipt.answer != "applied" and not is_again:
            raise RejectedError(over("complete", completion.key))


async def proposal_of(runtime: Runtime, aggregate: Aggregate, step: Step) -> Proposal | None:
    """What an agent proposes and nobody has decided upon."""
    if step.open_task is None or not step.proposal or aggregate.state.erased_at:
        return None
    data = await runtime.store.payload(aggregate.id, step.proposal)
    return msgspec.json.decode(data, type=Proposal) if data is not None else None
