"""Questions of a pack: those still open, and free words read as values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, assert_never

from perdure.packs.conditions import is_met
from perdure.packs.definition import Pack, Question
from perdure.packs.lint import enum_of
from perdure.packs.placeholders import PlaceholderFault, fill
from perdure.runbooks.drafts.draft import Answer, Draft, number_in
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.near_names import nearest

YES = frozenset({"y", "yes", "true", "on", "sure", "ok", "okay", "yep"})
NO = frozenset({"n", "no", "false", "off", "nope", "none"})
NOTHING = frozenset({"none", "nothing", "no", "-"})
_COMMAS = re.compile(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+")


class Understood(NamedTuple):
    """The value of an answer, or why it is none."""

    value: Any = None
    fault: str = ""
    hint: str = ""


def names_of(draft: Draft) -> dict[str, Any]:
    """What conditions and placeholders may name."""
    return {
        "answers": {field: answer.value for field, answer in draft.answers.items()},
        "context": draft.context,
    }


def labels_of(draft: Draft) -> dict[str, Any]:
    """The same, as people say it."""
    return {
        "answers": {field: answer.label or answer.value for field, answer in draft.answers.items()},
        "context": draft.context,
    }


def pending(pack: Pack, draft: Draft) -> list[Question]:
    """The questions to ask now, in order; which ones count may change with each answer."""
    asks_all = "all_answered" in pack.stop_rules
    return [each for each in _open(pack, draft) if each.is_required or asks_all]


def offered(pack: Pack, draft: Draft) -> list[Question]:
    """Optional questions that may be answered without being asked."""
    waiting = {each.field for each in pending(pack, draft)}
    return [each for each in _open(pack, draft) if each.field not in waiting]


def with_defaults(pack: Pack, draft: Draft) -> dict[str, Answer]:
    """All answers, those of optional questions nobody answered taken from their defaults."""
    answers = dict(draft.answers)
    for question in offered(pack, draft):
        default = default_of(question, draft)
        if default is not None and not question.is_required:
            answers[question.field] = Answer(default, "template_default")
    return answers


def missing_context(pack: Pack, draft: Draft) -> list[str]:
    return [name for name in pack.required_context if draft.context.get(name) in (None, "")]


def default_of(question: Question, draft: Draft) -> Any:
    """The default, with what is known put in; None when there is none."""
    default = question.default
    if not isinstance(default, str) or "{" not in default:
        return default
    try:
        return fill(default, names_of(draft))
    except PlaceholderFault:
        return default


def options_of(question: Question, catalogue: Catalogue) -> tuple[str, ...]:
    """What may be chosen, or is suggested."""
    if question.answer_kind == "boolean":
        return ("yes", "no")
    if question.options_source is None:
        return question.options
    return enum_of(catalogue, question.options_source) or ()


def understand(question: Question, text: str, options: Sequence[str]) -> Understood:
    """An answer in free words; options are suggestions except for an enum."""
    said = text.strip().strip('"').strip()
    if not said:
        return Understood(fault="it is empty")
    match question.answer_kind:
        case "boolean":
            return _boolean(said)
        case "enum":
            return choose(said, options)
        case "list":
            return Understood(split_list(said, options))
        case "string" | "entity_ref":
            return Understood(said)
        case _:
            assert_never(question.answer_kind)


def choose(said: str, options: Sequence[str]) -> Understood:
    """One of the options by its number, its words or an unmistakable beginning."""
    if 1 <= (number := number_in(said)) <= len(options):
        return Understood(options[number - 1])
    wanted = plain(said)
    exact = [each for each in options if plain(each) == wanted]
    begun = [each for each in options if wanted and plain(each).startswith(wanted)]
    contained = [each for each in options if wanted and f" {wanted} " in f" {plain(each)} "]
    for found in (exact, begun, contained):
        if len(found) == 1:
            return Understood(found[0])
        if found:
            return Understood(fault=f"'{said}' may mean {' or '.join(found)}")
    close = nearest(said, options)
    hint = f"Did you mean '{close}'?" if close else ""
    return Understood(fault=f"'{said}' is not one of {', '.join(options)}", hint=hint)


def split_list(said: str, options: Sequence[str] = ()) -> list[str]:
    """Items between commas or `and`; each becomes the option it names, when it names one."""
    if said.lower() in NOTHING:
        return []
    items = [each.strip() for each in _COMMAS.split(said.strip("[] ")) if each.strip()]
    return [choose(each, options).value or each for each in items] if options else items


def plain(text: str) -> str:
    """Words only: case, hyphens and underscores do not count."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _boolean(said: str) -> Understood:
    if said.lower() in YES:
        return Understood(True)
    if said.lower() in NO:
        return Understood(False)
    return Understood(fault=f"'{said}' is neither yes nor no", hint="Say yes or no.")


def _open(pack: Pack, draft: Draft) -> list[Question]:
    names: Mapping[str, Any] = names_of(draft)
    return [
        question
        for question in pack.questions
        if question.field not in draft.answers
        and (question.ask_when is None or is_met(question.ask_when.condition, names))
    ]
