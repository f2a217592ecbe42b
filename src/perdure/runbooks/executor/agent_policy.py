"""The agent policy: budget, added verbs and consequences are checked before an agent's answer counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase

import msgspec
from msgspec.structs import replace

from perdure.agent_usage import Used, summed
from perdure.errors import BusinessError, DefinitionError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import Attachments
from perdure.payload import canonical, digest
from perdure.runbooks.executor.agent_proposal import Proposal
from perdure.runbooks.executor.plan_cache import PlanCache
from perdure.runbooks.executor.plan_decisions import Decisions
from perdure.runbooks.machine import commands as c
from perdure.runbooks.plan import StepPlan
from perdure.verbs import Catalogue, Verb
from perdure.verbs.agent_handlers import TIERS, AgentContract
from perdure.verbs.consequence_tier import Consequence, consequence_of
from perdure.verbs.definition import same_verb_name
from perdure.verbs.handlers import Decide
from perdure.work.agents.invocation import DEFAULT
from perdure.work.failure_classes import Failed
from perdure.work.verb_router import Produced

FORBIDDEN = "agent.forbidden"


class AgentPolicy:
    """Of one process."""

    def __init__(self, catalogue: Catalogue, documents: PlanCache, decisions: Decisions) -> None:
        self._catalogue = catalogue
        self._documents = documents
        self._decisions = decisions
        self.weigh: Callable[[Verb, Origin], Awaitable[Consequence]] = self._weigh
        """Everything that a verb can reach; by default as far as verbs declare it."""

    async def _weigh(self, verb: Verb, origin: Origin) -> Consequence:
        return consequence_of(self._catalogue, verb)

    async def vetted(self, verb: Verb, made: Produced | Failed, aggregate: Aggregate) -> Produced | Failed:
        """What came of an attempt, as far as the agent may say it: else a failure, or a proposal."""
        if isinstance(made, Failed) or made.used is None or not made.used.agent:
            return made
        contract = verb.execution.agent or DEFAULT
        try:
            doubt = await self._doubt(contract, made.decision, aggregate)
        except BusinessError as error:
            return Failed("permanent_business", error.code, str(error), used=made.used)
        return replace(made, doubt=made.doubt or doubt)

    async def _doubt(self, contract: AgentContract, decision: Decide | None, aggregate: Aggregate) -> str:
        if decision is None or not decision.add or aggregate.state.course is None:
            return ""
        try:
            before = await self._documents.plan(aggregate)
            plan = self._decisions.extended(decision.add, before)
        except (DefinitionError, RejectedError):
            return ""  # told, with everything that is wrong with it, when it is to be recorded
        for step in plan.steps[len(before.steps) :]:
            for verb in self._verbs(step):
                _check_allowed(contract, verb)
                if doubt := _doubt_of(contract, verb, await self.weigh(verb, Origin(aggregate.tenant))):
                    return doubt
        return ""

    def _verbs(self, step: StepPlan) -> list[Verb]:
        names = [(step.verb, step.version or None), (step.alternative, None)]
        return [self._catalogue.get(name, version) for name, version in names if name]


def _check_allowed(contract: AgentContract, verb: Verb) -> None:
    name = same_verb_name(verb.name)
    if contract.allow and not any(fnmatchcase(name, same_verb_name(pattern)) for pattern in contract.allow):
        listed = ", ".join(contract.allow)
        raise BusinessError(
            FORBIDDEN, f"The agent added '{verb.name}', and it may add {listed} only. Nothing was added."
        )


def _doubt_of(contract: AgentContract, verb: Verb, found: Consequence) -> str:
    if TIERS.index(found.tier) <= TIERS.index(contract.tier):
        return ""
    reached = f" by '{found.due_to}'" if found.due_to not in ("", verb.name) else ""
    fact = f"it adds '{verb.name}', which is {found.tier}{reached}, and an agent adds what is {contract.tier} at most"
    if not contract.ask:
        raise BusinessError(FORBIDDEN, f"Nobody is named who decides upon that {fact}. Add ask: to the verb's agent.")
    return fact


def propose(verb: Verb, made: Produced, proposer: str, brought: Attachments) -> c.Propose:
    """The outcome of an attempt whose agent proposes; what it proposes is attached."""
    decision = made.decision or Decide()
    proposal = Proposal(
        made.cargo.value, proposer, made.doubt, decision.add, list(decision.skip), decision.finish, decision.reason,
        decision.confidence,
    )  # fmt: skip
    data = canonical(msgspec.to_builtins(proposal))
    brought.payloads.append((digest(data), data))
    group = (verb.execution.agent or DEFAULT).ask
    return c.Propose(verb.name, digest(data), proposer, group, made.doubt, decision.confidence)


def carried(made: Produced | Failed, before: Used | None) -> Produced | Failed:
    """What came of an attempt that ran several times, with what all of them used."""
    if before is None:
        return made
    used = made.used or Used()
    whole = Used(summed((*before.uses, *used.uses)), before.duration + used.duration, used.agent or before.agent)
    return replace(made, used=whole)
