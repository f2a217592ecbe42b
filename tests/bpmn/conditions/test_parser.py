"""Condition texts: both spellings give one tree, and everything else is refused with a fact and a hint."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.bpmn.conditions.parser import MAX_CONDITION_DEPTH, MAX_CONDITION_LENGTH, both, either, parse_condition
from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.conditions.tree import Among, Both, Compare, Condition, Either, Foreign, Not
from perdure.verb_contract import SAFE_INTEGER

A = Compare("orch_a", "=", "x")
B = Compare("orch_b", "=", True)
C = Compare("orch_c", ">", 3)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('=orch_a = "x"', A),
        ('orch_a == "x"', A),
        ("${orch_a == 'x'}", A),
        ("#{orch_a == 'x'}", A),
        ('  = orch_a="x" ', A),
        ('"x" = orch_a', A),
        ("3 < orch_c", C),
        ('orch.a == "x"', A),
        ("=orch.b = true and 3 < orch.c", Both((B, C))),
        ("orch.a_b in (1)", Among("orch_a_b", (1,))),
        ("orch_c >= -2", Compare("orch_c", ">=", -2)),
        ("-2 <= orch_c", Compare("orch_c", ">=", -2)),
        ("orch_b != false", Compare("orch_b", "!=", False)),
        ('=orch_a in ("x", "y")', Among("orch_a", ("x", "y"))),
        ('orch_a in ["x","y","x"]', Among("orch_a", ("x", "y"))),
        ("orch_a in (true, 1)", Among("orch_a", (True, 1))),
        ('orch_a = "x" and orch_b = true', Both((A, B))),
        ('orch_a == "x" && orch_b == true', Both((A, B))),
        ('orch_a = "x" or orch_b = true and orch_c > 3', Either((A, Both((B, C))))),
        ('(orch_a = "x" || orch_b == true) && orch_c > 3', Both((Either((A, B)), C))),
        ('orch_a = "x" and (orch_b = true and orch_c > 3)', Both((A, B, C))),
        ('orch_a = "x" or (orch_b = true or orch_c > 3)', Either((A, B, C))),
        ('not(orch_a = "x")', Not(A)),
        ("!(orch_a == 'x')", Not(A)),
        ("((orch_c > 3))", C),
        (r'orch_a = "a\"b\\c\u0041\n"', Compare("orch_a", "=", 'a"b\\cA\n')),
        (f"orch_c = {SAFE_INTEGER}", Compare("orch_c", "=", SAFE_INTEGER)),
    ],
)
def test_both_spellings_give_one_tree(text: str, tree: Condition) -> None:
    assert parse_condition(text) == tree


@pytest.mark.parametrize(
    ("text", "fact", "hint"),
    [
        ("", "it is empty", "Write a comparison"),
        ("=", "it is empty", "Write a comparison"),
        ("${}", "it is empty", "Write a comparison"),
        ("orch_b", "the flag 'orch_b' is not compared with anything", "Write orch_b = true."),
        ("=not(orch_b)", "the flag 'orch_b' is not compared with anything", "Write orch_b = true."),
        ("true", "a literal alone decides nothing", "Remove the condition"),
        ("amount > 5", "it reads the variable 'amount'", "Only orch_* flags"),
        ("orch_Amount > 5", "'orch_Amount' is not a flag name", "small letters"),
        ("domain_payload.amount > 5", "it reaches into 'domain_payload'", "Let a verb compute"),
        ("orch.a.b = 5", "it reaches into 'orch_a'", "Let a verb compute"),
        ("orch.a() = 5", "it calls the function 'orch_a'", "Let a verb compute"),
        ("orch. = 5", "it reaches into 'orch'", "Let a verb compute"),
        ("orch = 5", "it reads the variable 'orch'", "Only orch_* flags"),
        ("orch.A = 5", "'orch_A' is not a flag name", "small letters"),
        ("orch_a <> 5", "'<>' is not how conditions say unequal", "Write !=."),
        ("orch_a[1] = 5", "it reaches into 'orch_a'", "Let a verb compute"),
        ("orch_a + 1 = 2", "it computes with '+'", "Let a verb compute"),
        ("orch_a = 1 + 1", "it computes with '+'", "Let a verb compute"),
        ("orch_a = -(1)", "it computes with '-'", "Let a verb compute"),
        ('contains(orch_a, "x")', "it calls the function 'contains'", "Let a verb compute"),
        ("orch_a = now()", "it calls the function 'now'", "Let a verb compute"),
        ("orch_a = orch_b", "it compares two flags", "Let a verb compare them"),
        ("1 = 1", "it compares two literals", "Let a verb compute"),
        ("orch_a = null", "no flag is ever null", "initial value"),
        ("orch_a = 1.5", "1.5 is not an integer", "Flags hold integers"),
        ('orch_a < "x"', "'<' orders something that is not an integer", "Let a verb compute"),
        ("orch_a > true", "'>' orders something that is not an integer", "Let a verb compute"),
        ("orch_a in [1..5]", "it uses a range", "orch_x >= 1 and orch_x <= 5"),
        ("orch_a in ()", "')' stands where a flag or a literal should stand", ""),
        ("orch_a in orch_b", "'orch_b' stands where the list of 'in' should stand", "Write orch_x in"),
        ("orch_a in (orch_b)", "the list of 'in' holds the flag 'orch_b'", "List literals only"),
        ("orch_a between 1 and 5", "it uses 'between'", "Let a verb compute"),
        ("not orch_a = 1", "'not' is not followed by parentheses", "Write not("),
        ("orch_a = 1 AND orch_b = 2", "'AND' is in capitals", "Write and."),
        ("orch_a = True", "'True' is in capitals", "Write true."),
        ("orch_a = 'x", "a string is not closed", "Close it with '."),
        ("(orch_a = 1", "it ends where ')' should stand", "Complete"),
        ("orch_a = 1)", "')' stands after the end of the condition", ""),
        ("orch_a = 1 and", "it ends where a flag or a literal should stand", "Complete"),
        ("orch_a = 9007199254740992", "9007199254740992 is beyond 2^53-1, the largest exact integer", ""),
        ("orch_a = " + "9" * 4000, "9" * 40 + " is beyond 2^53-1, the largest exact integer", ""),
        ("orch_a ~ 1", "'~' stands where a comparison should stand", ""),
        ("if orch_a = 1 then true else false", "it uses 'if'", ""),
        ("orch_a = 1\x00", "'\x00' stands after the end of the condition", ""),
    ],
)
def test_everything_else_is_foreign_and_says_what_to_do(text: str, fact: str, hint: str) -> None:
    condition = parse_condition(text)
    assert isinstance(condition, Foreign)
    assert (condition.text, condition.fact) == (text, fact)
    assert hint in condition.hint
    assert condition.hint
    assert 0 <= condition.offset <= len(text)


def test_the_offset_points_at_the_word_to_blame() -> None:
    text = '= orch_a = "x" and amount > 5'
    condition = parse_condition(text)
    assert isinstance(condition, Foreign)
    assert text[condition.offset :].startswith("amount")


def test_deep_and_long_texts_are_refused_without_an_exception() -> None:
    deep = "(" * 2000 + "orch_a = 1" + ")" * 2000
    within = "(" * MAX_CONDITION_DEPTH + "orch_a = 1" + ")" * MAX_CONDITION_DEPTH
    long = " " * MAX_CONDITION_LENGTH + "orch_a = 1"
    assert isinstance(parse_condition(deep), Foreign)
    assert isinstance(parse_condition(long), Foreign)
    assert parse_condition(within) == Compare("orch_a", "=", 1)


flags = st.from_regex(r"\Aorch_[a-z][a-z0-9_]{0,5}\Z")
integers = st.integers(-SAFE_INTEGER, SAFE_INTEGER)
scalars = st.text(max_size=12) | st.booleans() | integers
lists = st.lists(scalars, min_size=1, max_size=4, unique_by=lambda each: (type(each), each)).map(tuple)
leaves = (
    st.builds(Compare, flags, st.sampled_from(["=", "!="]), scalars)
    | st.builds(Compare, flags, st.sampled_from(["<", "<=", ">", ">="]), integers)
    | st.builds(Among, flags, lists)
)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map(lambda parts: both(*parts))
        | st.lists(inner, min_size=1, max_size=4).map(lambda parts: either(*parts))
        | st.builds(Not, inner)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=300)
@given(trees, st.sampled_from(["feel", "source"]))
def test_what_is_shown_parses_to_the_same_tree(tree: Condition, spelling: str) -> None:
    assert parse_condition(show_condition(tree, "feel" if spelling == "feel" else "source")) == tree


words = st.sampled_from(
    [
        "orch_a",
        "orch",
        ".",
        "a",
        "<>",
        "=",
        "==",
        "(",
        ")",
        "[",
        "]",
        ",",
        "and",
        "or",
        "not",
        "in",
        "1",
        "-",
        '"',
        "'",
        "${",
        "}",
        "&&",
        "!",
        " ",
    ]
)


@settings(deadline=None, max_examples=500)
@given(st.text(max_size=40) | st.lists(words, max_size=12).map("".join))
def test_no_text_raises_and_what_parses_is_stable(text: str) -> None:
    tree = parse_condition(text)
    shown = show_condition(tree)
    assert parse_condition(shown) == tree
    if isinstance(tree, Foreign):
        assert shown == text
