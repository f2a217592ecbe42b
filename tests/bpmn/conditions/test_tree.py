"""What conditions say of flags, also of those that are not set."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.conditions.tree import Among, Compare, Not, holds

scalars = st.sampled_from(["", "x", "2", True, False, 0, 1, 2])
flags = st.dictionaries(st.sampled_from(["orch_x", "orch_y"]), scalars)


@settings(deadline=None, max_examples=200)
@given(flags, scalars)
def test_unequal_is_always_the_opposite_of_equal(given: dict[str, str | bool | int], literal: str | bool | int) -> None:
    equal, unequal = Compare("orch_x", "=", literal), Compare("orch_x", "!=", literal)
    assert holds(unequal, given) is not holds(equal, given)
    assert holds(unequal, given) is holds(Not(equal), given)
    assert holds(unequal, given) is not holds(Among("orch_x", (literal,)), given)


@pytest.mark.parametrize(
    ("text", "is_true"),
    [
        ("=orch_x = 2", False), ("orch_x == 2", False), ("=orch_x != 2", True), ("orch_x != 2", True),
        ("not(orch_x = 2)", True), ("orch_x in (2, 3)", False), ("not(orch_x in (2, 3))", True), ("orch_x < 2", False),
        ("orch_x >= 2", False), ('orch_x = ""', False), ("orch_x = false", False),
    ],
)  # fmt: skip
def test_a_flag_that_is_not_set_equals_nothing(text: str, is_true: bool) -> None:
    assert holds(parse_condition(text), {"orch_y": 2}) is is_true
