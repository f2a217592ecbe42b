"""The command line's own parts: exit codes, words as data, times, completion, and the pages that describe them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from rich.text import Text

from perdure import errors
from perdure.sources import SECOND, SystemSources, iso
from perdure.surfaces.cli.argument_values import expression, json_option, pairs
from perdure.surfaces.cli.commands.worker import shown_url
from perdure.surfaces.cli.console import make_console
from perdure.surfaces.cli.exit_codes import exit_code, exits
from perdure.surfaces.cli.time_text import relative, spoken
from perdure.verbs import load_text
from tests.acceptance.commands import PERDURE
from tests.house.tree import ROOT
from tests.surfaces.reference import reference

REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.req("P6")
def test_every_error_has_its_exit_code() -> None:
    def made(kind: type[errors.PerdureError]) -> int:
        return exit_code(kind("do", "thing", "id", "fact"))

    for code, edge in errors.EDGE_CODES.items():
        rejection = errors.Rejection(code, "do", "thing", "id", "fact")  # type: ignore[arg-type]
        assert exit_code(errors.RejectedError(rejection)) == edge.exit_code
    assert made(errors.SchemaViolationError) == made(errors.PayloadTooLargeError) == made(errors.StoreSettingError) == 2
    assert made(errors.StoreUnavailableError) == made(errors.StoreFullError) == made(errors.FencedError) == 8
    assert made(errors.QuarantinedError) == made(errors.PayloadIntegrityError) == 9
    assert made(errors.InvariantBroken) == exit_code(ValueError()) == 10
    assert made(errors.CallFailedError) == 1
    assert exit_code(KeyboardInterrupt()) == 130


@pytest.mark.req("P6")
def test_the_page_of_exit_codes_is_the_table_in_use() -> None:
    page = (REFERENCE / "exit-codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    assert [(int(code), name, meaning) for code, name, meaning in rows] == [tuple(each) for each in exits()]


@pytest.mark.req("P9")
def test_the_page_of_commands_is_what_they_say_of_themselves() -> None:
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    _, found, after = page.partition("<!-- generated: python -m tests.surfaces.reference -->\n")
    assert found
    assert after.strip() == reference().strip(), "run: python -m tests.surfaces.reference"


@pytest.mark.req("P6")
@pytest.mark.parametrize("line", ["perdure call kyc.", "perdure call '(kyc.", "perdure verbs show kyc."])
def test_the_shell_completes_names_of_verbs(tmp_path: Path, line: str) -> None:
    subprocess.run([PERDURE, "init"], cwd=tmp_path, capture_output=True, check=True)
    words = {"_PERDURE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    done = subprocess.run(
        [PERDURE], cwd=tmp_path, env={**os.environ, **words}, capture_output=True, text=True, check=True
    )
    assert "kyc.check-name" in done.stdout
    assert "kyc.request-document" in done.stdout


@pytest.mark.req("P6")
def test_the_shell_completes_commands_and_options(tmp_path: Path) -> None:
    for line, offered in (("perdure sta", "status"), ("perdure status --js", "--json"), ("perdure db b", "backup")):
        words = {"_PERDURE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
        done = subprocess.run([PERDURE], env={**os.environ, **words}, capture_output=True, text=True, check=True)
        assert offered in done.stdout


VERBS = """
- name: desk.write
  description: Write
  input_schema:
    properties:
      text: {type: string}
      number: {type: integer}
      amount: {type: decimal}
      any: {type: json}
      due-on: {type: date}
  execution: {kind: durable}
"""


def test_words_become_what_the_verb_wants() -> None:
    verb = load_text(VERBS).get("desk.write")
    given = pairs(["text=7", "number=7", "amount=7.10", "any=[1,2]", "due-on=2026-01-02", "unknown=x=y"], verb)
    assert given == {
        "text": "7", "number": 7, "amount": "7.10", "any": [1, 2], "due-on": "2026-01-02", "unknown": "x=y",
    }  # fmt: skip


def test_an_expression_becomes_a_verb_and_arguments() -> None:
    catalogue = load_text(VERBS)
    asked = ("desk.write", {"text": "a", "due_on": "2026-01-02"})
    assert expression('(desk.write :text "a" :due-on "2026-01-02")', catalogue) == asked
    assert expression('(write :text "a" :due-on "2026-01-02" :as @w)', catalogue) == asked
    with pytest.raises(errors.DefinitionError):
        expression("(desk.write :text (desk.write))", catalogue)


def test_an_option_that_is_no_json_says_how_to_write_it() -> None:
    assert json_option("--result", '{"a": [1, null]}') == {"a": [1, None]}
    with pytest.raises(errors.RejectedError, match="Text needs quotes"):
        json_option("--result", "done")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "a moment"),
        (1, "1 second"),
        (59, "1 minute"),
        (119, "2 minutes"),
        (7200, "2 hours"),
        (14 * 86400, "14 days"),
    ],
)
def test_spans_are_said_in_their_largest_unit(seconds: float, words: str) -> None:
    assert spoken(seconds) == words


def test_moments_are_said_from_now() -> None:
    now = SystemSources().now()
    assert relative(None) == ""
    assert relative(iso(now - 3600 * SECOND)) == "1 hour ago"
    assert relative(iso(now + 14 * 86400 * SECOND)) == "in 14 days"


def test_a_password_is_never_shown() -> None:
    assert shown_url("postgresql://ana:secret@host:5432/db") == "postgresql://ana:…@host:5432/db"
    assert shown_url("sqlite:///perdure.db") == "sqlite:///perdure.db"


def test_nothing_in_data_is_obeyed_by_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console = make_console()
    console.print(Text("[bold]a\x1b[31mb\x07\r\nc"))
    console.print("[red]d\x9b")
    assert capsys.readouterr().out == "[bold]a�[31mb\nc\n[red]d�\n"
