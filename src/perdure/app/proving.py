"""Proof over files and before deployment: which contract holds, what the verdict means under a profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.app.contracts import contract_of
from perdure.bpmn.lint import Contract
from perdure.bpmn.machine.definition import Deployed, Profile
from perdure.bpmn.model import Definitions, Model, Process
from perdure.bpmn.proof import Bounds, Finding, Proof, Verdict
from perdure.bpmn.proof.contracted import environment_of, subject_of
from perdure.bpmn.proof.prove import BOUNDS, chosen_process
from perdure.errors import Problem
from perdure.verbs import Catalogue

UNDECIDED = "SND010"


def prove_model(
    model: Model,
    process: str,
    contract: Contract | None,
    *,
    bounds: Bounds = BOUNDS,
    told: Callable[[int], None] = lambda states: None,
) -> Verdict:
    """The verdict on one process of a model, by the contract of the verb it carries."""
    found = chosen_process(model.definitions, process)
    return _proof(model.definitions, found, contract, bounds, told).verdict()


def _proof(
    definitions: Definitions, process: Process, contract: Contract | None, bounds: Bounds, told: Callable[[int], None]
) -> Proof:
    flags = contract.flags if contract is not None else ()
    deployed = subject_of(definitions, process, contract)
    return Proof(deployed, flags, environment_of(process, contract), bounds=bounds, told=told)


def prove_for_deployment(
    model: Model, process: str, contract: Contract | None, profile: Profile, bounds: Bounds = BOUNDS
) -> list[Problem]:
    """What a proof has to say against deploying: in the open profile everything is a warning."""
    verdict = prove_model(model, process, contract, bounds=bounds)
    found = [_problem(model, each, profile) for each in verdict.findings]
    if verdict.word == "undecided":
        reason = f"whether it always ends well is not decided: the bound of {verdict.bound} was reached"
        hint = "Split the process, declare what its verbs write and raise, or run `perdure prove` with wider bounds."
        found.append(Problem(UNDECIDED, model.file, 0, 0, verdict.process, reason, hint, "warning"))
    return found


def proof_check(catalogue: Catalogue) -> Callable[[Model, Deployed, Any], list[Problem]]:
    """Proof as a gate before deployment."""

    def check(model: Model, deployed: Deployed, contract: Any) -> list[Problem]:
        process = deployed.process.id
        declared = contract if isinstance(contract, Contract) else contract_of(catalogue, process)
        return prove_for_deployment(model, process, declared, deployed.profile)

    return check


def _problem(model: Model, finding: Finding, profile: Profile) -> Problem:
    place = model.places.get(finding.element)
    line, column = (place.line, place.column) if place is not None else (0, 0)
    steps = "; then ".join(step.sentence() for step in finding.steps)
    hint = f"{finding.hint} It happens so: {steps}." if steps else finding.hint
    severity = "warning" if profile == "open" else finding.severity
    return Problem(finding.code, model.file, line, column, finding.element, finding.fact, hint, severity)
