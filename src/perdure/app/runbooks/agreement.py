"""Agreement: a grave plan starts or grows only when a person has seen it, whichever surface it came by."""

from __future__ import annotations

from perdure.access.principal import Principal
from perdure.access.roles import check, refusal
from perdure.app.perdure import Perdure
from perdure.app.runbooks.composition import Composition, Extension, draft_of
from perdure.app.runbooks.confirmation import check_confirmed
from perdure.app.runbooks.views import PlanView
from perdure.contracts import is_grave
from perdure.errors import ConfirmationRequiredError
from perdure.runbooks.plan import Plan, StepPlan


def check_verbs(principal: Principal, operation: str, plan: Plan) -> None:
    """Refuse a plan with a step whose verb the key does not reach."""
    for step in plan.steps:
        for verb in filter(None, (step.verb, step.alternative)):
            check(principal, operation, verb=verb)


async def check_agreed(
    perdure: Perdure,
    plan: PlanView,
    principal: Principal,
    confirm: str,
    phrase: str,
    *,
    what: Composition | None = None,
    case: str = "",
) -> None:
    """Refuse a plan that a person has to agree to first, with everything the person needs to know.

    A plan that an agent or a service asked for is kept as a draft, so that a person can open and start it.
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
    """Refuse grave steps added without agreement to the whole plan; agreement given before is not asked again."""
    if any(_is_grave(perdure, step) for step in extension.added.steps):
        await check_agreed(perdure, perdure.runbooks.plan(extension.whole), principal, confirm, phrase)


def _is_grave(perdure: Perdure, step: StepPlan) -> bool:
    """Whether any verb that a step may come to is grave; an unknown verb is."""
    named = [(step.verb, step.version or None), (step.alternative, None)]
    found = [perdure.catalogue.find(name, version) for name, version in named if name]
    return any(verb is None or is_grave(verb.definition.consequence) for verb in found)
