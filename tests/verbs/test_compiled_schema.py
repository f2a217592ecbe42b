"""Schemas accept what they promise, fill in defaults, and name each violation with its path."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from perdure.errors import SchemaViolationError
from perdure.verbs import Verb, load_text
from perdure.verbs.compiled_schema import CompiledSchema, SchemaFault
from perdure.verbs.schema_shorthand import SHORTHAND_TYPES


def _verb(properties: str, more: str = "", definitions: str = "{}") -> Verb:
    text = f"verbs:\n- name: a.b\n  input_schema: {{properties: {properties}{more}}}\ndefinitions: {definitions}\n"
    return load_text(text).get("a.b")


UUID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.mark.parametrize(
    ("declared", "good", "bad"),
    [
        ("{type: uuid}", UUID, "not-a-uuid"),
        ("{type: email}", "a@example.com", "a at example"),
        ("{type: string, format: email}", "a@example.com", "example.com"),
        ("{type: uri}", "https://example.com", "no address"),
        ("{type: url}", "https://example.com", "no address"),
        ("{type: date}", "2024-02-29", "2023-02-29"),
        ("{type: timestamp}", "2024-02-29T10:00:00Z", "2024-02-29"),
        ("{type: datetime}", "2024-02-29T10:00:00Z", "yesterday"),
        ("{type: date-time}", "2024-02-29T10:00:00Z", "yesterday"),
        ("{type: duration}", "PT5S", "five"),
        ("{type: text}", "x", 1),
        ("{type: lookup}", "Allianz", 1),
        ("{type: enum, enum: [a, b]}", "a", "c"),
        ("{type: string, valid_values: [a, b]}", "b", "c"),
        ("{type: int}", 3, 3.5),
        ("{type: integer, minimum: 1}", 1, 0),
        ("{type: bool}", True, "true"),
        ("{type: float}", 1.5, "1.5"),
        ("{type: decimal}", "12.345678901234567890", "12,5"),
        ("{type: decimal}", 12.5, True),
        ("{type: map}", {"any": 1}, [1]),
        ("{type: record}", {"any": 1}, "x"),
        ("{type: list}", [1, "x"], {}),
        ("{type: string_list}", ["x"], [1]),
        ("{type: uuid_list}", [UUID], ["x"]),
        ("{type: uuid_array}", [UUID], ["x"]),
        ("{type: array, items: {type: date}}", ["2024-01-01"], ["01.01.2024"]),
        ("{type: object, properties: {y: {type: integer, required: true}}}", {"y": 1}, {}),
        ("{properties: {y: {type: integer}}}", {"y": 1}, 5),
        ("{type: string, pattern: '^[A-Z0-9]{4}$'}", "AB12", "ab12"),
        ("{type: [string, 'null']}", None, 1),
    ],
)
def test_shorthand_types_mean_what_they_say(declared: str, good: Any, bad: Any) -> None:
    verb = _verb(f"{{x: {declared}}}")
    assert verb.check_input({"x": good}) == {"x": good}
    with pytest.raises(SchemaViolationError) as caught:
        verb.check_input({"x": bad})
    assert caught.value.data["violations"][0]["path"].startswith("$.x")


@pytest.mark.parametrize("value", [None, 1, "x", [1], {"y": 2}])
@pytest.mark.parametrize("type_", ["json", "any"])
def test_json_takes_any_value(type_: str, value: Any) -> None:
    assert _verb(f"{{x: {{type: {type_}}}}}").check_input({"x": value}) == {"x": value}


def test_every_shorthand_type_compiles() -> None:
    for name in SHORTHAND_TYPES:
        _verb(f"{{x: {{type: {name}, enum: [a]}}}}")


def test_each_violation_is_listed_with_its_path_and_the_nearest_valid_name() -> None:
    verb = _verb(
        "{case-type: {type: string, enum: [new-client, periodic-review]}, lines: {type: array, "
        "items: {type: object, required: [amount], properties: {amount: {type: integer}}}}, entity: {type: string}}",
        ", required: [entity]",
    )
    with pytest.raises(SchemaViolationError) as caught:
        verb.check_input({"case-type": "periodic-reviw", "lines": [{"amount": 1}, {"amount": "x"}, {}], "entiti": "A"})
    violations = {each["path"]: each for each in caught.value.data["violations"]}
    assert set(violations) == {"$.case_type", "$.lines[1].amount", "$.lines[2].amount", "$.entiti", "$.entity"}
    assert "'periodic-review'" in violations["$.case_type"]["hint"]
    assert "'entity'" in violations["$.entiti"]["hint"]
    assert violations["$.entity"]["reason"] == "it is required"
    said = str(caught.value)
    assert said.startswith("Expected to call verb 'a.b', but ")
    assert all(path in said for path in violations)


def test_many_violations_are_counted_and_not_all_printed() -> None:
    with pytest.raises(SchemaViolationError, match="and 40 more") as caught:
        _verb("{x: {type: array, items: {type: integer}}}").check_input({"x": ["no"] * 500})
    assert len(caught.value.data["violations"]) == 50


@pytest.mark.parametrize("written", ["case_type", "case-type", ":case-type", ":case_type"])
@pytest.mark.parametrize("declared", ["case_type", "case-type", "':case-type'"])
@pytest.mark.req("V1")
def test_all_spellings_of_an_argument_are_one_argument(declared: str, written: str) -> None:
    verb = _verb(f"{{{declared}: {{type: string}}}}", f", required: [{declared}]")
    assert verb.check_input({written: "x"}) == {"case_type": "x"}


def test_one_argument_in_two_spellings_is_refused() -> None:
    with pytest.raises(SchemaViolationError, match="given twice in different spellings"):
        _verb("{case_type: {}}").check_input({"case-type": 1, "case_type": 2})


def test_defaults_are_filled_in_at_every_depth_and_the_input_is_left_alone() -> None:
    verb = _verb(
        "{depth: {type: integer, default: 5}, tags: {type: string_list, default: [a]}, "
        "node: {$ref: '#/definitions/Node'}, nodes: {type: array, items: {$ref: '#/definitions/Node'}}}",
        definitions="{Node: {properties: {colour: {type: string, default: red}, next: {$ref: '#/definitions/Node'}}}}",
    )
    given = {"node": {"next": {"colour": "blue"}}, "nodes": [{}, {"colour": "green"}]}
    before = copy.deepcopy(given)
    filled = verb.check_input(given)
    assert given == before
    assert filled == {
        "depth": 5,
        "tags": ["a"],
        "node": {"colour": "red", "next": {"colour": "blue"}},
        "nodes": [{"colour": "red"}, {"colour": "green"}],
    }
    filled["tags"].append("b")
    assert verb.check_input({})["tags"] == ["a"]


def test_shared_definitions_are_written_into_each_schema_that_reaches_them() -> None:
    verb = _verb(
        "{x: {$ref: '#/definitions/A'}}",
        definitions="{A: {properties: {b: {$ref: '#/$defs/B'}}}, B: {type: integer}, C: {type: string}}",
    )
    assert set(verb.input.schema["$defs"]) == {"A", "B"}
    with pytest.raises(SchemaViolationError, match=r"\$\.x\.b"):
        verb.check_input({"x": {"b": "no"}})


def test_a_change_of_a_shared_definition_changes_the_verbs_that_reach_it() -> None:
    hashes = {
        _verb("{x: {$ref: '#/definitions/A'}}", definitions=f"{{A: {{type: {type_}}}}}").content_hash
        for type_ in ("integer", "string")
    }
    assert len(hashes) == 2


def test_input_is_closed_unless_it_says_otherwise() -> None:
    with pytest.raises(SchemaViolationError, match="not a known field"):
        _verb("{x: {}}").check_input({"y": 1})
    assert _verb("{x: {}}", ", additionalProperties: true").check_input({"y": 1}) == {"y": 1}


def test_a_composed_input_is_closed_over_all_its_parts() -> None:
    verb = _verb("{x: {}}", ", allOf: [{properties: {y: {type: integer}}}]")
    assert verb.check_input({"x": 1, "y": 2}) == {"x": 1, "y": 2}
    with pytest.raises(SchemaViolationError, match=r"\$\.z: it is not a known field"):
        verb.check_input({"z": 1})


def test_a_verb_without_a_schema_takes_no_arguments_and_returns_anything() -> None:
    verb = load_text("- name: a.b").get("a.b")
    assert verb.check_input({}) == {}
    with pytest.raises(SchemaViolationError):
        verb.check_input({"x": 1})
    assert verb.check_output([1, 2]) == [1, 2]


def test_a_result_is_checked_against_the_output_schema() -> None:
    verb = load_text("- {name: a.b, output_schema: {properties: {n: {type: integer, default: 3}}}}").get("a.b")
    assert verb.check_output({"more": 1}) == {"more": 1, "n": 3}
    with pytest.raises(SchemaViolationError, match=r"Expected to accept the result of verb 'a\.b', but"):
        verb.check_output({"n": "x"})


@pytest.mark.parametrize("value", [{1: 2}, b"bytes", {1, 2}, object()])
def test_a_value_that_is_not_json_is_a_violation_and_not_a_crash(value: Any) -> None:
    with pytest.raises(SchemaViolationError, match="it is not JSON"):
        CompiledSchema({"type": "object"}).check(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"$ref": "#"}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"x": {"$ref": "#/$defs/B"}}}, "B": {"$ref": "#/$defs/A"}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"x": {"$ref": "#/$defs/A"}, "y": {"default": 1}}}}},
        {"enum": [1]},
        {"const": {}},
    ],
)
def test_a_value_nested_without_end_is_a_violation_and_not_a_crash(schema: dict[str, Any]) -> None:
    deep: Any = {}
    for _ in range(200_000):
        deep = {"x": deep}
    with pytest.raises(SchemaViolationError):
        CompiledSchema(schema).check(deep)


@pytest.mark.parametrize("uri", ["https://example.com/schema", "file:///etc/passwd", "other.json"])
def test_no_reference_is_ever_fetched(uri: str) -> None:
    with pytest.raises(SchemaFault, match=r"never fetched|No base URI is available"):
        CompiledSchema({"$ref": uri})
