"""The models of the KYC example are clean for every target that keeps four eyes, and open in a modeller as drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.processes.contracts import contract_of
from perdure.bpmn.lint.contract import Contract
from perdure.bpmn.lint.findings import TARGETS, Target
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.model import Model
from perdure.bpmn.proof import Verdict, prove
from perdure.bpmn.xml import read_model, write_model
from perdure.verbs import Catalogue, load_catalogue

KYC = Path(__file__).parents[2] / "examples" / "kyc"
CARRIED = {
    "kyc.open-case": "kyc-open-case",
    "kyc.request-client-documents": "client_doc_request_v1",
    "kyc.await-compliance-review": "compliance_review_v1",
    "compliance_escalation_v1": "compliance_escalation_v1",
    "senior_compliance_escalation_v1": "senior_compliance_escalation_v1",
}
ASKED = CARRIED.keys() - {"kyc.request-client-documents"}
"""Verbs whose people are protected by four eyes or a ladder."""
PROTECTED = {"PRT122"}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue([KYC / "verbs"])


def model_of(verb: str) -> Model:
    path = KYC / "models" / f"{CARRIED[verb]}.bpmn"
    return read_model(path.read_bytes(), path.name)


def contract(catalogue: Catalogue, verb: str) -> Contract:
    found = contract_of(catalogue, CARRIED[verb])
    assert found is not None and found.verb == verb
    return found


def proof(model: Model, held: Contract) -> Verdict:
    return prove(
        model.definitions,
        held.process,
        held.flags,
        may_raise={verb.name: verb.errors or () for verb in held.verbs},
        writes={verb.name: verb.writes_flags or () for verb in held.verbs},
        compensation=held.compensation,
    )


@pytest.mark.req("V10")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("verb", CARRIED)
def test_the_model_has_no_finding_but_that_camunda_keeps_no_four_eyes(
    catalogue: Catalogue, verb: str, target: Target
) -> None:
    found = lint(model_of(verb), target=target, contract=contract(catalogue, verb))
    assert {finding.code for finding in found} == (PROTECTED if target == "camunda" and verb in ASKED else set())


@pytest.mark.req("V10")
def test_a_model_that_reads_an_undeclared_flag_has_a_finding(catalogue: Catalogue) -> None:
    text = (KYC / "models" / "kyc-open-case.bpmn").read_text(encoding="utf-8")
    wrong = read_model(text.replace("=orch_escalation_required", "=orch_gone"))
    found = lint(wrong, contract=contract(catalogue, "kyc.open-case"))
    assert "HOL006" in {finding.code for finding in found if finding.severity == "error"}


@pytest.mark.req("V10")
@pytest.mark.parametrize("verb", CARRIED)
def test_the_model_is_proved_under_the_contract_of_its_verb(catalogue: Catalogue, verb: str) -> None:
    verdict = proof(model_of(verb), contract(catalogue, verb))
    assert (verdict.word, verdict.findings) == ("proved", ())


@pytest.mark.req("V10")
def test_a_model_whose_gateway_has_no_way_out_is_refuted(catalogue: Catalogue) -> None:
    text = (KYC / "models" / "compliance_review_v1.bpmn").read_text(encoding="utf-8")
    wrong = text.replace(' default="outcome_to_rejected"', "").replace(
        '<bpmn:sequenceFlow id="outcome_to_rejected" name="rejected" sourceRef="outcome" targetRef="rejected" />',
        '<bpmn:sequenceFlow id="outcome_to_rejected" name="rejected" sourceRef="outcome" targetRef="rejected">'
        '<bpmn:conditionExpression xsi:type="bpmn:tFormalExpression">=orch_decision = "rejected"'
        "</bpmn:conditionExpression></bpmn:sequenceFlow>",
    )
    assert wrong != text
    # The officer's decision may still be pending, and neither condition holds then.
    verdict = proof(read_model(wrong), contract(catalogue, "kyc.await-compliance-review"))
    assert verdict.word == "refuted"


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
