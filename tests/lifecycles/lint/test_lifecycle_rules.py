"""Every rule of lifecycles: wrong models give its code and right models give none."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.lifecycles.lint import RULES
from perdure.lifecycles.lint.rule import Rule
from tests.lifecycles.lint import pages
from tests.lifecycles.lint.lint_models import MODELS, files, findings_in

CODES = [rule.CODE for rule in RULES]


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


@pytest.mark.req("T1")
@pytest.mark.parametrize("file", files("wrong"), ids=name_of)
def test_a_wrong_lifecycle_gives_the_code_of_its_rule_with_place_and_fix(file: Path) -> None:
    found = findings_in(file)
    assert {each.code for each in found} == {file.parent.name}
    for each in found:
        assert each.file == str(file)
        assert each.line > 1
        assert each.hint
        assert not each.reason.endswith(".")


@pytest.mark.parametrize("file", files("right"), ids=name_of)
def test_a_right_lifecycle_gives_no_finding(file: Path) -> None:
    assert findings_in(file) == []


def test_every_rule_has_wrong_and_right_models_and_a_code_of_its_own() -> None:
    assert sorted(each.name for each in MODELS.iterdir()) == sorted(CODES)
    for side in ("wrong", "right"):
        assert {each.parent.name for each in files(side)} == set(CODES)
    assert len({rule.NAME for rule in RULES}) == len(CODES) == len(set(CODES))


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_lives_in_a_file_of_its_name_and_explains_itself(rule: Rule) -> None:
    module = rule.__name__.rpartition(".")[2]  # type: ignore[attr-defined]
    assert module.replace("_", "-") == rule.NAME
    title, _, text = (rule.__doc__ or "").strip().partition("\n\n")
    assert title.endswith(".")
    assert text


def test_the_page_of_codes_is_up_to_date() -> None:
    assert pages.LINT.read_text() == pages.lint_page(), "run `python -m tests.lifecycles.lint.pages`"


def test_the_page_of_the_yaml_is_up_to_date() -> None:
    assert pages.YAML.read_text() == pages.yaml_page(), "run `python -m tests.lifecycles.lint.pages`"
