"""Agreeing to what is grave: who starts a plan shows that a person has seen it."""

from __future__ import annotations

from perdure.access.principal import Principal
from perdure.access.roles import check, refusal
from perdure.app import Perdure
from perdure.app.composing import Composition, Extension, draft_of
from perdure.app.confirming import check_confirmed
from perdure.app.runbook_views import PlanView
from perdure.contracts import tier_rank
from perdure.errors import ConfirmationRequiredError
from perdure.runbooks.plan import Plan, StepPlan

GRAVE = tier_rank("requires_confirmation")


def check_verbs(principal: Principal, operation: str, plan: Plan) -> None:
    """Every step is authorised by itself."""
    for step in plan.steps:
        for verb in filter(None, (step.verb, step.alternative)):
            check(principal, operation, verb=verb)


async def check_agreed(
    perdure: Perdure, plan: PlanView, principal: Principal, confirm: str, phrase: str, *,
    what: Composition | None = None, case: str = "",
) -> None:  # fmt: skip
    """Nothing when it may run; else 423 with what a person has to agree to.

    What an agent or a service asked for is kept as a draft, so that a person can open and start it.
    """
    try:
        await check_confirmed(plan, principal, confirm, phrase)
    except ConfirmationRequiredError:
        if principal.is_person or what is None or refusal(principal, "runbook.draft") is not None:
            raise
        draft = await perdure.runbooks.open_draft(draft_of(perdure.catalogue, what), case=case)
        await check_confirmed(plan, principal, confirm, phrase, draft=draft)


async def check_extension(
    perdure: Perdure, extension: Extension, principal: Principal, confirm: str, phrase: str
) -> None:
    """Adding what is grave is agreed to by the hash of the whole plan; what was agreed to before is not asked again."""
    if any(_rank(perdure, step) >= GRAVE for step in extension.added.steps):
        await check_agreed(perdure, perdure.runbooks.plan(extension.whole), principal, confirm, phrase)


def _rank(perdure: Perdure, step: StepPlan) -> int:
    """How grave the gravest verb is that a step may come to; what is not known is."""
    named = [(step.verb, step.version or None), (step.alternative, None)]
    found = [perdure.catalogue.find(name, version) for name, version in named if name]
    return max((tier_rank(verb.definition.consequence) if verb is not None else GRAVE for verb in found), default=0)
