"""Values: literals, flags and what is foreign, in both directions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from perdure.bpmn.model import Value
from perdure.bpmn.xml.value_text import (
    parse_cardinality,
    parse_collection,
    parse_value,
    show_cardinality,
    show_collection,
    show_value,
)
from tests.bpmn.strategies import cardinalities, values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("PT5S", Value("PT5S")),
        ("", Value("")),
        ("  buyers ", Value("buyers")),
        ("=orch_x", Value("orch_x", "flag")),
        ("= orch_x ", Value("orch_x", "flag")),
        ("${orch_x}", Value("orch_x", "flag")),
        ("${state.orch_x}", Value("orch_x", "flag")),
        ("orch_x", Value("orch_x")),
        ('="a \\"b\\" é"', Value('a "b" é')),
        ("=5", Value("5")),
        ("=-2.5", Value("-2.5")),
        ("=orch_X", Value("=orch_X", "foreign")),
        ("=case_id", Value("=case_id", "foreign")),
        ('="a" + orch_x', Value('="a" + orch_x', "foreign")),
        ("${state.work_id}", Value("${state.work_id}", "foreign")),
        ("${orch_x", Value("${orch_x", "foreign")),
        ("=", Value("=", "foreign")),
    ],
)
def test_a_value_is_a_literal_a_flag_or_foreign(text: str, value: Value) -> None:
    assert parse_value(text) == value


@settings(deadline=None, max_examples=200)
@given(values)
def test_what_is_shown_is_read_as_the_same_value(value: Value) -> None:
    assert parse_value(show_value(value)) == value


@settings(deadline=None, max_examples=200)
@given(cardinalities)
def test_a_cardinality_is_read_as_the_same_from_where_it_is_written(value: Value) -> None:
    collection = show_collection(value)
    assert (parse_cardinality(show_cardinality(value)) if collection is None else parse_collection(collection)) == value
