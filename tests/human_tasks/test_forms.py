"""Forms at a terminal: one question per field, what does not fit is asked again, what is known is offered."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from pathlib import Path

import pytest

from perdure.surfaces.cli.terminal_forms import ask_form, field_line, question
from tests.acceptance.commands import PERDURE, Shell
from tests.acceptance.parcels import Parcel, make_parcels

FORM = {
    "type": "object", "required": ["verdict", "amount"],
    "properties": {
        "verdict": {"enum": ["yes", "no"], "title": "Your verdict"}, "amount": {"type": "integer", "minimum": 1},
        "note": {"type": "string", "default": "none"}, "urgent": {"type": "boolean"},
    },
}  # fmt: skip


@pytest.mark.req("V20")
def test_a_form_is_asked_field_by_field_and_what_does_not_fit_is_asked_again() -> None:
    typed = iter(["perhaps", "yes", "", "0", "12", "", "yes"])
    said: list[str] = []
    answers = ask_form(FORM, lambda _: next(typed), said.append)
    assert answers == {"verdict": "yes", "amount": 12, "urgent": True}
    assert [each.split(":")[0] for each in said] == ["verdict", "amount is required.", "amount"]
    assert list(typed) == []


def test_a_question_names_its_options_and_what_happens_when_nothing_is_typed() -> None:
    assert [question(name, FORM) for name in FORM["properties"]] == [  # type: ignore[attr-defined]
        "Your verdict (yes, no)", "Amount", "Note [none]", "Urgent [-]"
    ]  # fmt: skip
    assert field_line("amount", FORM) == "amount: integer (required)"
    assert field_line("verdict", FORM) == "verdict: yes|no (required)"


def test_whoever_never_gives_a_required_answer_is_not_asked_for_ever() -> None:
    assert ask_form(FORM, lambda _: "", lambda _: None) == {}


SCHEMA = '{"type": "object", "required": ["checked"], "properties": {"checked": {"type": "boolean"}}}'


@pytest.mark.req("V20", "P6")
def test_completing_a_task_at_a_terminal_asks_for_its_form(tmp_path: Path) -> None:
    shell = make_parcels(tmp_path)
    model = shell.folder / "first.bpmn"
    text = model.read_text("utf-8").replace("'", "&apos;")
    task = text.index('<bpmn:userTask id="check"') if '<bpmn:userTask id="check"' in text else -1
    assert task > 0, text[:2000]
    place = text.index("<zeebe:userTask", task)
    schema = SCHEMA.replace('"', "&quot;")
    extra = f'<zeebe:properties><zeebe:property name="schema" value="{schema}"/></zeebe:properties>'
    model.write_text(text[:place] + extra + text[place:], "utf-8")
    shell.run("deploy", "first.bpmn")
    key = Parcel(shell).pay()
    said = typed(shell, ("tasks", "complete", key, "--as", "rita"), b"perhaps\nyes\n")
    assert "Checked" in said
    assert "checked: " in said, "what does not fit is said beside the field"
    assert "completed" in said or "alarm" in said
    assert shell.json("tasks", "list") == []


def typed(shell: Shell, words: tuple[str, ...], keys: bytes) -> str:
    """What a command says at a terminal where somebody types."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [PERDURE, *words], cwd=shell.folder, env=shell.environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, keys)
    said = b""
    try:
        while select.select([ours], [], [], 60)[0] and (more := os.read(ours, 4096)):
            said += more
    except OSError:
        pass  # the other end has gone
    finally:
        os.close(ours)
    assert done.wait(60) == 0, said.decode(errors="replace")
    return said.decode(errors="replace")
