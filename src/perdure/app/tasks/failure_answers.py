"""Answers about a failed step that somebody is asked about: retry it, skip it, or abort the runbook."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, assert_never

import msgspec

from perdure.app.runbooks.views import RunbookView
from perdure.typed_reading import convert
from perdure.verbs import CompiledSchema

Ask = Callable[[Any, Any], Awaitable[RunbookView]]
"""Performs an operation on behalf of whoever answers."""
FAILURE_FORM: dict[str, Any] = {
    "type": "object", "required": ["answer"], "additionalProperties": False,
    "properties": {"answer": {"enum": ["retry", "skip", "abort"]}, "reason": {"type": "string"}},
}  # fmt: skip
HOW = 'Complete it with {"answer": "retry"}, "skip" or "abort".'


class FailureAnswer(msgspec.Struct, frozen=True):
    """What becomes of a failed step, and why."""

    answer: Literal["retry", "skip", "abort"]
    reason: str = ""


def read_answer(key: str, data: Any) -> FailureAnswer:
    """The answer as its form asks for it; SchemaViolationError where it does not fit."""
    given = CompiledSchema(FAILURE_FORM, "complete", "task", key).check(dict(data or {}))
    return convert(given, FailureAnswer)


async def answer_failure(
    ask: Ask, key: str, answer: FailureAnswer, confirm: str = "", phrase: str = ""
) -> RunbookView:  # fmt: skip
    """Do what was answered, by the operation that does it: whoever may not do that may not answer so."""
    from perdure.app.operations import runbooks  # noqa: PLC0415  operations know this module

    id, _, step = key.partition(":")
    reason = answer.reason or f"answered to task {key}"
    match answer.answer:
        case "retry":
            return await ask(runbooks.retry_step, runbooks.RetryStep(id, step, reason, confirm, phrase))
        case "skip":
            return await ask(runbooks.skip_step, runbooks.SkipStep(id, step, reason))
        case "abort":
            return await ask(runbooks.cancel_runbook, runbooks.CancelRunbook(id, reason))
        case _:
            assert_never(answer.answer)
