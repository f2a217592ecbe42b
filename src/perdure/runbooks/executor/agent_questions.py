"""Questions of agents in runbooks: opened as a person's task, kept as payloads, and given back with the answer."""

from __future__ import annotations

import msgspec

from perdure.kernel.ports import Attachments
from perdure.payload import parse
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.state import Failure, Step
from perdure.runbooks.ports import RunbookStore
from perdure.sources import Id
from perdure.typed_reading import read_json
from perdure.verb_contract import RetryPolicy
from perdure.verbs import Verb
from perdure.verbs.handlers import PersonAnswer
from perdure.verbs.task_section_reader import filled
from perdure.work.agents.questions import UNASKED, Question, answer_to, stored_question, task_of, title_of, unasked
from perdure.work.verb_router import Produced


def ask_person(verb: Verb, made: Produced, args: object, proposer: str, brought: Attachments) -> c.Ask | c.Fail:
    """The outcome of an attempt whose agent asks; what it asks is attached. A failure when nothing says whom."""
    assert made.question is not None
    task = task_of(verb.execution.agent)
    if task is None:
        return c.Fail(Failure("permanent_contract", UNASKED, unasked(verb.name)), RetryPolicy())
    task = filled(task, args if isinstance(args, dict) else {})
    if not task.title:
        task = msgspec.structs.replace(task, title=title_of(verb, proposer))
    kept = stored_question(made.question)
    brought.payloads.append(kept)
    return c.Ask(verb.name, kept[0], proposer, task)


async def question_at(store: RunbookStore, id: Id, step: Step) -> Question | None:
    """What the agent of a step asks now; None when it asks nothing, or that was erased."""
    data = await store.payload(id, step.question) if step.is_asking else None
    return read_json(data, Question) if data is not None else None


async def answer_at(store: RunbookStore, id: Id, step: Step) -> PersonAnswer | None:
    """What a person answered to the last question of a step's agent."""
    if not step.answer:
        return None
    asked, answered = await store.payload(id, step.question), await store.payload(id, step.answer)
    if asked is None or answered is None:
        return None
    question = read_json(asked, Question)
    return PersonAnswer(question.key, answer_to(question, parse(answered)))
