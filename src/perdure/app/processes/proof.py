"""Proof over files and before deployment: which contract holds, what the verdict means under a profile."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from perdure.app.processes.contracts import contract_of
from perdure.bpmn.contract.compilation import compiled_model
from perdure.bpmn.lint.contract import Contract
from perdure.bpmn.machine.deployed_process import Deployed, Profile
from perdure.bpmn.model import Model
from perdure.bpmn.proof import Bounds, Finding, Verdict
from perdure.bpmn.proof.certain_findings import is_certain
from perdure.bpmn.proof.contract_verb_effects import environment_of, subject_of
from perdure.bpmn.proof.counterexample_scenario import scenario_of
from perdure.bpmn.proof.finding_diagram import picture_of
from perdure.bpmn.proof.prover import BOUNDS, Question, chosen_process
from perdure.bpmn.proof.state_search import Told
from perdure.errors import Problem
from perdure.verbs import Catalogue
from perdure.work.computations import effort_of_computation

UNDECIDED = "SND010"


def prove_model(
    model: Model,
    process: str,
    contract: Contract | None,
    *,
    bounds: Bounds = BOUNDS,
    told: Told = lambda states: None,
) -> Verdict:
    """The verdict on one process of a model, by the contract of the verb it carries."""
    found = chosen_process(model.definitions, process)
    flags = contract.flags if contract is not None else ()
    deployed = subject_of(model.definitions, found, contract)
    question = Question(deployed, flags, environment_of(found, contract), effort_of_computation(), told)
    return question.verdict(bounds)


class ProofReport(msgspec.Struct, frozen=True):
    """The verdict on one process of a file, and what anybody needs to see it happen."""

    file: str
    process: str
    verb: str | None
    verdict: Verdict
    blocks: bool
    """Whether it would be refused under the profile asked for."""
    scenarios: tuple[str, ...] = ()
    """Per finding a scenario that shows it; empty where nothing happens."""

    def scenario(self, number: int, model: str) -> str:
        """The scenario of a finding with the model's path as the scenario's place needs it."""
        return self.scenarios[number].replace(f"model: {self.file}\n", f"model: {model}\n", 1)


def prove_file(
    model: Model, process: str, catalogue: Catalogue, profile: Profile, *, bounds: Bounds = BOUNDS,
    told: Told = lambda states: None,
) -> list[ProofReport]:  # fmt: skip
    """The reports on the process named, or on every executable one."""
    model = profiled(model, profile)
    ids = [process] if process else [each.id for each in model.definitions.executable()]
    return [_report(model, id, contract_of(catalogue, id), profile, bounds, told) for id in ids or [process]]


def _report(
    model: Model, id: str, contract: Contract | None, profile: Profile, bounds: Bounds, told: Told
) -> ProofReport:  # fmt: skip
    verdict = prove_model(model, id, contract, bounds=bounds, told=told)
    deployed = subject_of(model.definitions, chosen_process(model.definitions, id), contract)
    flags = contract.flags if contract is not None else ()
    called = {each.id: each for each in model.definitions.executable()}
    shown = [scenario_of(deployed, each, model.file, flags, called) if each.steps else "" for each in verdict.findings]
    blocks = verdict.word == "refuted" and profile != "open"
    verb = contract.verb if contract is not None else None
    return ProofReport(model.file, id, verb, verdict, blocks, tuple(shown))


def picture_of_finding(model: Model, report: ProofReport, number: int, catalogue: Catalogue) -> str:
    """The finding drawn on the diagram."""
    contract = contract_of(catalogue, report.process)
    deployed = subject_of(model.definitions, chosen_process(model.definitions, report.process), contract)
    flags = contract.flags if contract is not None else ()
    return picture_of(model, deployed, report.verdict.findings[number], flags)


def prove_for_deployment(
    model: Model, process: str, contract: Contract | None, profile: Profile, bounds: Bounds = BOUNDS
) -> list[Problem]:
    """What a proof has to say against deploying: in the open profile, or of unknown flags, everything is a warning."""
    verdict = prove_model(model, process, contract, bounds=bounds)
    drawn = chosen_process(model.definitions, process)
    found = [
        _problem(model, each, profile if contract is not None or is_certain(each, drawn) else "open")
        for each in verdict.findings
    ]
    if verdict.word == "undecided":
        reason = f"whether it always ends well is not decided: the bound of {verdict.bound} was reached"
        hint = "Split the process, declare what its verbs write and raise, or run `perdure prove` with more --states, "
        hint += "--seconds or --memory to see."
        found.append(Problem(UNDECIDED, model.file, 0, 0, verdict.process, reason, hint, "warning"))
    return found


def profiled(model: Model, profile: Profile) -> Model:
    """The model as it runs: one of the contract profile is compiled first."""
    return compiled_model(model)[0] if profile == "contract" else model


def proof_check(catalogue: Catalogue) -> Callable[[Model, Deployed, Any, Collection[str]], list[Problem]]:
    """Proof as a gate before deployment."""

    def check(model: Model, deployed: Deployed, contract: Any, others: Collection[str]) -> list[Problem]:
        process = deployed.process.id
        model = profiled(model, deployed.profile)
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
