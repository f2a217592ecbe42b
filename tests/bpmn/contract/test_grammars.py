"""The two grammars of the contract profile: what they accept is exactly what is written, and nothing evaluates."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.bpmn.conditions.tree import Both, Compare, Foreign, Not
from perdure.bpmn.contract.conditions import condition_paths, parse_state_condition
from perdure.bpmn.contract.paths import MISSING, parse_path, read_path, write_path
from perdure.bpmn.contract.templates import (
    IDENTITIES,
    FromState,
    Given,
    RenderFailure,
    Text,
    parse_template,
    show_template,
)

PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
PATHS = st.lists(IDENTIFIERS, min_size=1, max_size=4).map(".".join)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)
DATA = st.dictionaries(
    IDENTIFIERS,
    st.recursive(SCALARS, lambda inner: st.dictionaries(IDENTIFIERS, inner, max_size=3), max_leaves=6),
    max_size=4,
)
PIECES = st.sampled_from(["${", "\\${", "\\", "$", "{", "}", "a", "step_id", "state.", "x.y", " ", "é", "${step_id}"])


@pytest.mark.req("B3")
@given(st.text(alphabet="aZ_0.é -[]$\n", max_size=12) | PATHS)
def test_a_path_is_what_the_grammar_says_and_nothing_else(text: str) -> None:
    assert (parse_path(text).fault == "") == (PATH.fullmatch(text) is not None)
    if not parse_path(text).fault:
        assert ".".join(parse_path(text).parts) == text


@given(DATA, st.lists(IDENTIFIERS, min_size=1, max_size=4).map(tuple), st.integers() | st.text())
def test_what_is_written_to_a_path_is_read_from_it(
    data: dict[str, object], parts: tuple[str, ...], value: object
) -> None:
    before = repr(data)
    changed = write_path(data, parts, value)
    assert read_path(changed, parts) == value
    assert read_path(write_path(changed, parts, MISSING), parts) is MISSING
    assert repr(data) == before


@pytest.mark.req("B3")
def test_a_missing_source_unsets_and_a_target_is_created() -> None:
    assert write_path({}, ("a", "b", "c"), 1) == {"a": {"b": {"c": 1}}}
    assert write_path({"a": {"b": 1, "c": 2}}, ("a", "b"), MISSING) == {"a": {"c": 2}}
    assert write_path({"a": 5}, ("b", "c"), MISSING) == {"a": 5}
    assert read_path({"a": None}, ("a",)) is MISSING


@pytest.mark.req("B3")
@given(st.lists(PIECES, max_size=8).map("".join))
def test_a_template_without_faults_shows_as_it_was_written(text: str) -> None:
    found = parse_template(text)
    if not found.faults:
        assert show_template(found.parts) == text
        assert parse_template(show_template(found.parts)).parts == found.parts


@given(st.lists(st.sampled_from(["$", "{", "}", "a", "state.x", "step_id"]), max_size=8).map("".join))
def test_an_escaped_text_stands_for_itself(text: str) -> None:
    rendered = parse_template("." + text.replace("${", "\\${")).render({}, {})
    assert rendered == "." + text


@pytest.mark.req("B3")
def test_placeholders_are_filled_from_the_state_and_by_the_engine() -> None:
    template = parse_template("example/${process_instance_id}/job/${state.job.key}/\\${x}")
    assert template.parts == (
        Text("example/"), Given("process_instance_id"), Text("/job/"), FromState(parse_path("state.job.key")),
        Text("/${x}"),
    )  # fmt: skip
    assert template.render({"job": {"key": 7}}, {"process_instance_id": "i-1"}) == "example/i-1/job/7/${x}"
    assert parse_template("".join(f"${{{name}}}" for name in IDENTITIES)).identities == IDENTITIES


@pytest.mark.req("B3")
@pytest.mark.parametrize(
    "text",
    [
        "${", "${state}", "${state.}", "${ step_id }", "${state.a[0]}", "${state.a-b}", "${request.a}", "${}", "${1+1}",
        "${state.a + 1}", "${step_id()}", "a${state.é}", "${state.a\n}", "${STEP_ID}", "${now}",
    ],
)  # fmt: skip
def test_everything_else_in_a_placeholder_is_a_fault_with_a_fix(text: str) -> None:
    faults = parse_template(text).faults
    assert len(faults) == 1
    assert faults[0].hint
    assert text[faults[0].offset :].startswith("${")


@pytest.mark.parametrize(
    ("template", "state", "failure"),
    [
        ("${state.a.b}", {"a": {}}, RenderFailure("template.missing_path", "state.a.b")),
        ("${state.a}", {"a": None}, RenderFailure("template.missing_path", "state.a")),
        ("${state.a}", {"a": {"b": 1}}, RenderFailure("template.not_scalar", "state.a")),
        ("${state.a}", {"a": 0.5}, RenderFailure("template.not_scalar", "state.a")),
        ("${state.a}", {"a": ""}, RenderFailure("template.empty")),
    ],
)
def test_a_template_that_gives_no_text_says_which_failure_it_is(
    template: str, state: dict[str, object], failure: RenderFailure
) -> None:
    assert parse_template(template).render(state, {}) == failure


def test_booleans_and_integers_are_shown_as_json_has_them() -> None:
    assert parse_template("${state.a}-${state.b}").render({"a": True, "b": 10}, {}) == "true-10"


@pytest.mark.parametrize("text", ['=state.a.b = "x" and not(state.n >= 3)', '${state.a.b == "x" && !(state.n >= 3)}'])
def test_a_condition_compares_paths_of_the_state_in_either_spelling(text: str) -> None:
    found = parse_state_condition(text)
    assert found == Both((Compare("state.a.b", "=", "x"), Not(Compare("state.n", ">=", 3))))
    assert condition_paths(found) == ("state.a.b", "state.n")


@pytest.mark.parametrize(
    "text",
    ["orch_x = true", "=orch_state_path_0 = 1", "state.a = state.b", "state.a + 1 = 2", "state = 1", "f(state.a)"],
)
def test_a_condition_outside_the_grammar_is_kept_and_never_evaluated(text: str) -> None:
    found = parse_state_condition(text)
    assert isinstance(found, Foreign)
    assert found.text == text
    assert "orch_state_path" not in found.hint
