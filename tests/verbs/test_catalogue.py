"""The catalogue finds, searches, correlates, hashes and lints."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from perdure.errors import RejectedError, SchemaViolationError
from perdure.verbs import Catalogue, load_catalogue, load_text

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="module")
def lending() -> Catalogue:
    return load_catalogue([FIXTURES / "canonical"])


@pytest.mark.parametrize("name", ["lending.open-application", "lending.open_application"])
def test_hyphens_and_underscores_find_the_same_verb(lending: Catalogue, name: str) -> None:
    assert lending.get(name).name == "lending.open-application"


def test_an_unknown_verb_is_rejected_with_the_nearest_name(lending: Catalogue) -> None:
    with pytest.raises(RejectedError) as caught:
        lending.get("lending.open-aplication")
    assert caught.value.rejection.code == "not_found"
    assert str(caught.value) == (
        "Expected to find verb 'lending.open-aplication', but no such verb is declared. "
        "Did you mean 'lending.open-application'?"
    )
    assert lending.find("nothing.like-it") is None


def test_the_newest_version_is_found_unless_one_is_named() -> None:
    catalogue = load_text("- {name: a.b, version: 2}\n- {name: a.b, version: 10}\n")
    assert (catalogue.get("a.b").version, catalogue.get("a.b", 2).version) == (10, 2)
    assert catalogue.names() == ["a.b"]
    assert len(list(catalogue.every_version())) == 2
    with pytest.raises(RejectedError, match=r"it has no version 3\. Known versions: 2, 10\."):
        catalogue.get("a.b", 3)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("apply for a loan", "lending.open-application"),
        ("papers", "lending.ask-for-papers"),
        ("withdr", "lending.withdraw-request"),
        ("decision record", "lending.record-decision"),
    ],
)
def test_search_ranks_verbs_by_the_words_they_share(lending: Catalogue, words: str, first: str) -> None:
    assert lending.search(words)[0].name == first


def test_search_for_unrelated_words_finds_nothing(lending: Catalogue) -> None:
    assert lending.search("zebra") == [] and lending.search("") == []


BASE = """
- name: a.b
  description: one
  sentences: {step: 'Do {x}'}
  input_schema: {properties: {x: {type: string}}}
  execution: {kind: durable, policy: {max_attempts: 2, timeout: P1D}, flags: {orch_y: {type: boolean}}}
"""


@pytest.mark.req("V3")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("one", "two"),
        ("Do {x}", "Make {x}"),
        ("type: string", "type: integer"),
        ("max_attempts: 2", "max_attempts: 3"),
        ("P1D", "P2D"),
        ("type: boolean", "type: boolean, once: true"),
        ("kind: durable", "kind: durable, handler: mod.fn"),
        ("kind: durable", "kind: durable, wait: block"),
        ("name: a.b", "name: a.b\n  version: 2"),
    ],
)
def test_every_change_of_a_definition_changes_its_content_hash(old: str, new: str) -> None:
    (before,), (after,) = load_text(BASE), load_text(BASE.replace(old, new))
    assert before.content_hash.startswith("sha256:") and len(before.content_hash) == 71
    assert before.content_hash != after.content_hash


def test_where_and_how_a_definition_was_written_does_not_change_its_hash() -> None:
    (before,), (after,) = load_text(BASE, "one.yaml"), load_text("# moved\n\n" + BASE, "two.yaml")
    assert before.content_hash == after.content_hash
    assert (after.definition.file, after.definition.line) == ("two.yaml", 4)
    assert msgspec.structs.replace(before.definition, metadata={"x": 1}).content_hash != before.content_hash


@pytest.mark.parametrize(
    ("template", "values", "key"),
    [
        ("$step_id", {"step_id": "s1"}, "s1"),
        ("$case-id", {"case_id": "c1"}, "c1"),
        ("case/{case_id}/{step_id}", {"case_id": 7, "step_id": "s1"}, "case/7/s1"),
        ("case/{case_id}", {"case_id": "{step_id} $step_id"}, "case/{step_id} $step_id"),
        ("{case_id}", {"case_id": True}, "true"),
    ],
)
def test_a_correlation_key_is_rendered_by_substitution_only(template: str, values: dict[str, object], key: str) -> None:
    text = (
        f"- {{name: a.b, execution: {{kind: durable, correlation: {{key: '{template}'}}}}, args: [{{name: case-id}}]}}"
    )
    assert load_text(text).get("a.b").correlation_key(values) == key


@pytest.mark.parametrize("values", [{}, {"case_id": None}, {"case_id": ["c1"]}, {"case_id": {"a": 1}}])
def test_a_correlation_key_needs_a_single_value_for_each_name(values: dict[str, object]) -> None:
    text = "- {name: a.b, execution: {kind: durable, correlation: {field: case-id}}, args: [{name: case-id}]}"
    with pytest.raises(SchemaViolationError, match="needs a single value for 'case_id'"):
        load_text(text).get("a.b").correlation_key(values)


def test_lint_warns_of_what_loads_but_leaves_people_guessing() -> None:
    catalogue = load_text("""
verbs:
- {name: a.bare, execution: {retry: {max_attempts: 3}}}
- {name: a.long, description: x, sentences: {step: y}, execution: {kind: durable, process: p, policy: {escalation: e},
   flags: {orch_x: {type: boolean}}}}
definitions: {Unused: {}}
entities: {unused: {fields: {id: uuid}}}
""")
    problems = catalogue.lint()
    assert {(problem.code, problem.severity) for problem in problems} == {
        (f"lint.{code}", "warning")
        for code in (
            "no_description",
            "no_sentence",
            "no_idempotency_note",
            "no_timeout",
            "escalation_without_timeout",
            "no_sub_verbs",
            "flag_never_written",
            "unused_definition",
            "unused_entity",
        )
    }
    assert all(problem.field and problem.reason for problem in problems)


def test_a_verb_that_says_everything_lints_clean() -> None:
    text = """
- name: a.b
  description: x
  sentences: {step: Do it}
  metadata: {idempotency: the key is passed on}
  execution: {retry: {max_attempts: 3}}
"""
    assert load_text(text).lint() == []
