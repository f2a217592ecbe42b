"""The runbooks and packs of the KYC example: they compile, they lint, and they are the shapes they claim to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.packs.lint import lint_packs
from perdure.packs.loader import load_packs
from perdure.runbooks import plan as plans
from perdure.runbooks.language.compiler import compile_program
from perdure.runbooks.plan import Plan
from perdure.verbs import Catalogue, load_catalogue
from tests.examples.conftest import KYC

VARIABLES = {
    "entity_lei": "DEMO00NORDLYSCAP0045",
    "entity_id": "NORDLYS NO",
    "case_id": "7f3f0f6e-6c8e-4b51-9d6a-0b5a8f0f4e11",
    "client_contact": "ana@example.org",
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue([KYC / "verbs"])


def plan_of(name: str, catalogue: Catalogue) -> Plan:
    text = (KYC / "runbooks" / f"{name}.runbook").read_text(encoding="utf-8")
    return compile_program(text, catalogue, variables=VARIABLES)


def needs(plan: Plan) -> dict[str, set[str]]:
    """What each step waits for, by data, order or branch."""
    return {
        step.name: {reference.step for reference in step.references}
        | set(step.after)
        | {branch.choice for branch in step.branches}
        | ({step.condition.step} if isinstance(step.condition, plans.Test) else set())
        for step in plan.steps
    }


@pytest.mark.req("X10")
@pytest.mark.req("X24")
def test_the_onboarding_program_compiles_to_its_graph(catalogue: Catalogue) -> None:
    assert needs(plan_of("corporate-onboarding", catalogue)) == {
        "gleif_result": set(),
        "bloomberg_result": set(),
        "shares": {"gleif_result"},
        "officers": {"gleif_result"},
        "docs": set(),
        "decision": {"gleif_result", "shares", "officers", "docs"},
        "choice": {"decision"},
        "compile_ubo_report": {"decision", "choice"},
        "await_compliance_review": {"decision", "choice", "compile_ubo_report"},
        "request_additional_information": {"decision", "choice"},
    }


@pytest.mark.req("X24")
def test_the_discovery_graph_runs_three_steps_at_once_between_research_and_decision(catalogue: Catalogue) -> None:
    assert needs(plan_of("corporate-discovery", catalogue)) == {
        "gleif": set(),
        "bloomberg": {"gleif"},
        "shares": {"gleif", "bloomberg"},
        "officers": {"gleif", "bloomberg"},
        "documents": {"bloomberg"},
        "decision": {"gleif", "shares", "officers", "documents"},
        "report": {"decision"},
        "await_compliance_review": {"decision", "report"},
    }


@pytest.mark.req("X24")
@pytest.mark.parametrize("path", sorted((KYC / "runbooks").iterdir()), ids=lambda path: path.stem)
def test_every_runbook_of_the_example_compiles(path: Path, catalogue: Catalogue) -> None:
    assert len(plan_of(path.stem, catalogue).steps) >= 5


@pytest.mark.req("V28")
def test_nothing_is_to_be_said_against_the_packs_of_the_example(catalogue: Catalogue) -> None:
    shelf = load_packs([KYC / "packs"])
    assert {pack.id for pack in shelf} == {"kyc-case", "onboarding-request", "book-setup"}
    assert lint_packs(shelf, catalogue) == []
