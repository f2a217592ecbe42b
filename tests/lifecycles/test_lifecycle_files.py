"""Lifecycle files: both layouts of the sources mean the same, and every mistake has a place and a fix."""

from __future__ import annotations

import pytest

from perdure.errors import DefinitionError
from perdure.lifecycles.content import content_of, definition_of
from perdure.lifecycles.loader import read_lifecycle
from perdure.payload import digest

IN_STATES = """
workflow: papers
version: 2
states:
  awaiting_passport:
    initial: true
    requirements:
      - type: document_exists
        document_type: passport
        status: verified
        subject: $entity_id
    on_fail:
      blocker:
        type: MissingDocument
        resolution: "(document.solicit :subject-entity-id $entity_id :document-type passport)"
  done: {terminal: true}
transitions:
  - {from: awaiting_passport, to: done, auto: true}
"""
ABOVE = """
workflow:
  name: papers
  version: 2
  states:
    awaiting_passport: {initial: true}
    done: {terminal: true}
  transitions:
    - {from: awaiting_passport, to: done, guard: all_requirements_met}
  requirements:
    awaiting_passport:
      - type: document_exists
        document_type: passport
        status: verified
        subject: $entity_id
        on_fail:
          blocker:
            type: MissingDocument
            resolution: {verb: document.solicit, args: {subject-entity-id: $entity_id, document-type: passport}}
"""


@pytest.mark.req("T1")
def test_requirements_in_states_and_above_them_are_the_same_definition() -> None:
    first, second = (read_lifecycle(text).definition for text in (IN_STATES, ABOVE))
    assert first == second
    assert content_of(first) == content_of(second)
    assert definition_of(content_of(first), digest(content_of(first))) == first
    (requirement,) = first.states[0].requirements
    assert (requirement.key, requirement.blocker) == ("passport", "MissingDocument")
    assert requirement.resolution is not None
    assert requirement.resolution.verb == "document.solicit"
    assert requirement.resolution.args == {"subject_entity_id": "$entity_id", "document_type": "passport"}


def test_the_words_of_the_built_system_are_read() -> None:
    text = """
workflow: review
trigger: {event: entity.updated, conditions: [{field: kind, in: [fund, trust]}, {field: region, equals: eu}]}
states: {OPEN: {timeout_hours: 72}, LATE: {terminal: true}, DONE: {terminal: true}}
transitions:
  - {from: OPEN, to: DONE, manual: true, role: mlro, reason: required, four_eyes: true}
  - {from: OPEN, to: LATE, timeout: true}
actions:
  OPEN: [{action: remind, verb: review.remind, description: Send a reminder, params: {client-id: $subject}}]
"""
    definition = read_lifecycle(text).definition
    assert definition.trigger is not None
    assert [(each.field, each.values) for each in definition.trigger.conditions] == [
        ("kind", ("fund", "trust")),
        ("region", ("eu",)),
    ]
    assert [(each.mode, each.after_seconds) for each in definition.transitions] == [("manual", None), ("time", 259200)]
    assert definition.actions[0].params == {"client_id": "$subject"}


@pytest.mark.parametrize(
    ("change", "line", "reason"),
    [
        (("workflow: papers", "workflow: Papers!"), 2, "is not the name of a lifecycle"),
        (("version: 2", "verison: 2"), 3, "the key 'verison' is not known here"),
        (("to: done", "to: don"), 18, "'don' is not a state"),
        (("document_exists", "document_exist"), 8, "'document_exist' is not a kind of guard"),
        (("document_exists", "any"), 8, "'any' is not the type of a guard"),
        (("status: verified", "status: verifyed"), 10, "'verifyed' is not one of"),
        (("document_type: passport\n        status", "colour: red\n        status"), 8, "'document_type' is missing"),
        ((":document-type passport)", ":document-type @other)"), 15, "no call is bound to @other"),
        (("auto: true", "manual: true, after: soon"), 18, "'soon' is refused"),
        (("auto: true", "role: boss"), 18, "'role' is given and nobody takes it"),
        (("auto: true", "guard: nobody"), 18, "no guard is named 'nobody'"),
        (("auto: true", "timeout: true"), 18, "'awaiting_passport' has no timeout"),
        (("done: {terminal: true}", "done: {terminal: true, initial: true}"), 16, "are both initial"),
    ],
)
def test_a_mistake_is_told_with_its_line(change: tuple[str, str], line: int, reason: str) -> None:
    assert change[0] in IN_STATES
    with pytest.raises(DefinitionError) as caught:
        read_lifecycle(IN_STATES.replace(*change), "papers.yaml")
    found = [(each.file, each.line) for each in caught.value.problems if reason in each.reason]
    assert found == [("papers.yaml", line)], caught.value.problems


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "verbs: []\n", "workflow: x\n", "workflow: x\nstates: {}\n", "\0"])
def test_what_is_no_lifecycle_is_refused(text: str) -> None:
    with pytest.raises(DefinitionError):
        read_lifecycle(text)
