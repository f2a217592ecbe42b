"""The models of the KYC example are clean for every target and open in a modeller as they were drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.bpmn.lint import TARGETS, Contract, Target, VerbContract, lint
from perdure.bpmn.model import Model
from perdure.bpmn.xml import read_model, write_model
from perdure.verbs import Catalogue, load_catalogue

KYC = Path(__file__).parents[2] / "examples" / "kyc"
CARRIED = {
    "kyc.open-case": "kyc-open-case",
    "kyc.request-client-documents": "client_doc_request_v1",
    "kyc.await-compliance-review": "compliance_review_v1",
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue([KYC / "verbs"])


def model_of(verb: str) -> Model:
    path = KYC / "models" / f"{CARRIED[verb]}.bpmn"
    return read_model(path.read_bytes(), path.name)


def contract_of(catalogue: Catalogue, name: str) -> Contract:
    execution = catalogue.get(name).execution
    definitions = [catalogue.get(each).definition for each in catalogue.names()]
    verbs = tuple(
        VerbContract(
            name=each.name,
            is_durable=each.execution.kind == "durable",
            effects=each.execution.effects,
            writes_flags=each.contract.writes_flags if each.contract else None,
            errors=each.contract.may_raise if each.contract else None,
        )
        for each in definitions
    )
    return Contract(
        verb=name,
        process=CARRIED[name],
        sub_verbs=execution.sub_verbs,
        compensation=execution.compensation,
        flags=execution.flags,
        verbs=verbs,
    )


@pytest.mark.req("V10")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("verb", CARRIED)
def test_the_model_has_no_finding_on_any_target(catalogue: Catalogue, verb: str, target: Target) -> None:
    assert lint(model_of(verb), target=target, contract=contract_of(catalogue, verb)) == []


@pytest.mark.req("V10")
def test_a_model_that_reads_an_undeclared_flag_has_a_finding(catalogue: Catalogue) -> None:
    text = (KYC / "models" / "kyc-open-case.bpmn").read_text(encoding="utf-8")
    wrong = read_model(text.replace("=orch_escalation_required", "=orch_gone"))
    found = lint(wrong, contract=contract_of(catalogue, "kyc.open-case"))
    assert "HOL006" in {finding.code for finding in found if finding.severity == "error"}


@pytest.mark.req("V3")
@pytest.mark.parametrize("verb", CARRIED)
def test_the_verb_names_the_process_of_its_model(catalogue: Catalogue, verb: str) -> None:
    assert catalogue.get(verb).execution.process == CARRIED[verb] == model_of(verb).definitions.processes[0].id


@pytest.mark.req("V10")
@pytest.mark.parametrize("verb", CARRIED)
def test_the_model_goes_out_as_it_came_in(verb: str) -> None:
    model = model_of(verb)
    again = read_model(write_model(model))
    assert (again.definitions, again.diagram) == (model.definitions, model.diagram)
