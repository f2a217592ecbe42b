"""Every rule: wrong models give its code and right models give none, and nothing else is said of them."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from perdure.bpmn.lint.findings import Severities
from perdure.bpmn.lint.rule import Rule
from perdure.bpmn.lint.rules import RULES
from tests.bpmn.lint.models import MODELS, all_files, files_of, findings_in, settings_of

CODES = [rule.CODE for rule in RULES]


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


@pytest.mark.parametrize("file", [file for file in all_files() if file.name.startswith("wrong")], ids=name_of)
def test_a_wrong_model_gives_the_code_of_its_rule(file: Path) -> None:
    code = file.parent.name
    assert {finding.code for finding in findings_in(file)} == {code, *settings_of(code).wrong_also}


@pytest.mark.parametrize("file", [file for file in all_files() if file.name.startswith("right")], ids=name_of)
def test_a_right_model_gives_no_finding(file: Path) -> None:
    assert {finding.code for finding in findings_in(file)} == set(settings_of(file.parent.name).right_also)


@pytest.mark.parametrize("file", [file for file in all_files() if file.name.startswith("wrong")], ids=name_of)
def test_a_finding_says_where_it_is_and_what_to_do(file: Path) -> None:
    for finding in findings_in(file):
        assert finding.line > 0
        assert finding.column > 0
        assert finding.file == str(file)
        assert finding.hint
        assert not finding.fact.endswith(".")


def test_every_rule_has_wrong_and_right_models_and_no_folder_is_without_a_rule() -> None:
    assert sorted(folder.name for folder in MODELS.iterdir() if folder.is_dir()) == sorted(CODES)
    for code in CODES:
        assert files_of(code, "wrong"), code
        assert files_of(code, "right"), code


def test_codes_and_names_are_given_once() -> None:
    assert len(set(CODES)) == len(CODES)
    assert len({rule.NAME for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_has_a_code_severities_and_a_check(rule: Rule) -> None:
    assert (type(rule.CODE), type(rule.NAME), type(rule.SEVERITIES)) == (str, str, Severities)
    assert list(inspect.signature(rule.check).parameters) == ["index"]


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_lives_in_a_file_of_its_name_and_explains_itself(rule: object) -> None:
    module = rule.__name__.rpartition(".")[2]  # type: ignore[attr-defined]
    assert module.replace("_", "-") == rule.NAME  # type: ignore[attr-defined]
    title, _, text = (rule.__doc__ or "").strip().partition("\n\n")
    assert title.endswith(".")
    assert "\n" not in title
    assert text
