"""Confirmation over MCP: a tool asks a person first, and keeps the plan it asked about."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from perdure.app.runbooks.confirmation import check_confirmed
from perdure.contracts import CONSEQUENCE_TIERS, ConsequenceTier, is_grave, tier_rank
from perdure.errors import ConfirmationRequiredError
from perdure.runbooks.drafts.compilation import compile_draft, entries_of
from perdure.runbooks.drafts.draft import Draft
from perdure.runbooks.plan import Plan, StepPlan
from perdure.surfaces.mcp.answer_size import short
from perdure.surfaces.mcp.tool import ToolSession
from perdure.verbs import Catalogue


class Confirmation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Nothing was started: a person has to agree to exactly this plan, which is kept as a draft they can start."""

    plan_hash: str
    tier: str
    reason: str
    sentences: list[str]
    draft: str = ""
    """Where the plan is kept; a person starts it there. Empty when it is an extension."""
    phrase: str = ""
    """What the person has to type for it."""


class Agreed(msgspec.Struct, frozen=True):
    """What the asker says was agreed to."""

    confirm: str = ""
    phrase: str = ""


def gravest(steps: Sequence[StepPlan], catalogue: Catalogue) -> tuple[ConsequenceTier, str]:
    """The gravest tier that any step may come to, also by the verb that is asked when it fails, and why."""
    tier, reason = CONSEQUENCE_TIERS[0], "nothing in it has consequences"
    for step in steps:
        for name in (step.verb, step.alternative):
            verb = catalogue.find(name) if name else None
            if verb is not None and tier_rank(verb.definition.consequence) > tier_rank(tier):
                tier, reason = verb.definition.consequence, f"{step.name} calls {verb.name}"
    return tier, reason


async def asked_first(desk: ToolSession, plan: Plan, steps: Sequence[StepPlan], agreed: Agreed) -> Confirmation | None:
    """None when the steps of the plan may run now; else what a person has to agree to before.

    What a person agreed to that is not this plan is a rejection.
    """
    tier, reason = gravest(steps, desk.perdure.catalogue)
    if not is_grave(tier):
        return None
    view = msgspec.structs.replace(desk.perdure.runbooks.plan(plan), tier=tier, tier_reason=reason)
    try:
        await check_confirmed(view, desk.principal, agreed.confirm, agreed.phrase)
    except ConfirmationRequiredError as error:
        if desk.principal.is_person and agreed.confirm:
            raise
        told = [short(each) for each in error.data["sentences"]]
        return Confirmation(plan.content_hash, tier, reason, told, phrase=error.data["phrase"])
    return None


async def kept(desk: ToolSession, found: Confirmation, plan: Plan, case: str) -> Confirmation:
    """The same, with the plan kept as a draft for a person to start, where an agent asked who may write drafts."""
    if desk.principal.is_person or not desk.may("runbook.draft"):
        return found
    draft = Draft(entries=entries_of(plan))
    id = await desk.perdure.runbooks.open_draft(draft, case=case)
    # What a person will be shown and start is the plan of the draft, which remembers where each value came from.
    made = compile_draft(draft, desk.perdure.catalogue)
    return msgspec.structs.replace(found, draft=id, plan_hash=made.content_hash)
