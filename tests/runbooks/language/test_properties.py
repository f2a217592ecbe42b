"""What holds for any text and any program of the language."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import DefinitionError, ProgramError
from perdure.runbooks.language import program as forms
from perdure.runbooks.language.compiler import compile_program
from perdure.runbooks.language.dry_run import dry_run
from perdure.runbooks.language.formatter import format_program, write_program
from perdure.runbooks.language.let.token_cursor import RESERVED
from perdure.runbooks.language.program import (
    Argument,
    CallForm,
    IfForm,
    ListForm,
    Literal,
    MapForm,
    Program,
    Symbol,
    Variable,
)
from perdure.runbooks.language.program_reader import read_program
from perdure.runbooks.plan import Operator
from tests.runbooks.language.sample_verbs import catalogue

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,6}", fullmatch=True)
FREE = NAMES.filter(lambda name: name not in RESERVED)
KEYS = NAMES.filter(lambda name: name.replace("-", "_") not in ("as", "after", "gate", "on_failure"))
FIELDS = st.lists(st.from_regex(r"[a-z_][a-z0-9_-]{0,4}|0|[1-9][0-9]{0,2}", fullmatch=True), max_size=2).map(tuple)
VERBS = st.lists(FREE, min_size=1, max_size=3).map(".".join)
COMMENTS = st.lists(
    st.text(max_size=12).map(lambda text: " ".join(text.splitlines()).replace("\r", "").strip("#; \t").strip()),
    max_size=2,
).map(lambda found: tuple(each.lstrip("#; \t") for each in found))
SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()
LITERALS = st.builds(Literal, SCALARS | st.floats(allow_nan=False, allow_infinity=False))
SYMBOLS = st.builds(Symbol, FREE, FIELDS)
VARIABLES = st.builds(Variable, NAMES, FIELDS)
AFTER = st.lists(st.builds(Symbol, FREE), max_size=2).map(tuple)


def pairs(values: Any, names: Any = KEYS) -> Any:
    built = st.lists(st.builds(Argument, names, values), max_size=3, unique_by=lambda pair: pair.key)
    return built.map(tuple)


def nested(values: Any) -> Any:
    exact = st.builds(lambda value: Argument("any key: {}", value, is_exact=True), values)
    maps = pairs(values).flatmap(lambda found: st.just(found) | exact.map(lambda each: (*found, each)))
    calls = st.builds(CallForm, VERBS, pairs(values))
    return st.builds(ListForm, st.lists(values, max_size=3).map(tuple)) | st.builds(MapForm, maps) | calls


VALUES = st.recursive(LITERALS | SYMBOLS | VARIABLES, nested, max_leaves=8)


@st.composite
def steps(draw: st.DrawFn) -> CallForm:
    failure = draw(st.sampled_from([("", ""), ("stop", ""), ("continue", ""), ("ask", ""), ("decide", "kyc.choose")]))
    said = (*failure, draw(st.just("") | st.text(min_size=1, max_size=5)))
    bind = draw(st.none() | st.builds(Symbol, FREE))
    return CallForm(draw(VERBS), draw(pairs(VALUES)), bind, draw(AFTER), forms.NOWHERE, draw(COMMENTS), *said)


@st.composite
def comparisons(draw: st.DrawFn) -> forms.Test:
    operator = draw(st.none() | st.sampled_from(get_args(Operator)))
    subject = draw(SYMBOLS)
    if operator is None:
        return forms.Test(subject)
    listed = st.builds(ListForm, st.lists(LITERALS | VARIABLES, max_size=3).map(tuple))
    return forms.Test(subject, operator, draw(listed if operator == "in" else LITERALS | VARIABLES))


def joined(conditions: Any) -> Any:
    several = st.lists(conditions, min_size=2, max_size=3).map(tuple)
    return st.builds(forms.Not, conditions) | st.builds(forms.All, several) | st.builds(forms.Either, several)


CONDITIONS = st.recursive(comparisons(), joined, max_leaves=5)


def choices(statements: Any) -> Any:
    block = st.lists(statements, max_size=3).map(without_first_gap)
    return st.builds(
        IfForm, CONDITIONS, block, block, st.just(forms.NOWHERE), COMMENTS, COMMENTS, COMMENTS, st.booleans()
    )


def without_first_gap(statements: list[Any]) -> tuple[Any, ...]:
    """Nothing stands before the first, so that a blank line there would mean nothing."""
    return tuple(
        msgspec.structs.replace(each, has_gap=False) if not number else each for number, each in enumerate(statements)
    )


STATEMENTS = st.recursive(steps(), choices, max_leaves=6)
PROGRAMS = st.builds(Program, st.lists(STATEMENTS, max_size=4).map(without_first_gap), COMMENTS)


def bare(form: Any) -> Any:
    """A form as nested tuples with types and without places: true is not 1, 1 is not 1.0."""
    if isinstance(form, msgspec.Struct):
        fields = [bare(getattr(form, name)) for name in form.__struct_fields__ if name != "span"]
        return (type(form).__name__, *fields)
    return tuple(map(bare, form)) if isinstance(form, tuple) else (type(form).__name__, repr(form))


@settings(deadline=None, max_examples=100)
@given(PROGRAMS)
def test_a_written_program_reads_back_as_itself(program: Program) -> None:
    text = write_program(program, "let")
    assert bare(read_program(text, "let")) == bare(program)
    assert format_program(text, form="let") == text


@settings(deadline=None, max_examples=60)
@given(st.lists(steps(), max_size=4))
def test_a_program_without_choices_goes_to_the_other_form_and_back(statements: list[CallForm]) -> None:
    program = Program(tuple(statements))
    try:
        lisp = write_program(program, "lisp")
    except DefinitionError as error:
        assert "would be read as" in str(error) or "cannot be written" in str(error)
        return
    assert bare(read_program(lisp, "lisp")) == bare(program)
    assert format_program(lisp, form="lisp", to="let") == write_program(program, "let")


WORDS = (
    "LET EXEC IF THEN ELSE END AFTER ON FAILURE GATE continue decide and or not in let exec if true null x x.y a.b( "
    "x[0] ( ) [ ] { } , : = == != < $ $v @a 'q' 1 -1.5 1e9 .5 é ; && ! # \" \\"
)
PIECES = st.sampled_from(
    [
        *re.split(" ", WORDS),
        *['"t"', "\n", "\r", " ", "# c\n", "\x00", "\ud800", "\ufeff", "\u2028", "(send :to 1)", "IF x.y THEN\n"],
        *["LET x = EXEC send(to: 1)\n", 'EXEC open-case(entity: x, case_type: "new-client")\n'],
    ]
)
TEXTS = st.text() | st.lists(PIECES, max_size=40).map("".join) | st.lists(PIECES, max_size=30).map(" ".join)


@pytest.mark.req("X10")
@settings(deadline=None, max_examples=250)
@given(TEXTS, st.sampled_from(["auto", "let", "lisp"]))
def test_any_text_compiles_or_is_refused_with_located_problems(text: str, form: Any) -> None:
    try:
        plan = compile_program(text, catalogue(), form=form, variables={"v": [1]})
    except ProgramError as error:
        places = [(problem.line, problem.column) for problem in error.problems]
        assert places == sorted(places)
        assert all(problem.hint and problem.reason.isprintable() for problem in error.problems)
        assert str(error).count("^") >= len(error.problems)
        assert all(1 <= line <= text.count("\n") + text.count("\r") + 1 and column >= 1 for line, column in places)
    else:
        assert len(dry_run(plan, catalogue()).order) == len(plan.steps)


@settings(deadline=None, max_examples=100)
@given(TEXTS, st.sampled_from(["let", "lisp"]))
def test_formatting_changes_no_program_and_is_done_after_once(text: str, form: Any) -> None:
    try:
        program = read_program(text, form)
    except ProgramError:
        return
    once = format_program(text, form=form)
    assert bare(read_program(once, form)) == bare(program)
    assert format_program(once, form=form) == once


HOSTILE = [
    "{",
    "(",
    "EXEC a(",
    "EXEC a(x: [",
    "IF ",
    "IF a THEN ",
    "IF not ",
    "IF (",
    "LET ",
    '"',
    "a.",
    "$",
    "x: ",
    "END ",
    "a(",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_long_hostile_texts_are_refused_and_not_choked_on(piece: str) -> None:
    with pytest.raises(ProgramError) as caught:
        read_program(piece * (60_000 // len(piece)), "let")
    assert 1 <= len(caught.value.problems) <= 101
