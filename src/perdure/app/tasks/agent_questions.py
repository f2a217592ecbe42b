"""Questions of agents as tasks show them: of a step of a call or a runbook, and of a job of a process."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from perdure.app.tasks.views import QuestionView, TaskView
from perdure.bpmn.machine.state import Node
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.agent_proposal import Proposal
from perdure.runbooks.executor.agent_questions import question_at
from perdure.runbooks.machine.state import Step
from perdure.store.store import Store
from perdure.typed_reading import read_json
from perdure.work.agents.questions import Question


async def asked_by_step(store: Store, aggregate: Aggregate, step: Step) -> Question | None:
    """What the agent of a step asks now."""
    return None if aggregate.state.erased_at else await question_at(store, aggregate.id, step)


async def asked_by_job(store: Store, aggregate: Aggregate, node: Node | None) -> Question | None:
    """What the agent of a job asks now, or proposes."""
    if node is None or node.job is None or not node.job.is_asking:
        return None
    data = await store.payload(aggregate.id, node.job.question)
    return read_json(data, Question) if data is not None else None


def shown(view: TaskView, question: Question | None, *, has_form: bool) -> TaskView:
    """A task with what an agent asks or proposes there."""
    if question is None:
        return view
    changes: dict[str, Any] = {"form": question.form if has_form else None}
    if (proposal := proposed(question)) is not None:
        changes["proposal"] = proposal
    else:
        changes |= {"question": QuestionView(question.agent, question.text, question.data), "body": question.text}
    return replace(view, **changes)


def proposed(question: Question) -> Proposal | None:
    """What a question proposes as its answer; None where it is open."""
    return Proposal(question.proposal, question.agent, question.why) if question.is_proposal else None
