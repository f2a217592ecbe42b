"""Bounds of the two forms and of calls in JSON: counted before anything is read, refused with their place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from perdure.errors import DefinitionError, ProgramError
from perdure.runbooks.language import compile_program
from perdure.runbooks.language.faults import MOST_STEPS, MOST_VALUES
from perdure.runbooks.language.formatter import format_program
from perdure.runbooks.language.json_calls import calls_from_json
from perdure.runbooks.language.program_reader import form_of
from perdure.verbs.sexpr import read
from perdure.verbs.sexpr.text_limits import MOST_TOKENS
from tests.runbooks.language.sample_verbs import catalogue

MANY = 1_000_000
TEXTS = {
    "brackets": "(" * MANY,
    "closed brackets": "()" * (MANY // 2),
    "lists": "(send :to " + "[" * MANY,
    "calls": "(send)" * (MANY // 4),
    "quotes": "'" * MANY,
    "line breaks": "\n" * MANY + "(send)",
    "let": "EXEC send(to: " + "[" * MANY,
    "choices": "IF a THEN " * (MANY // 6),
    "conditions": "IF " + "(" * MANY,
    "signs": "EXEC send(" + "," * MANY,
}


def steps_of(work: Callable[[], Any]) -> int:
    """The lines of Python that a piece of work takes."""
    count = 0

    def step(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return step

    with suppress(DefinitionError):
        compile_program("(send", catalogue())  # what is loaded when it is first used is no step of the work
    before = sys.gettrace()
    sys.settrace(step)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def refused(work: Callable[[], Any]) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        work()
    return caught.value


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_of_a_million_signs_is_refused_before_it_is_read(text: str) -> None:
    cost = steps_of(lambda: refused(lambda: compile_program(text, catalogue(), file="p")))
    assert cost < 2_000
    problem = refused(lambda: compile_program(text, catalogue(), file="p")).problems[0]
    assert (problem.code, problem.file) == ("DSL025", "p")
    assert f"more than {MOST_TOKENS:,} words and signs" in problem.reason
    assert refused(lambda: format_program(text)).problems[0].code == "DSL025"


def test_the_refusal_names_the_place_of_the_first_token_too_many() -> None:
    problem = refused(lambda: compile_program("(\n" * MOST_TOKENS, catalogue())).problems[0]
    assert (problem.line, problem.column) == (MOST_TOKENS // 2 + 1, 1)


def test_calls_alone_are_held_to_the_same() -> None:
    assert refused(lambda: read("(" * MANY)).problems[0].code == "DSL025"


def test_a_long_text_of_few_tokens_is_read() -> None:
    plan = compile_program(f'(send :to "{"(" * MANY}")', catalogue())
    assert len(plan.steps) == 1


def test_many_comments_before_the_first_call_are_looked_at_once() -> None:
    short, long = ("#\n" * count + "(send)" for count in (1_000, 10_000))
    assert form_of(long) == "lisp"
    assert steps_of(lambda: form_of(long)) == steps_of(lambda: form_of(short))


def test_problems_at_the_end_of_a_long_text_are_shown_with_their_lines() -> None:
    text = "\n" * 100_000 + ") \n" * 200
    error = refused(lambda: compile_program(text, catalogue(), form="lisp", file="p"))
    assert str(error).startswith("p:100001:1: DSL002")
    assert steps_of(lambda: refused(lambda: compile_program(text, catalogue(), form="lisp"))) < 3_000_000


def test_more_calls_than_steps_are_refused_before_they_are_looked_at() -> None:
    with pytest.raises(ProgramError) as caught:
        calls_from_json([{}] * (MOST_STEPS + 1))
    assert [(each.code, each.line) for each in caught.value.problems] == [("DSL116", MOST_STEPS + 1)]


def test_more_values_than_the_bound_are_refused_with_the_call_they_are_in() -> None:
    calls = [{"verb": "send"}, {"verb": "send", "args": {"to": [[]] * MOST_VALUES}}]
    with pytest.raises(ProgramError) as caught:
        calls_from_json(calls)
    problem = caught.value.problems[0]
    assert (problem.code, problem.line) == ("DSL118", 2)
    assert f"{MOST_VALUES:,} values" in problem.reason
