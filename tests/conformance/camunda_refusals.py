"""Refusals of the Camunda engine, known before a case is played: what lint says of its models for that release.

| a case | is refused for |
|---|---|
| a model that the release, or our engine for it, does not carry | the codes of the problems |
| steps that take what the engine declares to lack | the names of the capabilities |
| a model that every engine refuses, which is what the case shows | nothing: it is played |
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import OLDEST_RELEASE, Release
from perdure.bpmn.xml import read_model_file
from perdure.engines.camunda.address import CamundaAddress
from perdure.engines.camunda.carried_model import portability
from perdure.engines.camunda.carrier import CAN
from perdure.errors import PerdureError
from perdure.testing.conformance.case import Case
from perdure.testing.scenarios.scenario import Deploy, Scenario
from perdure.testing.scenarios.stub_deployment import contracts_of, deployed_from

MOVED = frozenset({"test_clock"})
"""Capabilities that the world of a case has, whatever the engine says: its broker's clock is moved."""
TAIL = "127.0.0.1:1"
"""Any receiver of records: timers are carried where there is one."""


def camunda_refusals(case: Case, release: Release = OLDEST_RELEASE) -> tuple[str, ...]:
    """Why a case is not played on a release of Camunda; nothing for one that is."""
    lacking = tuple(f"the engine lacks {name}" for name in CAN.lacks(case.needs - MOVED))
    return (*lacking, *sorted(set(_codes(case.scenario, release))))


def _codes(scenario: Scenario, release: Release) -> Iterator[str]:
    if scenario.expect is not None and scenario.expect.deploy == "refused":
        return
    address = CamundaAddress("127.0.0.1:1", release, TAIL)
    for path in (scenario.model, *(step.model for step in scenario.steps if isinstance(step, Deploy))):
        try:
            model = read_model_file(path)
            contracts = contracts_of(model, scenario)
            for process in model.definitions.executable():
                deployed = deployed_from(model.definitions, process, scenario, contracts)
                yield from (problem.code for problem in portability(deployed, address, model.file))
        except PerdureError:
            continue  # its deployment is refused everywhere
