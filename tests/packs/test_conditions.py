"""Conditions: what they mean, and that nothing outside the grammar ever holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.packs.conditions import ConditionFault, is_met, parse_condition

NAMES = {"answers": {"kind": "new-client", "count": 3, "docs": ["a"], "none": [], "yes": True}, "context": {"g": "x"}}
STEPS = [{"verb": "kyc.open-case", "status": "completed"}, {"verb": "a.b", "status": "failed"}]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("answers.kind is set", True),
        ("answers.none is set", False),
        ("answers.none is not set", True),
        ("answers.nowhere is set", False),
        ("answers.kind == new-client", True),
        ("answers.kind == 'new-client'", True),
        ('answers.kind != "new-client"', False),
        ("answers.nowhere == 'x'", False),
        ("answers.nowhere != 'x'", False),
        ("answers.count > 2", True),
        ("answers.count >= 3 and answers.count <= 3", True),
        ("answers.count < 2.5", False),
        ("answers.kind > 2", False),
        ("answers.yes == true", True),
        ("answers.yes == 1", False),
        ("answers.kind in ['old', 'new-client']", True),
        ("answers.kind not in ['old']", True),
        ("not answers.kind == old", True),
        ("answers.kind == old or context.g == x", True),
        ("answers.kind == old or context.g == x and answers.count == 4", False),
        ("(answers.kind == new-client or context.g == y) and answers.count == 3", True),
        ("exists(verb == 'kyc.open-case' and status == 'completed')", True),
        ("exists(verb == 'kyc.open-case' and status == 'failed')", False),
        ("exists(status == failed) and not exists(status == parked)", True),
    ],
)
def test_a_condition_means_what_it_says(text: str, holds: bool) -> None:
    assert is_met(parse_condition(text), NAMES, STEPS) is holds


@pytest.mark.parametrize(
    ("text", "reason", "at"),
    [
        ("", "it is empty", 0),
        ("answers.kind", "==, !=, <, <=, >, >=, in, not in, is set or is not set belongs here", 12),
        ("answers.kind = 'x'", "'=' means nothing in a condition", 13),
        ("answers.kind is empty", "'set' belongs here, not 'empty'", 16),
        ("answers.kind ==", "it ends too early", 15),
        ("answers.kind == and", "a text, a number, true or false belongs here, not 'and'", 16),
        ("answers.kind in 'x'", "'[' belongs here, not ''x''", 16),
        ("(answers.kind is set", "')' belongs here", 20),
        ("answers.kind is set answers.kind", "'answers.kind' is left over", 20),
        ("exists verb == 'x'", "'(' belongs here, not 'verb'", 7),
        ("true", "a name belongs here, not 'true'", 0),
        ("__import__('os')", "==, !=", 10),
        ("not " * 30 + "a is set", "it is nested more than 20 levels deep", 80),
        ("a is set or " * 200 + "a is set", "a condition has at most 1000 characters", 1000),
    ],
)
def test_what_is_no_condition_is_refused_with_its_place(text: str, reason: str, at: int) -> None:
    with pytest.raises(ConditionFault) as raised:
        parse_condition(text)
    assert (raised.value.reason[: len(reason)], raised.value.at) == (reason, at)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="ab.()[]'\"=!<>, andorisetx0-1", max_size=60))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        condition = parse_condition(text)
    except ConditionFault as fault:
        assert 0 <= fault.at <= len(text)
    else:
        assert is_met(condition, NAMES, STEPS) in (True, False)
