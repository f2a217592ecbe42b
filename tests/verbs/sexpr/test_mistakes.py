"""What is said about mistakes, and where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perdure.errors import DefinitionError, Problem
from perdure.verbs.sexpr.mistakes import Mistake, render
from perdure.verbs.sexpr.reader import read

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "s-expressions.md"
Found = list[tuple[str, int, int]]


def problems(text: str) -> list[Problem]:
    with pytest.raises(DefinitionError) as caught:
        read(text, file="case.lisp")
    return caught.value.problems


def found(text: str) -> Found:
    return [(problem.code, problem.line, problem.column) for problem in problems(text)]


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a.b :x 1", [("DSL001", 1, 1)]),
        ("(a.b :x [1 2", [("DSL001", 1, 9)]),
        ("(a.b))", [("DSL002", 1, 6)]),
        ("(a.b)))]", [("DSL002", 1, 6)]),
        ("(a.b :x [1 2})", [("DSL003", 1, 13)]),
        ("(a.b :x [1 2)", [("DSL003", 1, 13)]),
        ("(a.b :x {:k 1])", [("DSL003", 1, 14)]),
        ("(a.b :x [1 2) :y 3)", [("DSL003", 1, 13)]),
        ("(a.b :x (c.d :y [1 2) :z 3)", [("DSL003", 1, 21)]),
        ("a.b :x [1 2])", [("DSL004", 1, 1)]),
        ("[1 2]", [("DSL004", 1, 1)]),
        ("()", [("DSL005", 1, 1)]),
        ("(:x 1)", [("DSL005", 1, 1)]),
        ('("a.b" :x 1)', [("DSL005", 1, 1)]),
        ("((a.b) :x 1)", [("DSL005", 1, 1)]),
        ("(a..b)", [("DSL006", 1, 2)]),
        ("(a.b. :x 1)", [("DSL006", 1, 2)]),
        ("(a.b :x :y 1)", [("DSL007", 1, 6)]),
        ("(a.b :x)", [("DSL007", 1, 6)]),
        ("(a.b 1 2 [3])", [("DSL008", 1, 6)]),
        ('(a.b entity "x")', [("DSL009", 1, 6)]),
        ("(a.b :1x 1)", [("DSL010", 1, 6)]),
        ("(a.b : 1)", [("DSL010", 1, 6)]),
        ('(a.b :x "abc)\n(c.d)', [("DSL011", 1, 9)]),
        ('(a.b :x "abc\n     :y 1)\n(c.d)', [("DSL011", 1, 9)]),
        ('(a.b :x "abc\\', [("DSL011", 1, 9)]),
        ('(a.b :x "ab\\qc")', [("DSL012", 1, 12)]),
        ('(a.b :x "\\u12")', [("DSL012", 1, 10)]),
        ('(a.b :x "\\ud800x")', [("DSL012", 1, 10)]),
        ("(a.b :x -)", [("DSL015", 1, 9)]),
        ("(a.b :x 12345678901234567890)", [("DSL014", 1, 9)]),
        ("(a.b :x 0.1000000000000000055511151)", [("DSL014", 1, 9)]),
        (f"(a.b :x {'9' * 5000})", [("DSL014", 1, 9)]),
        ("(a.b :x abc)", [("DSL015", 1, 9)]),
        ("(a.b :x [:y])", [("DSL015", 1, 10)]),
        ("(a.b :x @)", [("DSL016", 1, 9)]),
        ("(a.b :x @y..z)", [("DSL016", 1, 9)]),
        ("(a.b :as)", [("DSL017", 1, 6)]),
        ('(a.b :as "x" :y 1)', [("DSL017", 1, 6)]),
        ("(a.b :as @x.y)", [("DSL017", 1, 6)]),
        ("(a.b :after @x :as @x)", [("DSL018", 1, 6)]),
        ("(a.b :after [1])", [("DSL018", 1, 6)]),
        ("(a.b :x-y 1 :x_y 2)", [("DSL019", 1, 13)]),
        ("(a.b :as @x :as @y)", [("DSL019", 1, 13)]),
        ("(a.b :after [] :after [])", [("DSL019", 1, 16)]),
        ('(a.b :x {"k" 1})', [("DSL020", 1, 10)]),
        ("(a.b :x {:k 1 :k 2})", [("DSL021", 1, 15)]),
        ("(a.b :as @x)\n(c.d :y (e.f :as @x))", [("DSL022", 2, 18)]),
        ("(a.b :x @y)", [("DSL023", 1, 9)]),
        ("(a.b :after [@y])", [("DSL023", 1, 14)]),
        ("(a.b :x {:as @y})", [("DSL023", 1, 14)]),
        ("(a.b :x " + "[" * 64 + "]" * 64 + ")", [("DSL024", 1, 72)]),
        (" " * (1024 * 1024 + 1), [("DSL025", 1, 1)]),
        ("é" * (512 * 1024 + 1), [("DSL025", 1, 1)]),
        ("(a.b :x $1y)", [("DSL026", 1, 9)]),
        ("(a.b :x 'Ada Lovelace')", [("DSL026", 1, 9)]),
        ("(a.b :x 1, :y 2)", [("DSL026", 1, 10)]),
        ("(a.b), (c.d)", [("DSL026", 1, 6)]),
        ("# a comment (of another language)\n(a.b)", [("DSL026", 1, 1)]),
        ("(a.b\u00a0:x 1)", [("DSL026", 1, 5)]),
        ('(a.b :x "\ud800")', [("DSL026", 1, 10)]),
    ],
)
def test_each_mistake_is_reported_once_at_its_place(text: str, expected: Found) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        ("1e5", "write 100000."),
        ("-2.5E-3", "write -0.0025."),
        ("+5", "Write 5."),
        ("1_000", "Write 1000."),
        (".5", "both sides"),
        ("5.", "both sides"),
        ("007", '"007"'),
        ("12abc", "double quotes"),
        ("1.2.3", "double quotes"),
        ("--5", ""),
    ],
)
def test_a_malformed_number_comes_with_advice(number: str, advice: str) -> None:
    (problem,) = problems(f"(a.b :x {number})")
    assert problem.code == ("DSL013" if advice else "DSL015")
    assert advice in problem.hint


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("(a.b :x null)", "Write nil."),
        ("(a.b :x True)", "Write true."),
        ("(a.b :x Ada)", '"Ada"'),
        ("(a.b :as case)", "':as @case'"),
        ("(a.b entity 1)", "':entity'"),
        ("(a.b :x $-case)", "$case or $case.owner"),
        ("(a.b :x @cas) (c.d :as @case)", "Did you mean @case?"),
        ("(a.b :x (c.d :y [1", "Add ']))' at line 1, column 19."),
    ],
)
def test_the_suggestion_says_what_to_write(text: str, hint: str) -> None:
    assert hint in problems(text)[0].hint


@pytest.mark.req("X10")
def test_independent_mistakes_are_all_found_in_one_reading() -> None:
    text = '(a.b :x 1e5)\n(c.d :as case)\n(e.f :x\n(g.h :y "abc)\n(i.j :x 1\n(k.l :x @nobody)\n(m.n))\n'
    assert found(text) == [
        ("DSL013", 1, 9),
        ("DSL017", 2, 6),
        ("DSL001", 3, 1),
        ("DSL007", 3, 6),
        ("DSL011", 4, 9),
        ("DSL001", 5, 1),
        ("DSL023", 6, 9),
        ("DSL002", 7, 6),
    ]


def test_several_mistakes_in_one_call_are_all_found() -> None:
    text = '(a.b :x foo :y 007 :z :w "\\q" 5 :v (c.d :u @none) :w 1)'
    assert [code for code, _, _ in found(text)] == [
        "DSL015",
        "DSL013",
        "DSL007",
        "DSL012",
        "DSL008",
        "DSL023",
        "DSL019",
    ]


def test_a_name_bound_in_a_broken_statement_is_not_reported_missing_as_well() -> None:
    assert found('(a.b :x "abc :as @co)\n(c.d :x @co)') == [("DSL011", 1, 9)]


def test_problems_beyond_a_hundred_are_counted_only() -> None:
    listed = problems("(a.b :x 1e5)\n" * 150)
    assert [problem.code for problem in listed] == ["DSL013"] * 100 + ["DSL027"]
    assert "(50)" in listed[-1].reason


@pytest.mark.req("X10")
def test_a_problem_is_shown_with_its_line_a_caret_and_the_suggestion() -> None:
    text = "(a.b)\n(limit.set :amount-total 1e5)"
    assert render(problems(text)[0], text) == (
        "case.lisp:2:26: DSL013: '1e5' is not a number.\n"
        " 2 | (limit.set :amount-total 1e5)\n"
        "   |                          ^\n"
        "   = Exponents are not read; write 100000."
    )


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    "text",
    [
        '(a.b\t:y "é" :x abc)',
        "\ufeff(a.b :x abc)",
        "(a.b :y 1)\r(a.b :x abc)\r\n",
        '(a.b :y "' + "z" * 5000 + '" :x abc)',
    ],
)
def test_the_caret_stands_under_the_mistake(text: str) -> None:
    _, line, caret, _ = render(problems(text)[0], text).split("\n")
    assert line[caret.index("^") :].startswith("abc")
    assert len(line) < 130


def test_the_caret_allows_for_wide_characters() -> None:
    text = '(a.b :y "日本" :x abc)'
    _, line, caret, _ = render(problems(text)[0], text).split("\n")
    assert caret.index("^") == line.index("abc") + 2


def test_messages_stay_short_and_printable_whatever_the_text() -> None:
    (problem,) = problems("(a.b :x " + "w" * 100_000 + ")")
    assert len(problem.sentence()) < 250
    assert all(problem.reason.isprintable() for problem in problems("(a.b :x \x00\x1b[31m)"))


def test_every_code_is_documented_and_no_other() -> None:
    documented = re.findall(r"^\| (DSL\d{3}) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert documented == [mistake.value for mistake in Mistake]


def test_each_documented_example_makes_its_mistake_and_is_given_a_suggestion() -> None:
    rows = re.findall(r"^\| (DSL\d{3}) \| .* \| `(.*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 27
    for code, example in rows:
        (problem,) = problems(example)
        assert problem.code == code
        assert problem.hint.endswith((".", "?"))


def test_the_documented_program_is_read() -> None:
    (program,) = re.findall(r"^```lisp\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(read(program).statements) == 4
