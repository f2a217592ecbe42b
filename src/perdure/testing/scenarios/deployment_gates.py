"""Whether a model may be deployed as a scenario asks: by lint and, in the hollow profile, by proof."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import lru_cache

import msgspec

from perdure.bpmn.lint.contract import Contract
from perdure.bpmn.lint.findings import Finding as LintFinding
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.model import Model
from perdure.bpmn.proof import Bounds, Finding, prove
from perdure.bpmn.proof.certain_findings import is_certain
from perdure.bpmn.proof.prover import BOUNDS
from perdure.testing.scenarios.scenario import Scenario
from perdure.testing.scenarios.stub_deployment import coming, contracts_of, deployed_from
from perdure.testing.scenarios.world import Refusal
from perdure.typed_reading import read_json

QUICK = Bounds(states=2_000, seconds=1)
"""How far a process is looked at that is refused anyway."""


def refusal_of(model: Model, scenario: Scenario, others: Collection[str]) -> Refusal | None:
    """Why it may not be deployed beside the others that are, or None."""
    contracts = contracts_of(model, scenario)
    wrong = list(_lint_errors(model, scenario, contracts, {*others, *coming(scenario)}))
    if wrong:
        codes = (*(each.code for each in wrong), *_codes_besides(model, scenario, contracts))
        return Refusal(codes, tuple(_lint_sentence(each) for each in wrong))
    if scenario.profile != "hollow":
        return None
    refuted = [
        finding
        for process in model.definitions.executable()
        for finding in _refuted(deployed_from(model.definitions, process, scenario, contracts), contracts)
    ]
    codes = tuple(finding.code for finding in refuted)
    return Refusal(codes, tuple(f"{each.code}: {each.message()}" for each in refuted)) if refuted else None


def _codes_besides(model: Model, scenario: Scenario, contracts: dict[str, Contract]) -> Iterator[str]:
    """What a quick proof says of a hollow process that lint has refused: who expects either code is right."""
    for process in model.definitions.executable() if scenario.profile == "hollow" else ():
        deployed = deployed_from(model.definitions, process, scenario, contracts)
        # What lint refuses need not be a process that can be played at all: then lint has said why.
        with suppress(LookupError):
            yield from [each.code for each in _findings(deployed, contracts.get(process.id), QUICK)]


def _lint_errors(
    model: Model, scenario: Scenario, contracts: dict[str, Contract], others: Collection[str]
) -> Iterator[LintFinding]:
    for contract in contracts.values() or (None,):
        found = lint(model, profile=scenario.profile, contract=contract, others=others, knows_all=True)
        yield from (each for each in found if each.severity == "error")


def _lint_sentence(finding: LintFinding) -> str:
    hint = f" {finding.hint}" if finding.hint else ""
    return f"{finding.file}:{finding.line}:{finding.column}: {finding.code}: {finding.fact}.{hint}"


def _refuted(deployed: Deployed, contracts: dict[str, Contract]) -> tuple[Finding, ...]:
    contract = contracts.get(deployed.process.id)
    findings = _findings(deployed, contract, BOUNDS)
    if contract is not None:
        return findings
    return tuple(each for each in findings if is_certain(each, deployed.process))


def _findings(deployed: Deployed, contract: Contract | None, bounds: Bounds) -> tuple[Finding, ...]:
    return _proof(msgspec.json.encode(deployed), msgspec.json.encode(contract), bounds)


@lru_cache(512)
def _proof(deployed: bytes, contract: bytes, bounds: Bounds) -> tuple[Finding, ...]:
    """What a proof refutes; the same model is often deployed by many scenarios."""
    read = read_json(deployed, Deployed)
    declared = read_json(contract, Contract | None)
    if declared is None:
        verdict = prove(msgspec.structs.replace(read, flags=()), bounds=bounds)
    else:
        verdict = prove(
            read, flags=declared.flags,
            may_raise={verb.name: verb.errors for verb in declared.verbs if verb.errors is not None},
            writes={verb.name: verb.writes_flags for verb in declared.verbs if verb.writes_flags is not None},
            compensation=declared.compensation, bounds=bounds,
        )  # fmt: skip
    return tuple(each for each in verdict.findings if each.severity == "error")
