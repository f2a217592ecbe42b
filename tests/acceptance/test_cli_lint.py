"""`perdure lint` from the outside: models, folders, verbs beside them, for people, programs and code hosts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.bpmn.lint.models import MODELS

pytestmark = [pytest.mark.req("P6"), pytest.mark.req("V10")]

VERBS = """
- name: order.fulfil
  description: Fulfil an order
  sentences: {step: "Fulfil the order"}
  execution:
    kind: durable
    process: order
    sub_verbs: [order.pack, order.ship]
    flags:
      orch_paid: {type: boolean, initial: false}
    policy: {timeout: P14D}
- name: order.pack
  description: Pack an order
  sentences: {step: "Pack the order"}
  execution: {kind: sync, effects: none}
- name: order.ship
  description: Ship an order
  sentences: {step: "Ship the order"}
  execution: {kind: sync, effects: none}
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def put(shell: Shell, code: str, side: str, name: str = "order.bpmn") -> Path:
    file = shell.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((MODELS / code / f"{side}.bpmn").read_bytes())
    return file


def test_a_clean_model_exits_0_and_says_what_was_not_checked(shell: Shell) -> None:
    put(shell, "HOL001", "right")
    shown = shell.run("lint", "order.bpmn")
    assert "1 model, nothing to say" in shown.out
    assert "No verb names order" in shown.out


def test_an_error_exits_1_with_code_place_and_hint(shell: Shell) -> None:
    put(shell, "HOL001", "wrong")
    shown = " ".join(shell.run("lint", "order.bpmn", code=1).out.split())
    assert "order.bpmn:7:5 HOL001: 'total': it is a script task." in shown
    assert "Make it a service task whose type is a verb." in shown
    assert "1 error, 0 warnings, 0 remarks" in shown


def test_warnings_do_not_fail(shell: Shell) -> None:
    put(shell, "BPM126", "wrong")
    told = shell.json("lint", "order.bpmn")
    assert [finding["severity"] for finding in told["findings"]] == ["warning"]


def test_a_folder_is_searched_and_the_profile_decides(shell: Shell) -> None:
    put(shell, "HOL013", "wrong", "models/deep/order.bpmn")
    put(shell, "HOL001", "right", "models/other.bpmn")
    told = shell.json("lint", "models", code=1)
    assert [Path(name).name for name in told["models"]] == ["order.bpmn", "other.bpmn"]
    assert {finding["code"] for finding in told["findings"]} == {"HOL013"}
    told = shell.json("lint", "models", "--profile", "open")
    assert [(finding["code"], finding["severity"]) for finding in told["findings"]] == [("BPM171", "warning")]


def test_the_target_asks_for_portability(shell: Shell) -> None:
    put(shell, "PRT104", "wrong")
    assert shell.json("lint", "order.bpmn")["findings"] == []
    told = shell.json("lint", "order.bpmn", "--target", "camunda", code=1)
    assert {finding["code"] for finding in told["findings"]} == {"PRT104"}


def test_verbs_beside_the_model_give_the_contract(shell: Shell) -> None:
    put(shell, "HOL006", "wrong")
    (shell.folder / "order.yaml").write_text(VERBS)
    told = shell.json("lint", "order.bpmn", code=1)
    assert told["contracts"] == {"order": "order.fulfil"}
    assert "HOL006" in {finding["code"] for finding in told["findings"]}


def test_verbs_may_be_named_or_come_from_the_project(shell: Shell) -> None:
    put(shell, "HOL006", "wrong", "models/order.bpmn")
    verbs = shell.folder / "verbs" / "order.yaml"
    verbs.parent.mkdir()
    verbs.write_text(VERBS)
    assert shell.json("lint", "models")["contracts"] == {"order": None}
    shell.run("lint", "models", "verbs/order.yaml", code=1)
    shell.run("lint", "models", "--definitions", "verbs", code=1)
    (shell.folder / "perdure.yaml").write_text("definitions: [verbs]\n")
    shell.run("lint", "models", code=1)


def test_a_file_that_cannot_be_read_is_a_finding(shell: Shell) -> None:
    (shell.folder / "bad.bpmn").write_text("<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>")
    put(shell, "HOL001", "wrong")
    told = shell.json("lint", ".", code=1)
    assert {finding["code"] for finding in told["findings"]} == {"BPM002", "HOL001"}


def test_sarif_is_printed_for_code_hosts(shell: Shell) -> None:
    put(shell, "HOL001", "wrong")
    told = json.loads(shell.run("lint", "order.bpmn", "--sarif", code=1).out)
    (result,) = told["runs"][0]["results"]
    assert result["ruleId"] == "HOL001"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "order.bpmn"


@pytest.mark.parametrize("words", [("--profile", "holow"), ("--target", "zeebe")])
def test_unknown_words_are_refused_with_the_known_ones(shell: Shell, words: tuple[str, str]) -> None:
    put(shell, "HOL001", "right")
    refused = shell.run("lint", "order.bpmn", *words, code=2)
    assert "hollow" in refused.error or "camunda" in refused.error


def test_a_path_that_is_not_there_is_refused(shell: Shell) -> None:
    assert "there is no such file or folder" in shell.run("lint", "nowhere.bpmn", code=2).error


@pytest.mark.parametrize("command", ["lint", "prove", "draw", "deploy", "fmt"])
def test_a_file_that_is_not_there_is_the_same_mistake_for_every_command(shell: Shell, command: str) -> None:
    assert "nowhere.bpmn" in shell.run(command, "nowhere.bpmn", code=2).error


def test_a_folder_without_a_model_is_refused_since_a_mistyped_path_must_not_pass(shell: Shell) -> None:
    (shell.folder / "models").mkdir()
    (shell.folder / "models" / "notes.txt").write_text("none", encoding="utf-8")
    assert "there is no model in it" in shell.run("lint", "models", code=2).error


def test_the_names_that_other_tools_give_models_are_known(shell: Shell) -> None:
    for name in ("one.bpmn2", "TWO.BPMN", "three.bpmn20.xml"):
        put(shell, "HOL001", "right", f"models/{name}")
    told = shell.json("lint", "models")
    assert [Path(name).name for name in told["models"]] == ["TWO.BPMN", "one.bpmn2", "three.bpmn20.xml"]
