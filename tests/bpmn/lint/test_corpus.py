"""A public corpus of conforming models: nothing in them is called an error but their scripts and expressions."""

from __future__ import annotations

from pathlib import Path

from perdure.bpmn.lint.lint import lint
from tests.bpmn.lint.models import model_of
from tests.conftest import unavailable
from tests.house.tree import ROOT

CORPUS = ROOT.parent / "shared" / "corpora" / "betsy" / "models"
OTHER_LANGUAGES = {"HOL002", "HOL003", "HOL020"}
"""Their scripts and expressions are of languages that are never run here."""


def corpus() -> list[Path]:
    if not CORPUS.is_dir():
        unavailable(f"the corpus at {CORPUS}")
    return sorted(CORPUS.rglob("*.bpmn"))


def test_conforming_models_have_no_errors_in_the_open_profile() -> None:
    wrong = [
        (file.name, finding.code, finding.message())
        for file in corpus()
        for finding in lint(model_of(file), profile="open")
        if finding.severity == "error" and finding.code not in OTHER_LANGUAGES
    ]
    assert wrong == []
