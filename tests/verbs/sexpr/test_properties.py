"""What holds for any text and any program."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import DefinitionError
from perdure.verbs.sexpr.forms import Argument, CallForm, ListForm, Literal, MapForm, Program, Symbol, Value
from perdure.verbs.sexpr.mistakes import render
from perdure.verbs.sexpr.reader import read
from perdure.verbs.sexpr.writer import write

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,6}", fullmatch=True)
KEYS = NAMES.filter(lambda name: name not in ("as", "after"))
BOUND = ["a", "co", "case-2", "x_y"]
COMMENTS = st.lists(
    st.text(max_size=12).map(
        lambda text: text.replace("\n", "").replace("\r", "").strip("; \t").strip().lstrip("; \t")
    ),
    max_size=2,
).map(tuple)
LITERALS = st.builds(
    Literal,
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
)
SYMBOLS = st.builds(
    Symbol,
    st.sampled_from(BOUND),
    st.lists(st.from_regex(r"[a-z0-9_][a-z0-9_-]{0,4}", fullmatch=True), max_size=2).map(tuple),
)
AFTER = st.lists(st.builds(Symbol, st.sampled_from(BOUND)), max_size=2).map(tuple)
VERBS = st.lists(NAMES, min_size=1, max_size=3).map(".".join).filter(lambda verb: verb not in ("true", "false", "nil"))


def pairs(values: st.SearchStrategy[Value]) -> st.SearchStrategy[tuple[Argument, ...]]:
    built = st.lists(st.builds(Argument, KEYS, values), max_size=3, unique_by=lambda pair: pair.name.replace("-", "_"))
    return built.map(tuple)


def forms(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    nested = st.builds(CallForm, VERBS, pairs(values), st.none(), AFTER)
    return st.builds(ListForm, st.lists(values, max_size=3).map(tuple)) | st.builds(MapForm, pairs(values)) | nested


VALUES: st.SearchStrategy[Value] = st.recursive(LITERALS | SYMBOLS, forms, max_leaves=12)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs in which each of the first statements binds one of the names that all may use."""
    statements = []
    for name in [*BOUND, *draw(st.lists(st.none(), max_size=2))]:
        bind = Symbol(name) if name else None
        statements.append(CallForm(draw(VERBS), draw(pairs(VALUES)), bind, draw(AFTER), comments=draw(COMMENTS)))
    return Program(tuple(statements), draw(COMMENTS))


def bare(form: Any) -> Any:
    """A form as nested tuples with types and without places: true is not 1, 1 is not 1.0."""
    if isinstance(form, msgspec.Struct):
        fields = [bare(getattr(form, name)) for name in form.__struct_fields__ if name != "span"]
        return (type(form).__name__, *fields)
    return tuple(map(bare, form)) if isinstance(form, tuple) else (type(form).__name__, repr(form))


@settings(deadline=None, max_examples=150)
@given(programs())
def test_a_written_program_reads_back_as_itself(program: Program) -> None:
    assert bare(read(write(program))) == bare(program)


PIECES = st.sampled_from(
    [
        *[
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            '"',
            "\\",
            ";",
            ",",
            "\n",
            "\r",
            " ",
            ":",
            ":as",
            ":after",
            "@",
            "@a",
            "a.b",
            "x",
        ],
        *[
            "1",
            "\u00a0",
            "\u2028",
            "-",
            ".5",
            "1e9",
            "true",
            "nil",
            "'",
            "“",
            "$",
            "#",
            "\x00",
            "\ud800",
            "\ufeff",
            "é",
            "\\u12",
            "(a.b :x 1)",
        ],
    ]
)


@settings(deadline=None, max_examples=400)
@given(st.text() | st.lists(PIECES, max_size=40).map("".join) | st.lists(PIECES, max_size=25).map(" ".join))
def test_any_text_reads_or_is_refused_with_located_problems(text: str) -> None:
    try:
        program = read(text)
    except DefinitionError as error:
        places = [(problem.line, problem.column) for problem in error.problems]
        assert places == sorted(places)
        assert all(problem.hint and "^" in render(problem, text) for problem in error.problems)
        assert all(1 <= line <= text.count("\n") + text.count("\r") + 1 and column >= 1 for line, column in places)
    else:
        assert bare(read(write(program))) == bare(program)


@pytest.mark.parametrize(
    "piece", ["(", ")", "[(", "([", '"', '"\n', "(a.b :x 1\n", "'", "“ ", ":x ", "\\", "@a.", "1,"]
)
def test_long_hostile_texts_are_refused_and_not_choked_on(piece: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        read(piece * (60_000 // len(piece)))
    assert 1 <= len(caught.value.problems) <= 101


@pytest.mark.parametrize(
    "call",
    [
        CallForm("a b"),
        CallForm("a.b", (Argument("as", Literal(1)),)),
        CallForm("a.b", (Argument("x 1) (evil.verb", Literal(1)),)),
        CallForm("a.b", (Argument("x", Symbol("y) (evil.verb")),)),
        CallForm("a.b", (Argument("x", Symbol("y", ("z 1",))),)),
        CallForm("a.b", (Argument("x", Literal(float("nan"))),)),
        CallForm("a.b", (Argument("x", Literal(2**53)),)),
        CallForm("a.b", (Argument("x", Literal("\ud800")),)),
    ],
)
def test_a_form_made_by_hand_that_no_text_stands_for_is_not_written(call: CallForm) -> None:
    with pytest.raises(DefinitionError):
        write(Program((call,)))


def test_what_is_written_nests_as_deep_as_what_is_read_and_no_deeper() -> None:
    value: Value = Literal(1)
    for _ in range(63):
        value = ListForm((value,))
    deepest = Program((CallForm("a.b", (Argument("x", value),)),))
    assert bare(read(write(deepest))) == bare(deepest)
    with pytest.raises(DefinitionError):
        write(Program((CallForm("a.b", (Argument("x", ListForm((value,))),)),)))


def test_a_line_break_in_a_comment_does_not_let_the_rest_be_read_as_code() -> None:
    program = Program((CallForm("a.b", comments=("one\n(evil.verb)\r(evil.verb)",)),))
    assert [call.verb for call in read(write(program)).statements] == ["a.b"]


def test_characters_that_cannot_be_seen_are_written_as_escapes() -> None:
    text = write(Program((CallForm("a.b", (Argument("x", Literal("a\u202eb\u200b\U000e0041\x07")),)),)))
    assert text == '(a.b :x "a\\u202eb\\u200b\\udb40\\udc41\\u0007")\n'


def test_a_long_statement_takes_a_line_for_each_argument() -> None:
    call = CallForm("a.b", tuple(Argument(f"argument-{n}", Literal("x" * 30)) for n in range(4)), Symbol("co"))
    lines = write(Program((call,))).splitlines()
    assert [line.split()[0] for line in lines] == [
        "(a.b",
        ":argument-0",
        ":argument-1",
        ":argument-2",
        ":argument-3",
        ":as",
    ]
