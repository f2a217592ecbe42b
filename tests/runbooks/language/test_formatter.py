"""How programs are written again, and the command that does it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from perdure.errors import ProgramError
from perdure.runbooks.language.compiler import compile_program
from perdure.runbooks.language.formatter import format_program
from tests.acceptance.commands import PERDURE
from tests.runbooks.language.sample_verbs import catalogue

UNTIDY = """\
#intent: take on a client
LET co=EXEC entity.ensure-company( name : "Nordlys" , country:"DK")   # the parent


LET case = EXEC kyc.open-case(entity: co, case-type: "new-client", tags: ["edd", "q3", "a rather long tag"],
  meta: {risk: 3})
   GATE "compliance" AFTER co
IF case.number>3 and (case.state=="open" or not case.state in ["closed"]) THEN
# inside
EXEC send(to:case.case_id)   ON FAILURE   continue
# no more
ELSE END
EXEC send(to: ensure-company(name: $client, parent: null), count: -1)

# the end
"""
TIDY = """\
# intent: take on a client
# the parent
LET co = EXEC entity.ensure-company(name: "Nordlys", country: "DK")

LET case = EXEC kyc.open-case(
    entity: co,
    case-type: "new-client",
    tags: ["edd", "q3", "a rather long tag"],
    meta: {risk: 3}
)
    AFTER co
    GATE "compliance"
IF case.number > 3 and (case.state == "open" or not case.state in ["closed"]) THEN
    # inside
    EXEC send(to: case.case_id) ON FAILURE continue
    # no more
END
EXEC send(to: ensure-company(name: $client, parent: null), count: -1)
# the end
"""
LISP = """\
;; intent: take on a client
(kyc.open-case
  :entity (entity.ensure-company :name "Nordlys" :as @co)
  :case-type "new-client"
  :as @case)

(notice.send :to @case.case_id :after [@co] :on-failure {:decide "kyc.choose"} :gate "ops")
"""
LET = """\
# intent: take on a client
LET co = EXEC entity.ensure-company(name: "Nordlys")
LET case = EXEC kyc.open-case(entity: co, case-type: "new-client")

EXEC notice.send(to: case.case_id) AFTER co ON FAILURE decide kyc.choose GATE "ops"
"""


def test_a_program_is_laid_out_in_one_way_and_keeps_its_comments() -> None:
    assert format_program(UNTIDY) == TIDY
    assert format_program(TIDY) == TIDY


def test_s_expressions_keep_their_blank_lines_and_comments() -> None:
    assert format_program(LISP) == LISP
    assert format_program(LISP.replace("\n\n", "\n\n\n\n").replace(";; ", ";")) == LISP


def test_a_program_goes_to_the_other_form_with_its_inner_names() -> None:
    assert format_program(LISP, to="let") == LET
    assert '(entity.ensure-company :name "Nordlys" :as @co)\n(kyc.open-case :entity @co' in format_program(
        LET, to="lisp"
    )


def test_the_other_form_compiles_to_the_same_plan() -> None:
    text = LISP.replace(':on-failure {:decide "kyc.choose"} ', "")
    there = format_program(text, to="let")
    back = format_program(there, to="lisp")
    hashes = {compile_program(each, catalogue()).content_hash for each in (text, there, back)}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("text", "to", "told"),
    [
        (TIDY, "lisp", "13:1: DSL042: a choice cannot be written as an S-expression."),
        ('EXEC a(x: {"a-b": 1})', "lisp", "1:12: DSL010: the key 'a-b' would be read as 'a_b'."),
        ('EXEC a(x: {"a b": 1})', "lisp", "1:12: DSL010: 'a b' cannot be written as a name."),
        ("(a.b :as @and)", "let", "1:10: DSL041: 'and' is a word of the language and cannot be a name."),
        ("LET x EXEC a()", "let", "1:1: DSL032: LET is not followed by '= EXEC'."),
    ],
)
def test_what_a_form_has_no_words_for_is_refused_with_its_place(text: str, to: str, told: str) -> None:
    with pytest.raises(ProgramError) as caught:
        format_program(text, to=to)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"<input>:{told}\n")


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def perdure(*words: str, given: str = "") -> Ended:
    plain = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    done = subprocess.run(
        [PERDURE, *words], input=given, env=plain, capture_output=True, text=True, check=False, timeout=120
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def test_files_are_written_again_in_place_and_only_when_they_change(tmp_path: Path) -> None:
    untidy, tidy, other = tmp_path / "a.runbook", tmp_path / "deep" / "b.lisp", tmp_path / "c.txt"
    tidy.parent.mkdir()
    untidy.write_text(UNTIDY)
    tidy.write_text(LISP)
    other.write_text("not a program")
    assert perdure("fmt", str(tmp_path), "--check", "--json") == (1, f'{{"changed":["{untidy}"]}}\n', "")
    assert untidy.read_text() == UNTIDY
    assert perdure("fmt", str(tmp_path)) == (0, f"changed {untidy}\n", "")
    assert untidy.read_text() == TIDY
    assert perdure("fmt", str(tmp_path), "--check").code == 0
    assert perdure("fmt", str(tidy), "--to", "let").code == 0
    assert tidy.read_text() == LET


def test_nothing_is_written_when_one_of_the_files_cannot_be_read(tmp_path: Path) -> None:
    good, bad = tmp_path / "a.runbook", tmp_path / "b.runbook"
    good.write_text(UNTIDY)
    bad.write_text("LET x = EXEC a(\nEXEC b(y: 'z')\n")
    ended = perdure("fmt", str(good), str(bad))
    assert ended.code == 2
    assert f"{bad}:1:15: DSL001: '(' is never closed." in ended.err
    assert f"{bad}:2:11: DSL026: the character ''' means nothing here." in ended.err
    assert good.read_text() == UNTIDY


def test_a_program_goes_through_stdin_and_stdout() -> None:
    assert perdure("fmt", "-", given=UNTIDY) == (0, TIDY, "")
    assert perdure("fmt", "-", "--check", given=UNTIDY).code == 1
    assert perdure("fmt", "-", "--to", "let", given=LISP).out == LET


def test_what_cannot_be_formatted_is_refused() -> None:
    for words in (["nowhere.runbook"], ["-", "--to", "xml"]):
        ended = perdure("fmt", *words)
        assert ended.code == 2
        assert "Expected to format" in ended.err
