"""Job bindings: a job type resolves to its verb under a definition, once."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from perdure.agent_usage import Budget
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.state import Job
from perdure.payload import MergeRule
from perdure.processes.contract_state import ContractState
from perdure.processes.payloads import budget_of
from perdure.processes.plan_cache import Definition
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.verb_contract import FlagContract
from perdure.verbs import Catalogue, Verb
from perdure.verbs.definition import same_verb_name
from perdure.work.failure_classes import Failed

MAX_WORKS = 10_000


class JobBinding(msgspec.Struct, frozen=True, gc=False):
    """The verb of a type of job, why that is refused, what the payload may weigh, which flags the process has.

    `is_ample`: arguments taken from a payload within its budget are within the verb's. `names` are those it declares,
    where they, or all when it declares none, can be taken as they are from a payload in memory; else None.
    """

    verb: Verb | None
    refusal: Failed | None = None
    budget: int = 0
    is_ample: bool = False
    is_agent: bool = False
    flags: tuple[FlagContract, ...] = ()
    is_loose: bool = False
    names: tuple[str, ...] | None = None
    name: str = ""
    """Of the verb."""
    merge: Mapping[str, MergeRule] = {}
    """The rules of paths that branches may write at once."""
    carrier: Verb | None = None
    """The durable verb whose schema the data is held to."""
    contract: ContractState | None = None
    """What the job is asked and brings, in the contract profile."""
    agent_budget: Budget | None = None
    """What the agents of the process may use, as the verb of this one says."""
    agent_attempt: Budget = Budget()
    """What one attempt may use at most."""


class JobBindings:
    """Of one process. What a definition binds never changes; a verb that is not there may come."""

    def __init__(self, conductor: CallExecutor) -> None:
        self._conductor = conductor
        self._found: dict[tuple[bytes, str, str], JobBinding] = {}

    def find(self, definition: bytes, job: Job) -> JobBinding | None:
        """What is known already."""
        return self._found.get((definition, job.type, job.purpose))

    def look_up(self, definition: Definition, job: Job) -> JobBinding:
        if len(self._found) >= MAX_WORKS:
            self._found.clear()
        work = self._looked_up(definition, job)
        if work.verb is not None:
            self._found[definition.hash, job.type, job.purpose] = work
        return work

    def _looked_up(self, definition: Definition, job: Job) -> JobBinding:
        binding, deployed, conductor = definition.binding(job.type), definition.deployed, self._conductor
        verb = conductor.serves(binding.verb, binding.version, binding.definition) if binding is not None else None
        if verb is None:
            return JobBinding(None)
        carrier = carrier_of(conductor.catalogue, deployed)
        budget, refusal = budget_of(carrier), _refused(deployed, job, verb, carrier)
        is_ample = verb.execution.max_bytes >= budget and not verb.input.has_defaults
        is_agent, properties = conductor.router.is_agent(verb), verb.input.properties
        is_open = definition.contract is None  # else its arguments are made from the data
        is_plain = refusal is None and not is_agent and (is_ample or not properties) and is_open
        contract = verb.execution.agent
        return JobBinding(
            verb, refusal, budget, is_ample, is_agent, deployed.flags, deployed.is_loose,
            names=tuple(properties) if is_plain else None, name=verb.name, merge=deployed.merge, carrier=carrier,
            contract=definition.contract, agent_budget=contract.budget if contract is not None else None,
            agent_attempt=contract.attempt if contract is not None else Budget(),
        )  # fmt: skip


def carrier_of(catalogue: Catalogue, deployed: Deployed) -> Verb | None:
    """The durable verb that a process carries: its newest version that names the process, else the newest."""
    versions = [catalogue.find(deployed.verb, each) for each in catalogue.versions(deployed.verb)]
    found = [verb for verb in versions if verb is not None]
    named = [verb for verb in found if verb.execution.process == deployed.process.id] or found
    return named[-1] if named else None


def _refused(deployed: Deployed, job: Job, verb: Verb, carrier: Verb | None) -> Failed | None:
    """What the worker refuses to run, whatever was deployed."""
    if verb.is_durable:
        text = f"'{verb.name}' is durable, and a process composes sync verbs only. Hand over by a message instead."
        return Failed("permanent_contract", "job.nested", text)
    if carrier is None:
        return None
    allowed = (*carrier.execution.sub_verbs, *deployed.compensation.values())
    is_bound = deployed.profile == "hollow" or bool(carrier.execution.sub_verbs)
    if is_bound and same_verb_name(verb.name) not in {same_verb_name(name) for name in allowed}:
        text = f"'{verb.name}' is not a sub-verb of '{deployed.verb}'. List it under `sub_verbs`."
        return Failed("permanent_contract", "job.forbidden", text)
    return None
