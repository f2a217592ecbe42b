"""Scenario files are read strictly: everything shown in the reference is accepted, everything else has its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import DefinitionError
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.scenario_loader import find_scenarios, load_scenario, read_scenario

WHOLE = """
model: model.bpmn
profile: hollow
process: kyc-open-case
flags: {orch_x: 1}
verbs:
  kyc.create-case-record: {data: {case_id: c1}, flags: {orch_case_id: c1}}
  flaky.verb: [{fail: transient}, {fail: transient}, {}]
  pay.card: {business_error: CARD_DECLINED}
  slow.verb: {takes: PT10S}
do:
  - start: {}
  - start: {process: Other, as: second}
  - start: {message: {name: order, data: {amount: 1}}}
    as: third
  - advance: P3D
  - message: {name: docs_received, key: c1, id: m1, ttl: PT1H, data: {a: 1}, flags: {orch_docs: true}}
  - signal: {name: stop}
  - task: {element: review, by: reviewer-1, flags: {orch_review_outcome: approved}}
  - cancel: {}
  - crash: {}
  - cancel:
    to: second
expect:
  state: completed
  ran: [kyc.create-case-record, {any: [a, b]}]
  visited: []
  parked: [review]
  incidents: 0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.bpmn").write_text("<x/>")
    return tmp_path


def test_everything_the_format_shows_is_read(folder: Path) -> None:
    scenario = read_scenario(WHOLE, "x.yaml", folder)
    assert scenario.process == "kyc-open-case"
    assert scenario.flags == {"orch_x": 1}
    assert [each.fail for each in scenario.verbs["flaky.verb"]] == ["transient_external", "transient_external", None]
    assert scenario.verbs["slow.verb"] == (v.Behaviour(takes_seconds=10),)
    assert scenario.steps[:4] == (
        v.Start(), v.Start(process="Other", name="second"),
        v.Start(message=v.Message(name="order", data={"amount": 1}), name="third"), v.Advance(seconds=259_200),
    )  # fmt: skip
    assert scenario.steps[4] == v.Message(
        name="docs_received", key="c1", id="m1", ttl_seconds=3600, data={"a": 1}, flags={"orch_docs": True}
    )
    assert scenario.steps[7:] == (v.Cancel(), v.Crash(), v.Cancel(to="second"))
    assert scenario.expect is not None
    assert scenario.expect.ran == (("kyc.create-case-record",), ("a", "b"))
    assert scenario.expect.visited == ()
    assert scenario.lines[0] == 12


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("model: model.bpmn\nflgs: {}\n", 2, "scenario.unknown_key"),
        ("model: other.bpmn\n", 1, "scenario.missing"),
        ("do: []\n", 1, "scenario.missing_key"),
        ("model: model.bpmn\ndo:\n  - begin: {}\n", 3, "scenario.unknown_key"),
        ("model: model.bpmn\ndo:\n  - {start: {}, cancel: {}}\n", 3, "scenario.step"),
        ("model: model.bpmn\ndo:\n  - advance: tomorrow\n", 3, "scenario.duration"),
        ("model: model.bpmn\ndo:\n  - message: {key: c1}\n", 3, "scenario.missing_key"),
        ("model: model.bpmn\nflags: {x: 1}\n", 2, "scenario.flag"),
        ("model: model.bpmn\nflags: {orch_x: [1]}\n", 2, "scenario.flag"),
        ("model: model.bpmn\nverbs:\n  a: {fail: perhaps}\n", 3, "scenario.unknown_value"),
        ("model: model.bpmn\nverbs:\n  a: []\n", 3, "scenario.empty"),
        ("model: model.bpmn\nverbs:\n  a: {fail: contract, business_error: X}\n", 3, "scenario.wrong_value"),
        ("model: model.bpmn\nexpect: {state: done}\n", 2, "scenario.unknown_value"),
        ("model: model.bpmn\nexpect: {incidents: -1}\n", 2, "scenario.wrong_value"),
        ("model: model.bpmn\ndo:\n  - start: {as: a}\n  - start: {as: a}\n", 4, "scenario.name"),
        ("model: model.bpmn\ndo:\n  - cancel: {to: a, as: b}\n", 3, "scenario.unknown_key"),
        ("model: model.bpmn\ndo:\n  - deploy: {model: other.bpmn}\n", 3, "scenario.missing"),
        ("model: model.bpmn\nprofile: loose\n", 2, "scenario.unknown_value"),
        ("model: model.bpmn\nmodel: model.bpmn\n", 2, "yaml.duplicate_key"),
    ],
)
def test_whatever_is_wrong_is_named_with_its_line(text: str, line: int, code: str, folder: Path) -> None:
    with pytest.raises(DefinitionError) as raised:
        read_scenario(text, "x.yaml", folder)
    assert (line, code) in [(problem.line, problem.code) for problem in raised.value.problems]
    assert all(problem.file == "x.yaml" for problem in raised.value.problems)


@pytest.mark.parametrize("words", ["{to: a}", "{as: a}", "{instance: a}", "a", "{}\n    as: a", "{}\n    to: a"])
def test_whom_a_step_is_for_is_said_in_several_ways(words: str, folder: Path) -> None:
    scenario = read_scenario(f"model: model.bpmn\ndo:\n  - cancel: {words}\n", "x.yaml", folder)
    assert scenario.steps == (v.Cancel(to="a"),)


def test_older_and_other_words_are_understood(folder: Path) -> None:
    text = """
name: My scenario
description: What it is about
model: model.bpmn
flags: {orch.n: 1}
verbs:
  a: [{fail: permanent}, {fail: contract_violation}, {fail: business_rejection}]
do: [task: {element: u, by: 5, to: 1}, start: {as: 1}]
expect: {state: running, code: [HOL001, HOL002], flags: {orch.n: 2}}
"""
    scenario = read_scenario(text, "x.yaml", folder)
    assert scenario.flags == {"orch_n": 1}
    fails = [each.fail for each in scenario.verbs["a"]]
    assert fails == ["permanent_contract", "permanent_contract", "permanent_business"]
    assert scenario.steps == (v.Task(element="u", by="5", to="1"), v.Start(name="1"))
    assert scenario.expect == v.Expectation(state="active", codes=("HOL001", "HOL002"), flags={"orch_n": 2})


@pytest.mark.parametrize(
    ("word", "state"), [("waiting", "active"), ("complete", "completed"), ("aborted", "cancelled")]
)
def test_older_words_for_states_are_understood_by_name_too(word: str, state: str, folder: Path) -> None:
    scenario = read_scenario(f"model: model.bpmn\nexpect: {{state: {{one: {word}}}}}\n", "x.yaml", folder)
    assert scenario.expect is not None
    assert scenario.expect.states == {"one": state}


def test_what_a_business_error_cannot_bring_is_left_out_and_said(folder: Path) -> None:
    read = read_scenario(
        "model: model.bpmn\nverbs:\n  a: [{business_error: X, flags: {orch_x: 1}}]\n", "s.yaml", folder
    )
    assert read.remarks == ("Line 3: a business error brings no data and no flags; they are left out.",)


def test_a_text_alone_is_what_a_step_is_about(folder: Path) -> None:
    text = (
        "model: model.bpmn\ndo: [message: m, signal: s, task: u, retry: a, start: {message: m}, deploy: model.bpmn]\n"
    )
    message = v.Message(name="m")
    assert read_scenario(text, "x.yaml", folder).steps == (
        message, v.Signal(name="s"), v.Task(element="u"), v.Retry(element="a"), v.Start(message=message),
        v.Deploy(model=folder / "model.bpmn"),
    )  # fmt: skip


def test_a_word_alone_is_a_step_that_says_nothing_more(folder: Path) -> None:
    read = read_scenario(
        "model: model.bpmn\ndo: [start, crash, crash: true, suspend, resume, cancel: true]", "s.yaml", folder
    )
    assert read.steps == (v.Start(), v.Crash(), v.Crash(), v.Suspend(), v.Resume(), v.Cancel())


def test_a_folder_without_scenarios_and_a_missing_file_say_so_when_they_are_loaded(folder: Path) -> None:
    missing = folder / "missing.yaml"
    assert find_scenarios([folder, missing]) == [folder, missing]
    with pytest.raises(DefinitionError, match="no scenario"):
        load_scenario(folder)
    with pytest.raises(DefinitionError, match="no such file"):
        load_scenario(missing)


@pytest.mark.parametrize(
    "text", ["do: [advance: {by: PT1H}]", "expect: {deploy: {refused: X}}", "expect: {state: [a]}"]
)
def test_what_is_written_in_the_wrong_place_is_named_in_words(text: str, folder: Path) -> None:
    with pytest.raises(DefinitionError, match=r"a mapping|a list") as raised:
        read_scenario(f"model: model.bpmn\n{text}\n", "x.yaml", folder)
    assert "object at" not in str(raised.value)
