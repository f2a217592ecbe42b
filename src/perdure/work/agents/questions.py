"""Questions: what a graph asks a person by `interrupt()`, the form of the answer, and what the graph gets of it.

| the value of the interrupt | what the person sees | what the graph gets |
|---|---|---|
| a text | the text, and a field `answer` | what was written there |
| an object with `options` | its text, and a choice `answer` | the option |
| an object with `schema`, or a `response_schema` | its text, and the form of that schema | the object answered |
| anything else | the value as data, and a field `answer` of any shape | what was answered there |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from perdure.errors import ContractError, PerdureError
from perdure.human_tasks import TaskContract
from perdure.payload import canonical, digest
from perdure.verbs.agent_handlers import AgentContract
from perdure.verbs.compiled_schema import CompiledSchema, SchemaFault
from perdure.verbs.compiled_verb import Verb

ANSWER = "answer"
TEXTS = ("question", "text", "message", "title", "description")
"""Where an object says in words what is asked: the first of these that it has."""
SCHEMA, OPTIONS = "schema", "options"
MAX_TEXT = 4000
MAX_BYTES = 65536
UNASKED = "agent.unasked"
"""A graph asks a person and its verb does not say whom."""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is asked, as it is kept until its call is erased. `key` tells the interrupts of one graph apart."""

    key: str
    agent: str
    text: str
    form: dict[str, Any]
    data: Any = None
    wraps: bool = False
    """Whether the graph gets what is in the field `answer`, and not the whole object."""
    proposal: Any = None
    """What an agent that is not sure would have said; the answer is then the result itself."""
    flags: dict[str, Any] = {}
    """What the proposal would have set."""
    why: str = ""

    @property
    def is_proposal(self) -> bool:
        return bool(self.why)


def question_of(interrupt: Any, agent: str) -> Question:
    """The question of an interrupt of LangGraph."""
    value = _plain(interrupt.value)
    schema = getattr(interrupt, "response_schema", None)
    key = f"{interrupt.id}/{digest(canonical(value))[:8].hex()}"
    text, data = _text(value), value if not isinstance(value, str) else None
    if isinstance(value, Mapping):
        schema = value[SCHEMA] if isinstance(value.get(SCHEMA), Mapping) else schema
        options = value.get(OPTIONS)
        data = {name: each for name, each in value.items() if name not in (*TEXTS, SCHEMA, OPTIONS)} or None
        if schema is None and isinstance(options, list) and options:
            return Question(key, agent, text, _wrapped({"enum": options}), data, wraps=True)
    if isinstance(schema, Mapping):
        form = _checked(dict(schema))
        if form.get("type", "object") == "object" and isinstance(form.get("properties", {}), Mapping):
            return Question(key, agent, text, form, data)
        return Question(key, agent, text, _wrapped(form), data, wraps=True)
    return Question(key, agent, text, _wrapped({"type": "string"} if data is None else {}), data, wraps=True)


def stored_question(question: Question) -> tuple[bytes, bytes]:
    """A question as a payload, with its hash."""
    data = canonical(msgspec.to_builtins(question))
    return digest(data), data


def check_answer(question: Question, given: Any) -> dict[str, Any]:
    """The answer as the form accepts it; SchemaViolationError names the fields that do not fit."""
    form = CompiledSchema(question.form, "answer", "question of", question.agent)
    checked: dict[str, Any] = form.check({} if given is None else given)
    return checked


def answer_to(question: Question, given: Any) -> Any:
    """What the graph gets of an answer."""
    return given[ANSWER] if question.wraps and isinstance(given, Mapping) else given


def task_of(contract: AgentContract | None) -> TaskContract | None:
    """Whom an agent's questions are for; None where its verb does not say."""
    if contract is None:
        return None
    declared = contract.questions
    if declared is UNSET:
        return TaskContract(groups=(contract.ask,)) if contract.ask else None
    if contract.ask and not (declared.assignee or declared.groups or declared.users):
        return replace(declared, groups=(contract.ask,))
    return declared


def title_of(verb: Verb, agent: str) -> str:
    """What the task of a question is called, where its verb does not say; the question itself is data."""
    return f"Answer {agent}: {verb.definition.description or verb.name}"[:200]


def unasked(verb: str) -> str:
    return (
        f"The graph of '{verb}' asks a person by interrupt(), and nothing says whom. Add ask: with a group, or "
        "questions: with a task, to the verb's agent, and begin it anew; or resolve it by hand."
    )


def _plain(value: Any) -> Any:
    if callable(dump := getattr(value, "model_dump", None)):
        value = dump(mode="json")
    try:
        found = msgspec.to_builtins(value, str_keys=True)
        size = len(canonical(found))
    except (PerdureError, TypeError, ValueError) as error:
        raise ContractError(f"What the graph asks cannot be shown to a person: {error}. Interrupt with JSON.") from None
    if size > MAX_BYTES:
        raise ContractError(f"What the graph asks has {size:,} bytes and may have {MAX_BYTES:,}. Ask with a reference.")
    return found


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, Mapping):
        return next((str(value[name])[:MAX_TEXT] for name in TEXTS if isinstance(value.get(name), str)), "")
    return ""


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": [ANSWER], "additionalProperties": False, "properties": {ANSWER: schema}}


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    try:
        CompiledSchema(schema, "ask by", "schema of", "an interrupt")
    except (SchemaFault, PerdureError, ValueError) as error:
        raise ContractError(f"The schema of the answer a graph asks for is wrong: {error}.") from None
    return schema
