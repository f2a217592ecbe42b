"""`perdure scenario run`: exit codes, JSON and JUnit, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from perdure.testing.scenarios import run_scenario
from tests.scenarios.cases import ELEMENTS, scenario_of

REFUSED = ELEMENTS.parent / "refused"
GOOD = ELEMENTS / "service-task" / "normal.yaml"
FIELDS = {"deploy", "state", "ran", "visited", "parked", "incidents"}


def perdure(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "perdure", *map(str, words)], capture_output=True, text=True, check=False
    )  # fmt: skip


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    text = GOOD.read_text(encoding="utf-8").replace("models/", f"{GOOD.parent}/models/").replace("[s, a,", "[s, b,")
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.req("X23")
def test_all_that_hold_exit_with_0_and_one_object_per_file() -> None:
    ended = perdure("scenario", "run", GOOD, REFUSED, "--json")
    told = json.loads(ended.stdout)
    assert ended.returncode == 0, ended.stderr
    assert len(told) == 1 + len(list(REFUSED.glob("*.yaml")))
    assert all(each["passed"] and each["failures"] == [] and set(each["actual"]) >= FIELDS for each in told)
    assert {each["actual"]["deploy"] for each in told} == {"accepted", "refused"}


@pytest.mark.req("X23")
def test_one_that_does_not_hold_exits_with_1_and_says_why(bad: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    ended = perdure("scenario", "run", GOOD, bad, "--json", "--junit", report)
    good, failed = json.loads(ended.stdout)
    assert ended.returncode == 1
    assert good["passed"] and not failed["passed"]
    assert "visited" in failed["failures"][0]
    assert failed["actual"]["visited"] == ["s", "a", "b", "e"]
    cases = list(ElementTree.parse(report).iter("testcase"))
    assert [case.get("name") for case in cases] == [str(GOOD), str(bad)]
    assert [case.find("failure") is None for case in cases] == [True, False]


def test_without_expectations_what_came_of_it_is_told_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text(f"model: {GOOD.parent}/models/service-task.bpmn\ndo:\n  - start: {{}}\n", encoding="utf-8")
    ended = perdure("scenario", "run", path, "--json")
    assert ended.returncode == 0
    assert json.loads(ended.stdout)[0]["actual"]["ran"] == ["first.verb", "second.verb"]


def test_a_file_that_does_not_load_fails_with_its_line_and_the_others_still_run(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("model: x.bpmn\nflgs: {}\n", encoding="utf-8")
    ended = perdure("scenario", "run", path, GOOD, "--json")
    broken, good = json.loads(ended.stdout)
    assert ended.returncode == 1
    assert good["passed"]
    assert any(f"{path}:2:1" in each and "flgs" in each for each in broken["failures"])
    assert set(broken["actual"]) >= FIELDS
    assert broken["actual"]["deploy"] is None


def test_what_is_not_there_has_failed_and_the_others_still_run(tmp_path: Path) -> None:
    ended = perdure("scenario", "run", tmp_path / "missing.yaml", tmp_path, GOOD, "--json")
    missing, empty, good = json.loads(ended.stdout)
    assert ended.returncode == 1
    assert good["passed"]
    assert [missing["passed"], empty["passed"]] == [False, False]
    assert [missing["file"], empty["file"]] == [str(tmp_path / "missing.yaml"), str(tmp_path)]
    assert "no such file" in missing["failures"][0]
    assert "no scenario" in empty["failures"][0]


def test_a_report_goes_into_a_new_folder_and_one_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    report = tmp_path / "new" / "folder" / "report.xml"
    assert perdure("scenario", "run", GOOD, "--junit", report).returncode == 0
    assert report.is_file()
    ended = perdure("scenario", "run", GOOD, "--json", "--junit", report / "report.xml")
    assert ended.returncode == 2
    assert json.loads(ended.stdout)[0]["passed"]
    assert "cannot be written" in ended.stderr


def test_scenarios_share_a_store_that_is_named_and_leave_nothing_waiting(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    for _ in range(2):
        ended = perdure("scenario", "run", ELEMENTS / "timer-event", "--store", store)
        assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("path", sorted(REFUSED.glob("*.yaml")), ids=lambda path: path.stem)
async def test_what_may_not_be_deployed_is_refused(path: Path) -> None:
    outcome = await run_scenario(scenario_of(path))
    assert outcome.passed, outcome.failures
