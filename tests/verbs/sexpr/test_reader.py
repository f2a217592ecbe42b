"""What a call program reads as."""

from __future__ import annotations

import pytest

from perdure.errors import DefinitionError
from perdure.verbs.sexpr.forms import CallForm, ListForm, Literal, MapForm, Symbol, Variable, calls, walk
from perdure.verbs.sexpr.json_arguments import arguments
from perdure.verbs.sexpr.reader import read
from perdure.verbs.sexpr.writer import write

FULL = r"""
;; intent: full syntax
(entity.ensure-company :name "Fjord \"Holding\" A/S" :active true :score -1.25 :parent nil :as @co) ; of the next
(kyc.open-case :entity @co :lei @co.ids.0 :tags ["edd", "q3"] :meta {:risk 3, :owner-name "ana"} :as @case)
(document.solicit :case @case
                  ;; inside
                  :subject (entity.ensure-person :first-name "Eva" :as @eva) :after [@co @eva])
;; the end
"""


def values(text: str) -> dict[str, object]:
    return arguments(read(text).statements[0])


@pytest.mark.req("X10", "V1")
def test_every_production_is_read_into_its_form() -> None:
    company, case, document = read(FULL).statements
    assert company.verb == "entity.ensure-company"
    assert company.bind is not None
    assert company.bind.name == "co"
    assert [argument.name for argument in case.args] == ["entity", "lei", "tags", "meta"]
    lei, tags, meta = (argument.value for argument in case.args[1:])
    assert isinstance(lei, Symbol)
    assert (lei.name, lei.path) == ("co", ("ids", "0"))
    assert isinstance(tags, ListForm)
    assert isinstance(meta, MapForm)
    assert isinstance(document.args[1].value, CallForm)
    assert [symbol.name for symbol in document.after] == ["co", "eva"]
    assert [call.verb for call in calls(read(FULL))][-1] == "entity.ensure-person"


def test_comments_stay_with_the_statement_that_follows_or_holds_them() -> None:
    program = read(FULL)
    assert [statement.comments for statement in program.statements] == [
        ("intent: full syntax",),
        ("of the next",),
        ("inside",),
    ]
    assert program.comments == ("the end",)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('"a\\n\\r\\t\\\\\\"b"', 'a\n\r\t\\"b'),
        ('"\\u00e9\\uD83D\\ude00"', "é😀"),
        ('"ü (not a call) ;; not a comment"', "ü (not a call) ;; not a comment"),
        ('""', ""),
        ("0", 0),
        ("-17", -17),
        ("9007199254740991", 2**53 - 1),
        ("2.50", 2.5),
        ("-0.001", -0.001),
        ("true", True),
        ("false", False),
        ("nil", None),
        ("[]", []),
        ("[1 [2,3] nil,]", [1, [2, 3], None]),
        ("{}", {}),
        ("{:a-b {:as 1}, :c [true]}", {"a_b": {"as": 1}, "c": [True]}),
    ],
)
def test_a_literal_becomes_its_json_value(source: str, value: object) -> None:
    read_value = values(f"(a.b :x {source})")["x"]
    assert read_value == value
    assert type(read_value) is type(value)


def test_arguments_are_given_in_snake_case() -> None:
    call = '(kyc.open-case :entity "Allianz GmbH" :case-type "periodic-review")'
    assert values(call) == {"entity": "Allianz GmbH", "case_type": "periodic-review"}


def test_symbols_and_nested_calls_are_each_refused_as_plain_arguments() -> None:
    call = read("(a.b :x @y :z [(c.d)] :as @y)").statements[0]
    with pytest.raises(DefinitionError) as caught:
        arguments(call)
    assert [(problem.code, problem.column) for problem in caught.value.problems] == [("DSL106", 9), ("DSL106", 16)]


def test_a_bare_verb_is_read_and_marked_unqualified() -> None:
    bare, full = read("(research) (kyc.research)").statements
    assert not bare.qualified
    assert full.qualified


def test_spans_give_offset_line_and_column() -> None:
    text = '(a.b)\r\n  (c.d :x\r\t"é" :y 12)\n'
    call = read(text).statements[1]
    literal = call.args[0].value
    assert text[call.span.start : call.span.end] == '(c.d :x\r\t"é" :y 12)'
    assert (call.span.line, call.span.column) == (2, 3)
    assert isinstance(literal, Literal)
    assert text[literal.span.start : literal.span.end] == '"é"'
    assert (literal.span.line, literal.span.column) == (3, 2)
    assert text[call.args[1].span.start : call.args[1].span.end] == ":y 12"


def test_layout_does_not_matter_to_a_program_without_mistakes() -> None:
    assert len(read("(a.b :x\n(c.d)\n:y [\n(e.f)\n]\n)(g.h)").statements) == 2


def test_a_symbol_may_be_used_before_the_call_that_binds_it() -> None:
    assert len(read("(a.b :x @later) (c.d :as @later)").statements) == 2


def test_names_bound_earlier_in_a_session_are_known() -> None:
    assert read("(a.b :x @old)", bound=["old"]).statements


@pytest.mark.parametrize("text", ["", "  \n\t", ";; only a comment", "\ufeff(a.b)"])
def test_empty_texts_and_byte_order_marks_are_fine(text: str) -> None:
    assert len(read(text).statements) == text.count("(")


def test_nesting_up_to_the_limit_is_read() -> None:
    assert read("(a.b :x " + "[" * 63 + "]" * 63 + ")").statements


@pytest.mark.req("X10")
def test_variables_and_what_is_said_of_a_step_are_read_and_written() -> None:
    text = '(a.b :x [$case $who.mail.0] :on-failure {:decide "c.d"} :gate "ops")\n\n(c.d :on-failure ask)\n'
    first, second = read(text).statements
    found = [(each.name, each.path) for each in walk([first]) if isinstance(each, Variable)]
    assert found == [("case", ()), ("who", ("mail", "0"))]
    assert (first.on_failure, first.alternative, first.gate) == ("decide", "c.d", "ops")
    assert (second.on_failure, second.has_gap) == ("ask", True)
    assert write(read(text)) == text


@pytest.mark.parametrize("text", ["(a.b :x $case)", '(a.b :gate "ops")', "(a.b :on-failure continue)"])
def test_what_belongs_to_a_runbook_is_refused_in_a_call_that_stands_alone(text: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        arguments(read(text).statements[0])
    assert [problem.code for problem in caught.value.problems] == ["DSL106"]
