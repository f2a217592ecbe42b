"""Confirmation: a grave plan starts only when a person has seen that very plan and agreed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app.perdure import Perdure
from perdure.app.runbooks.views import PlanView
from perdure.contracts import CONSEQUENCE_TIERS
from perdure.errors import ConfirmationRequiredError, Rejection
from perdure.runbooks.plan import Plan, StepPlan
from perdure.sources import Id
from perdure.verbs.sentences import render

CONFIRMED_FROM = CONSEQUENCE_TIERS.index("requires_confirmation")
MAX_SENTENCES = 50
KEEP_IT = "Keep it as a draft: a person can start that."


async def check_confirmed(
    plan: PlanView, principal: Principal, confirm: str = "", phrase: str = "", *, draft: str = "", else_hint: str = ""
) -> None:
    """Nothing when the plan may start; else ConfirmationRequiredError with all that a person needs to confirm it.

    `draft` is where the plan is kept for a person to open, when somebody asked who is none; `else_hint` says what they
    can do where no draft can be made of it.
    """
    needed = plan.phrase
    if confirm and confirm != plan.plan_hash:
        fact, hint = "another plan was confirmed than this one", "Look at the plan again and confirm its hash."
        raise _required(plan, needed, draft, fact, hint)
    if not has_to_be_confirmed(plan):
        return
    if not principal.is_person:
        fact = f"a person has to confirm it and '{principal.name}' is {_a(principal.kind)}"
        hint = f"A person can start the draft {draft}." if draft else else_hint or KEEP_IT
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
    return perdure.runbooks.plan(call_plan(perdure, verb, args, version))


def call_plan(perdure: Perdure, verb: str, args: Mapping[str, Any] | None = None, version: int | None = None) -> Plan:
    """The plan whose only step is the call."""
    return Plan(steps=(_step(perdure, "call", verb, args, version),))


def vetted(
    perdure: Perdure, principal: Principal, operation: str, data: Mapping[str, Any] | None, confirm: str = "",
    phrase: str = "",
) -> Perdure:  # fmt: skip
    """The platform for who sends a message or a signal: the processes it would begin are held to the same rules as
    starting them. Every verb they carry must be reached, and what is grave confirmed, all of it as one plan."""

    async def vet(starts: Sequence[Id]) -> None:
        verbs = await perdure.processes.started(starts)
        for verb in verbs:
            check(principal, operation, verb=verb)
        if not verbs:
            return
        names = ["call"] if len(verbs) == 1 else [f"call-{number}" for number in range(1, len(verbs) + 1)]
        steps = [_step(perdure, name, verb, data) for name, verb in zip(names, verbs, strict=True)]
        plan = perdure.runbooks.plan(Plan(steps=tuple(steps)))
        await check_confirmed(plan, principal, confirm, phrase, else_hint="A person can send it.")

    return perdure.vetting(vet)


def _step(
    perdure: Perdure, name: str, verb: str, args: Mapping[str, Any] | None, version: int | None = None
) -> StepPlan:
    found, given = perdure.catalogue.get(verb, version), dict(args or {})
    sentence = render(found.definition, given)
    return StepPlan(name=name, verb=found.name, version=found.version, args=given, sentence=sentence)


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
