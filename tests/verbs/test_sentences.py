"""A call reads back as a sentence a person would say."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.verbs import Verb, load_text

OPEN_CASE = """
- name: kyc.open-case
  description: Open a KYC case
  sentences:
    step: ["Open a KYC case for {entity}", "Open a {case-type} KYC case for {entity}", "Ask {people} about {entity}"]
    summary: "KYC case for {entity}"
    clarify: {entity: "Which entity is the case for?"}
  input_schema:
    properties:
      entity: {type: string}
      case_type: {type: string, enum: [new-client, periodic-review], default: new-client}
      people: {type: string_list, description: their names}
      urgent: {type: boolean}
"""


@pytest.fixture(scope="module")
def verb() -> Verb:
    return load_text(OPEN_CASE).get("kyc.open-case")


@pytest.mark.req("V2")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            {"entity": "Allianz GmbH", ":case-type": "periodic-review"},
            "Open a periodic review KYC case for Allianz GmbH",
        ),
        ({"entity": "Allianz GmbH"}, "Open a KYC case for Allianz GmbH"),
        ({}, "Open a KYC case for …"),
        ({"entity": "A", "people": ["Ada"]}, "Ask Ada about A"),
        ({"entity": "A", "people": ["Ada", "Bo"]}, "Ask Ada and Bo about A"),
        ({"entity": "A", "people": ["Ada", "Bo", "Cy"]}, "Ask Ada, Bo, and Cy about A"),
        ({"entity": "A-B_C"}, "Open a KYC case for A-B_C"),
        (
            {"entity": "{case-type} {0.__class__} %s $entity"},
            "Open a KYC case for {case-type} {0.__class__} %s $entity",
        ),
        ({"entity": "x" * 500}, "Open a KYC case for " + "x" * 199 + "…"),
    ],
)
def test_a_step_is_read_back_with_its_arguments(verb: Verb, args: dict[str, Any], said: str) -> None:
    assert verb.sentence(args) == said


@pytest.mark.req("V2")
def test_summary_and_clarifying_questions_are_said_too(verb: Verb) -> None:
    assert verb.sentence({"entity": "Allianz"}, "summary") == "KYC case for Allianz"
    assert verb.clarify("entity") == "Which entity is the case for?"
    assert verb.clarify(":case-type") == "What is the case type?"
    assert verb.clarify("people") == "What is the people? (their names)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {name: a.b, sentences: {summary: 'Sum of {x}'}, input_schema: {properties: {x: {}}}}", "Sum of 3"),
        ("- {name: a.b, description: Adds things, input_schema: {properties: {x: {}}}}", "Adds things"),
        ("- {name: a.big-sum, input_schema: {properties: {x: {}}}}", "a.big sum"),
    ],
)
@pytest.mark.parametrize("kind", ["step", "summary"])
def test_without_a_sentence_the_next_best_words_are_used(text: str, said: str, kind: Any) -> None:
    (only,) = load_text(text)
    assert only.sentence({"x": 3}, kind) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(True, "yes"), (False, "no"), (0, "0"), (1.5, "1.5"), ([], "nothing"), ({"a": 1, "b": None}, "a 1 and b …")],
)
def test_values_of_every_type_can_be_said(value: Any, said: str) -> None:
    (only,) = load_text("- {name: a.b, sentences: {step: '{x}'}, input_schema: {properties: {x: {}}}}")
    assert only.sentence({"x": value}) == said
