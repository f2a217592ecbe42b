"""One pack hands over to another: what is known goes along, and only what is new is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from perdure.packs.definition import Pack
from perdure.runbooks.drafts.draft import Answer, Draft, Handoff


def hand_over(
    before: Draft,
    runbook: str,
    target: Pack,
    outcomes: Mapping[str, Any] | None = None,
    completed: Iterable[str] = (),
) -> Draft:
    """A new draft for the target pack with the answers and the context that it knows the names of.

    `outcomes` are the results of the runbook's steps by name; their fields answer questions nobody answered.
    `completed` names the verbs that were done.
    """
    results = dict(outcomes or {})
    known = {**_fields(results), **before.context}
    answers = {
        field: Answer(answer.value, "copied_from_previous", answer.label)
        for field, answer in before.answers.items()
        if target.question(field) is not None
    }
    for question in target.questions:
        if question.field not in answers and known.get(question.field) is not None:
            answers[question.field] = Answer(known[question.field], "copied_from_previous")
    wanted = {*target.required_context, *target.optional_context}
    said = {field: answer.value for field, answer in before.answers.items()}
    context = {name: value for name, value in {**known, **said}.items() if name in wanted or name in before.context}
    source = before.pack.id if before.pack is not None else ""
    return Draft(
        pack=target.pin(), context=context, answers=answers, handoff=Handoff(runbook, source, results, tuple(completed))
    )


def _fields(results: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of all results, later steps last."""
    return {key: value for result in results.values() if isinstance(result, dict) for key, value in result.items()}
