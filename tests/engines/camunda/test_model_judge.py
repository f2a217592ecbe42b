"""Zeebe's own validator over every model of ours: what lint calls portable to a release, Camunda 8 accepts.

The validator is that of 8.9, the only one to be had as a library that answers without a server. What an older release
lacks (conditional events before 8.9) is known by lint alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from perdure.bpmn.camunda import zeebe_xml
from perdure.bpmn.lint.findings import Release
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.xml import read_model_file
from perdure.errors import ModelError
from perdure.testing.camunda_judge import refusals
from perdure.testing.service_availability import ServiceUnavailable
from perdure.verb_contract import FlagContract
from tests.conftest import unavailable
from tests.house.tree import name_of, tracked_files

pytestmark = pytest.mark.deep

JUDGED: tuple[Release, ...] = ("8.6", "8.9")
FEWEST = 300
"""Models that lint calls portable, at least: a corpus that is not found must not pass."""
FLAGS = (
    FlagContract("orch_case_id", "string"),
    FlagContract("orch_paid", "boolean"),
    FlagContract("orch_count", "integer"),
    FlagContract("orch_way", "enum", ("post", "van")),
)
ACCEPTED_THERE = {
    "PRT103": "an event that throws several things is accepted, and may run differently",
    "PRT104": "a standard loop is accepted and runs once",
    "PRT105": "before 8.9 there are no conditional events; the validator is that of 8.9",
    "PRT110": "an ad-hoc subprocess is accepted and stands still, since no expression chooses its activities",
    "PRT122": "four eyes, joint groups and ladders are properties, which nobody reads",
}
"""Codes that refuse what the validator accepts, each with the reason."""


class Judged(NamedTuple):
    model: str
    release: Release
    errors: frozenset[str]
    refusal: str


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    """Every model that can be read, exported for each release, with the verdicts of lint and of Zeebe."""
    folder = tmp_path_factory.mktemp("judged")
    found: list[tuple[str, Release, frozenset[str], Path]] = []
    for path in tracked_files():
        if path.suffix == ".bpmn":
            found.extend(_exported(path, folder, len(found)))
    try:
        told = refusals([each[-1] for each in found], folder)
    except ServiceUnavailable as error:
        unavailable(str(error))
    return [Judged(*each[:-1], refusal) for each, refusal in zip(found, told, strict=True)]


def _exported(path: Path, folder: Path, count: int) -> list[tuple[str, Release, frozenset[str], Path]]:
    try:
        model = read_model_file(path)
    except ModelError:
        return []
    made = []
    for number, release in enumerate(JUDGED, count):
        found = lint(model, profile="open", target="camunda", release=release)
        file = folder / f"{number}.bpmn"
        flags = {process.id: FLAGS for process in model.definitions.processes}
        file.write_text(zeebe_xml(model, flags, release), encoding="utf-8")
        errors = frozenset(each.code for each in found if each.severity == "error")
        made.append((name_of(path), release, errors, file))
    return made


@pytest.mark.parametrize("release", JUDGED)
def test_every_model_that_lint_calls_portable_is_accepted_by_zeebe(judged: list[Judged], release: Release) -> None:
    portable = [each for each in judged if each.release == release and not each.errors]
    assert len(portable) > FEWEST
    assert {each.model: each.refusal for each in portable if each.refusal} == {}


def test_what_portability_rules_refuse_is_refused_by_zeebe_but_for_what_is_listed(judged: list[Judged]) -> None:
    accepted = [each for each in judged if not each.refusal]
    only_portability = [each for each in accepted if each.errors and all(code[:3] == "PRT" for code in each.errors)]
    without_reason = {
        each.model: set(each.errors) for each in only_portability if not each.errors & set(ACCEPTED_THERE)
    }
    assert without_reason == {}
    assert {code for each in only_portability for code in each.errors} >= set(ACCEPTED_THERE)


def test_the_judge_refuses_a_model_that_camunda_does_not_know(judged: list[Judged]) -> None:
    complex_gateways = [each for each in judged if each.model.endswith("PRT101/wrong.bpmn")]
    assert len(complex_gateways) == len(JUDGED)
    assert all("ComplexGateway" in each.refusal for each in complex_gateways)
