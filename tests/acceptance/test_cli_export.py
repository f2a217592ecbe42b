"""`perdure export` from the outside: a file for Camunda 8, or the reason why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.acceptance.test_cli_lint import VERBS, put


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_model_is_written_for_camunda_and_the_variables_of_a_start_are_told(shell: Shell) -> None:
    put(shell, "PRT116", "right")
    (shell.folder / "order.yaml").write_text(VERBS, encoding="utf-8")
    told = shell.json("export", "order.bpmn", "--target", "camunda")
    assert told["release"] == "8.6"
    assert told["variables"] == {"order": {"orch_paid": False}}
    assert told["contracts"] == {"order": "order.fulfil"}
    written = Path(told["file"]).read_text(encoding="utf-8")
    assert 'modeler:executionPlatformVersion="8.6.0"' in written
    assert "=if orch_paid = null then false else orch_paid" in written
    assert shell.run("export", "order.bpmn", "--target", "camunda:8.6", "-o", "-").out == written


def test_a_model_that_a_release_cannot_carry_is_refused_by_name(shell: Shell) -> None:
    put(shell, "PRT105", "wrong")
    assert {each["code"] for each in shell.json("lint", "order.bpmn", "--target", "camunda", code=1)["findings"]} == {
        "PRT105"
    }
    assert "PRT105" in shell.run("export", "order.bpmn", "--target", "camunda:8.8", code=2).error
    assert not (shell.folder / "order.camunda.bpmn").exists()
    assert shell.json("lint", "order.bpmn", "--target", "camunda:8.9")["findings"] == []
    shell.run("export", "order.bpmn", "--target", "camunda:8.9")
    assert (shell.folder / "order.camunda.bpmn").exists()


def test_four_eyes_are_not_lost_without_a_word(shell: Shell) -> None:
    put(shell, "PRT122", "wrong")
    assert "four eyes" in shell.run("export", "order.bpmn", "--target", "camunda", code=2).error


@pytest.mark.parametrize("target", ["temporal", "embedded", "camunda:7.0", "temporal:1.0", "zeebe"])
def test_another_target_is_refused_with_a_sentence(shell: Shell, target: str) -> None:
    put(shell, "HOL001", "right")
    assert "Expected to export for target" in shell.run("export", "order.bpmn", "--target", target, code=2).error


def test_the_model_itself_is_not_overwritten(shell: Shell) -> None:
    file = put(shell, "HOL001", "right")
    before = file.read_bytes()
    shell.run("export", "order.bpmn", "--target", "camunda", "-o", "order.bpmn", code=2)
    assert file.read_bytes() == before
