"""A public conformance corpus: every case, on the embedded engine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.scenario_runner import run_scenario
from tests.betsy.adapter import Case, cases, log_of, scenario_of
from tests.conftest import ROOT

CORPUS = ROOT.parent / "shared" / "corpora" / "betsy"
CASES = cases(CORPUS) if CORPUS.is_dir() else []


@pytest.fixture(scope="session")
def corpus(shared_folder: Path) -> Path:
    return shared_folder / "corpora" / "betsy"


def test_the_corpus_is_here_in_full(corpus: Path) -> None:
    assert len(cases(corpus)) == 163


def assert_conforms(case: Case, outcome: v.Outcome) -> None:
    expected = Counter(case.expect)
    assert not outcome.failures, outcome.failures
    assert log_of(case, outcome.actual) == expected, outcome.actual


@pytest.mark.req("O6", "V13")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_the_engine_leaves_the_trace_of_a_conforming_engine(case: Case, corpus: Path, tmp_path: Path) -> None:
    assert_conforms(case, await run_scenario(scenario_of(case, corpus, tmp_path)))
