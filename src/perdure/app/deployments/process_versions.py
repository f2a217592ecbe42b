"""Process versions as a check compares them: the plan that decides, and the states as a proof sees them."""

from __future__ import annotations

from functools import cached_property

from msgspec.structs import replace

from perdure.app.processes.contracts import contract_of
from perdure.bpmn.lint.contract import Contract
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.proof.certain_findings import is_certain
from perdure.bpmn.proof.contract_verb_effects import environment_of
from perdure.bpmn.proof.parked_states import ParkedStates
from perdure.bpmn.proof.prover import Question
from perdure.bpmn.proof.state_search import Now
from perdure.bpmn.proof.verdict import Bounds, Finding, Verdict
from perdure.processes.plan_cache import Definition
from perdure.verb_contract import FlagContract
from perdure.verbs import Catalogue

FAILS_ON_ENTRY = "SND009"
"""What is needed there was not known when the instance was looked at: whatever verbs may do, it can fail."""


class ProcessVersion:
    """One definition of a process. `number` is 0 where it is not deployed."""

    def __init__(self, definition: Definition, number: int, catalogue: Catalogue) -> None:
        self.definition, self.number = definition, number
        self._contract = _contract(definition.deployed, catalogue)

    @property
    def deployed(self) -> Deployed:
        return self.definition.deployed

    @property
    def flags(self) -> tuple[FlagContract, ...]:
        return self.deployed.flags if self._contract is not None else ()

    @cached_property
    def states(self) -> ParkedStates:
        """States as a proof begins from them."""
        environment = environment_of(self.deployed.process, self._contract)
        return ParkedStates(self.deployed, self.flags, environment)

    def verdict(self, state: Instance, bounds: Bounds, now: Now) -> Verdict:
        """What may follow a parked state."""
        environment = environment_of(self.deployed.process, self._contract)
        question = Question(self.deployed, self.flags, environment, now, lambda states: None, parked=state)
        return question.parked_verdict(bounds)

    def faults(self, verdict: Verdict) -> list[Finding]:
        """The errors that count: without a contract those that occur whatever flags hold and verbs raise."""
        process = self.deployed.process
        return [
            each
            for each in verdict.errors()
            if self._contract is not None or each.code == FAILS_ON_ENTRY or is_certain(each, process)
        ]


def _contract(deployed: Deployed, catalogue: Catalogue) -> Contract | None:
    """The contract of the verb that a process carries, with the flags this version was deployed with."""
    contract = contract_of(catalogue, deployed.process.id)
    return replace(contract, flags=deployed.flags) if contract is not None else None
