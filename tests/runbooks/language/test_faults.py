"""What is said about programs that do not compile: every message in full, in the table `faults.txt`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perdure.errors import ProgramError
from perdure.runbooks.language.compiler import compile_program
from perdure.runbooks.language.faults import LARGEST_BYTES, MOST_STEPS, Fault
from perdure.runbooks.language.program import Program
from perdure.runbooks.language.program_reader import read_program
from perdure.runbooks.plan import Plan
from perdure.verbs.sexpr.mistakes import Mistake
from tests.runbooks.language.sample_verbs import catalogue

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "reference" / "runbook-language.md"
TABLE = re.compile(r"^=== (let|lisp): (.*?)\n(.*?)^---\n(.*?)(?=^===|\Z)", re.MULTILINE | re.DOTALL)
CASES = TABLE.findall((HERE / "faults.txt").read_text(encoding="utf-8"))


def told(form: str, text: str) -> str:
    with pytest.raises(ProgramError) as caught:
        compile_program(text, catalogue(), form=form, variables={"case_id": "c-1"}, file="p")  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.req("X10")
@pytest.mark.parametrize(("form", "title", "text", "message"), CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES])
def test_everything_wrong_with_a_program_is_told_at_once(form: str, title: str, text: str, message: str) -> None:
    assert told(form, text.removesuffix("\n")) == message.removesuffix("\n")


def test_the_table_covers_both_forms_and_every_code_that_text_can_meet() -> None:
    assert len(CASES) >= 40
    assert {form for form, *_ in CASES} == {"let", "lisp"}
    elsewhere = {Fault.NOT_IN_THIS_FORM, Fault.NO_CHOICE, Fault.NO_RESULT, Fault.TOO_MANY_STEPS, Fault.MALFORMED_CALL}
    met = set(re.findall(r": (DSL\d{3}):", "".join(case[3] for case in CASES)))
    assert {fault.value for fault in Fault} - elsewhere <= met


def test_a_program_of_too_many_steps_is_refused() -> None:
    text = "EXEC send()\n" * (MOST_STEPS + 1)
    assert told("let", text).startswith(f"p:{MOST_STEPS + 1}:6: DSL116: there are more than 10000 steps.\n")


def test_a_program_that_is_too_large_is_refused_unread() -> None:
    assert told("let", "#" * (LARGEST_BYTES + 1)).startswith("p:1:1: DSL025: the text is larger than 8388608 bytes.")


def test_a_choice_of_the_runbook_before_has_no_result() -> None:
    first = compile_program(
        'LET c = EXEC open-case(entity: 1, case_type: "new-client")\nIF c.number > 1 THEN EXEC send() END', catalogue()
    )
    assert found("EXEC send(to: choice.x)", first) == [("DSL115", 1, 15)]
    assert found("EXEC send(to: send)", first) == [("DSL112", 1, 15)]
    assert found("LET c = EXEC send()", first) == [("DSL022", 1, 5)]


def found(text: str, after: Plan | None = None) -> list[tuple[str, int, int]]:
    with pytest.raises(ProgramError) as caught:
        compile_program(text, catalogue(), after=after)
    return [(problem.code, problem.line, problem.column) for problem in caught.value.problems]


def test_a_statement_that_cannot_be_read_excuses_the_uses_of_its_name() -> None:
    assert found('LET co = EXEC ensure-company(name = "A")\nEXEC send(to: co)') == [("DSL009", 1, 35)]
    assert found("LET co = send(\nEXEC send(to: co)\nEXEC send(to: cu)") == [
        ("DSL032", 1, 1), ("DSL001", 1, 14), ("DSL023", 3, 15),
    ]  # fmt: skip
    assert found("(ensure-company :name :as @co) (send :to @co)") == [("DSL007", 1, 17)]


def test_every_code_is_documented_and_no_other() -> None:
    documented = re.findall(r"^\| (DSL\d{3}) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    own = [fault.value for fault in Fault]
    assert [code for code in documented if code in own] == own
    assert set(documented) <= {*own, *(mistake.value for mistake in Mistake)}


def test_a_program_is_read_without_verbs() -> None:
    assert isinstance(read_program("EXEC nothing.known(x: y)"), Program)
