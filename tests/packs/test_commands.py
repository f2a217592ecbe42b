"""`perdure packs`: list, show and lint, for people and for machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.commands import Shell
from tests.packs.sample_pack import PACK, VERBS


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "perdure.yaml").write_text("definitions: [verbs.yaml]\n")
    (tmp_path / "verbs.yaml").write_text(VERBS)
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "kyc-case.yaml").write_text(PACK)
    return Shell(tmp_path)


@pytest.mark.req("V28")
def test_packs_beside_the_definitions_are_listed_and_shown(shell: Shell) -> None:
    assert [pack["id"] for pack in shell.json("packs", "list")] == ["kyc-case"]
    shown = shell.json("packs", "show", "kyc-case")
    assert shown["questions"][2]["ask_when"] == "case_type == new-client"
    assert shown["templates"][0]["hash"].startswith("sha256:")
    assert "Which entity is the case for?" in shell.run("packs", "show", "kyc-case").out


@pytest.mark.req("V28")
def test_lint_of_packs_ends_with_one_when_there_are_errors(shell: Shell) -> None:
    assert shell.json("packs", "lint") == {"packs": 1, "problems": []}
    assert "nothing to say against them" in shell.run("packs", "lint").out
    file = shell.folder / "packs" / "kyc-case.yaml"
    file.write_text(PACK.replace("verb: ubo.discover", "verb: ubo.discovr"))
    wrong = shell.run("packs", "lint", code=1).out
    assert "PACK001" in wrong
    assert "Did you mean 'ubo.discover'?" in wrong
    file.write_text(PACK.replace("answer_kind: list", "answer_kind: lists"))
    assert "Did you mean 'list'?" in shell.run("packs", "lint", code=1).out


def test_the_configuration_may_name_packs(shell: Shell) -> None:
    (shell.folder / "packs").rename(shell.folder / "journeys")
    assert shell.json("packs", "list") == []
    (shell.folder / "perdure.yaml").write_text("definitions: [verbs.yaml]\npacks: [journeys]\n")
    assert [pack["id"] for pack in shell.json("packs", "list")] == ["kyc-case"]
