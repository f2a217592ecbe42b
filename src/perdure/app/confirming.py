"""Confirming: what is grave starts only when a person has seen that very plan and said so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.access.principal import Principal
from perdure.app.perdure import Perdure
from perdure.app.runbook_views import PlanView
from perdure.contracts import CONSEQUENCE_TIERS
from perdure.errors import ConfirmationRequiredError, Rejection
from perdure.runbooks.plan import Plan, StepPlan
from perdure.verbs.sentences import render

CONFIRMED_FROM = CONSEQUENCE_TIERS.index("requires_confirmation")
MAX_SENTENCES = 50


async def check_confirmed(
    plan: PlanView, principal: Principal, confirm: str = "", phrase: str = "", *, draft: str = ""
) -> None:
    """Nothing when the plan may start; else ConfirmationRequiredError with all that a person needs to confirm it.

    `draft` is where the plan is kept for a person to open, when somebody asked who is none.
    """
    needed = plan.phrase
    if confirm and confirm != plan.plan_hash:
        fact, hint = "another plan was confirmed than this one", "Look at the plan again and confirm its hash."
        raise _required(plan, needed, draft, fact, hint)
    if not has_to_be_confirmed(plan):
        return
    if not principal.is_person:
        fact = f"a person has to confirm it and '{principal.name}' is {_a(principal.kind)}"
        hint = f"A person can start the draft {draft}." if draft else "Keep it as a draft: a person can start that."
        raise _required(plan, needed, draft, fact, hint)
    if not confirm:
        fact = f"it has to be confirmed because {plan.tier_reason or f'it is of tier {plan.tier}'}"
        raise _required(plan, needed, draft, fact, f"Look at the plan and send confirm: {plan.plan_hash}.")
    if needed and phrase != needed:
        fact = "its phrase is missing" if not phrase else "its phrase is not the one asked for"
        raise _required(plan, needed, draft, fact, f"Send phrase: {needed}.")


def plan_of_call(
    perdure: Perdure, verb: str, args: Mapping[str, Any] | None = None, version: int | None = None
) -> PlanView:
    """A single call as a plan of one step, so that it is confirmed the same way."""
    found = perdure.catalogue.get(verb, version)
    given = dict(args or {})
    step = StepPlan(
        name="call", verb=found.name, version=found.version, args=given, sentence=render(found.definition, given)
    )
    return perdure.runbooks.plan(Plan(steps=(step,)))


def has_to_be_confirmed(plan: PlanView) -> bool:
    """Whether a person has to agree to it before it starts."""
    return CONSEQUENCE_TIERS.index(plan.tier) >= CONFIRMED_FROM


def _required(plan: PlanView, phrase: str, draft: str, fact: str, hint: str) -> ConfirmationRequiredError:
    rejection = Rejection("blocked", "start", "plan", plan.plan_hash, fact, hint)
    sentences = [step.sentence or step.verb for step in plan.steps if step.verb][:MAX_SENTENCES]
    return ConfirmationRequiredError(
        rejection, plan_hash=plan.plan_hash, tier=plan.tier, phrase=phrase, sentences=sentences, draft=draft
    )


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
